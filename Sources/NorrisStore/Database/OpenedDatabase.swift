import CSQLite
import Glibc
import Logging

/// A database ready to use, and in what state it was found.
struct OpenedDatabase: Sendable {
    enum Condition: Equatable, Sendable {
        case good
        /// The file was damaged; it was renamed to this path and made anew.
        case setAside(String)
        /// The file or its disk cannot be written: what is there can be read.
        case readOnly(String)
        /// Nothing can be had on disk; what is written is gone with the process.
        case inMemory(String)
    }

    let writer: DatabasePool
    /// nil in memory.
    let path: String?
    let condition: Condition

    /// Closes all connections, with the write-ahead log written back and removed.
    func close() throws {
        try writer.close()
    }

    /// From this size on the check of a file may take long on a slow disk, in bytes.
    private static let largeFile = 32 << 20

    /// Opens a database of a folder, and makes, migrates or sets it aside as needed.
    ///
    /// - Parameters:
    ///   - reason: why there is no folder.
    ///   - willTakeLong: called before each step that may take long: the check of a large file, the copy before a
    ///     migration, the migration, the VACUUM.
    ///   - freeBytes: what may still be written to the file system of a file.
    /// - Throws: only for what must not be touched, a newer schema or another program's file. Where the disk cannot be
    ///   used, the daemon serves on without it.
    static func open(
        _ kind: DatabaseKind, folder: String?, reason: String = "no folder is given", logger: Logger,
        willTakeLong: () -> Void = {},
        freeBytes: (String) -> Int? = Folder.freeBytes(besides:)
    ) throws(StoreError) -> OpenedDatabase {
        guard let folder else { return inMemory(kind, reason) }
        let path = folder + "/" + kind.fileName
        do {
            try Folder.make(folder)
        } catch {
            logger.error("database.unwritable", metadata: ["path": "\(path)", "error": "\(error)"])
            return inMemory(kind, "\(error)")
        }
        do throws(OpeningFailure) {
            var writer = try prepare(kind, path, willTakeLong)
            if try allowShrinking(writer, path, logger, freeBytes, willTakeLong) {
                // Connections that read would not learn of it.
                writer = try reconnect(writer, kind, path)
            }
            return OpenedDatabase(writer: writer, path: path, condition: .good)
        } catch {
            switch error {
            case .refused(let error): throw error
            case .unwritable(let detail): return try readOnly(kind, path, detail, logger)
            case .damaged(let detail): return try anew(kind, path, detail, logger)
            }
        }
    }

    private enum OpeningFailure: Error {
        case refused(StoreError)
        case unwritable(String)
        case damaged(String)

        init(_ error: any Error, path: String) {
            guard let error = error as? DatabaseError else {
                self = .unwritable("\(error)")
                return
            }
            let summary = DatabaseFailure.summary(of: error, path: path)
            self = error.isCorruption ? .damaged("\(error)") : .unwritable(summary)
        }
    }

    private static func prepare(
        _ kind: DatabaseKind, _ path: String, _ willTakeLong: () -> Void
    ) throws(OpeningFailure) -> DatabasePool {
        let writer: DatabasePool
        let version: Int
        do {
            if kind.isDurable, Folder.size(ofDatabase: path) >= largeFile { willTakeLong() }
            // Looked at before anything is written, the journal mode included: a file that is not for us, or damaged,
            // stays as it is.
            version = try inspect(kind, path)
            try Folder.makePrivateFile(path)
            writer = try connect(kind, path, isNew: version == 0)
            if version > 0, version < kind.schemaVersion {
                willTakeLong()
                if kind.keepsCopies {
                    try copy(writer, to: "\(path).v\(version)")
                    willTakeLong()
                }
            }
            if version == 0 {
                try writer.writeWithoutTransaction {
                    try $0.execute(sql: "PRAGMA application_id = \(kind.applicationID)")
                }
            }
            try kind.migrate(writer)
            return writer
        } catch let failure as OpeningFailure {
            throw failure
        } catch {
            throw OpeningFailure(error, path: path)
        }
    }

    private static func connect(_ kind: DatabaseKind, _ path: String, isNew: Bool) throws -> DatabasePool {
        // One writing connection, for SQLite before 3.51.3 can damage a write-ahead log that two connections
        // checkpoint at once; readers never do. The state is written rarely and read at the start: one connection does
        // for both.
        return try DatabasePool(path: path, readers: kind.isDurable ? 0 : CacheDatabase.readers) { database in
            // In KiB. The data is small, the operating system caches it too, and the daemon is to stay small.
            try database.execute(sql: "PRAGMA cache_size = -512")
            guard !database.isReadOnly else { return }
            // Before anything is stored (https://sqlite.org/pragma.html#pragma_auto_vacuum).
            if isNew { try database.execute(sql: "PRAGMA auto_vacuum = INCREMENTAL") }
            // The log of one large import does not stay on the disk for the rest of the run.
            try database.execute(sql: "PRAGMA journal_size_limit = 1048576")
            try database.execute(sql: "PRAGMA journal_mode = WAL")
            try database.execute(sql: "PRAGMA synchronous = \(kind.isDurable ? "FULL" : "NORMAL")")
        }
    }

    /// What `PRAGMA auto_vacuum` says of a file that ``releaseFreePages()`` can shorten.
    private static let incremental = 2

    /// Lets a file of an earlier version be shortened, which takes one VACUUM.
    ///
    /// A process that is killed in the middle leaves the file as it was. What does not succeed is tried again at the
    /// next start, and is no fault: the file is as good as before.
    ///
    /// - Returns: whether there was one.
    private static func allowShrinking(
        _ writer: DatabasePool, _ path: String, _ logger: Logger, _ freeBytes: (String) -> Int?,
        _ willTakeLong: () -> Void
    ) throws(OpeningFailure) -> Bool {
        do {
            return try writer.writeWithoutTransaction { database in
                guard try Int.fetchOne(database, sql: "PRAGMA auto_vacuum") != incremental else { return false }
                // All pages go to a temporary file, and then to the log.
                let (needed, free) = (2 * Folder.size(ofDatabase: path), freeBytes(path) ?? 0)
                guard free >= needed else {
                    logger.warning(
                        "database.not-vacuumed",
                        metadata: ["path": "\(path)", "error": "free are \(free) bytes of \(needed)"]
                    )
                    return false
                }
                willTakeLong()
                try database.execute(sql: "PRAGMA auto_vacuum = INCREMENTAL; VACUUM")
                return true
            }
        } catch {
            let failure = OpeningFailure(error, path: path)
            if case .damaged = failure { throw failure }
            logger.warning("database.not-vacuumed", metadata: ["path": "\(path)", "error": "\(error)"])
            return false
        }
    }

    private static func reconnect(
        _ writer: DatabasePool, _ kind: DatabaseKind, _ path: String
    ) throws(OpeningFailure) -> DatabasePool {
        do {
            // Writes the log back, which holds every page.
            try writer.close()
            return try connect(kind, path, isNew: false)
        } catch {
            throw OpeningFailure(error, path: path)
        }
    }

    /// Free pages that a file keeps for what is stored next: 4 MiB.
    static let spareFreePages = 1_024

    /// Gives free pages back to the file system, 1 MiB at a time, so that other writes wait for milliseconds; at most
    /// 256 MiB a call.
    func releaseFreePages() throws {
        switch condition {
        case .readOnly, .inMemory: return
        case .good, .setAside: break
        }
        for step in 0..<256 {
            let isDone = try writer.writeWithoutTransaction { database in
                let free = try Int.fetchOne(database, sql: "PRAGMA freelist_count") ?? 0
                guard free > OpenedDatabase.spareFreePages else { return true }
                try database.execute(sql: "PRAGMA incremental_vacuum(256)")
                // Where a VACUUM is still to come.
                return try Int.fetchOne(database, sql: "PRAGMA freelist_count") == free
            }
            guard isDone else { continue }
            // The file itself becomes shorter when its log is written back.
            if step > 0 { try writer.writeWithoutTransaction { try $0.execute(sql: "PRAGMA wal_checkpoint") } }
            return
        }
    }

    /// Reads what a file is, without changing a byte of it.
    ///
    /// - Parameter name: by which SQLite opens it; nil for its path.
    /// - Returns: its schema version, 0 where there is no file or an empty one.
    /// - Throws: for a damaged file, and for one that must not be touched.
    private static func inspect(_ kind: DatabaseKind, _ path: String, name: String? = nil) throws -> Int {
        var status = stat()
        guard stat(path, &status) == 0, status.st_size > 0 else { return 0 }
        let queue = try DatabasePool(path: name ?? path, access: .read)
        let version = try queue.read { database in
            let applicationID = try Int.fetchOne(database, sql: "PRAGMA application_id")
            let version = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
            let isEmpty = try Int.fetchOne(database, sql: "SELECT count(*) FROM sqlite_schema") == 0
            guard isEmpty || applicationID == Int(kind.applicationID) else {
                throw OpeningFailure.refused(StoreError(path: path, .foreign))
            }
            guard version <= kind.schemaVersion else {
                let reason = StoreError.Reason.newerSchema(found: version, known: kind.schemaVersion)
                throw OpeningFailure.refused(StoreError(path: path, reason))
            }
            // The cache is checked while the daemon serves.
            if kind.isDurable { try check(database) }
            return version
        }
        try queue.close()
        return version
    }

    /// Reads the whole file.
    ///
    /// - Throws: a ``DatabaseError`` with ``DatabaseError/isCorruption`` for a damaged one.
    static func check(_ database: Database) throws {
        let verdict = try String.fetchOne(database, sql: "PRAGMA quick_check(1)")
        guard verdict == "ok" else { throw DatabaseError(SQLITE_CORRUPT, message: verdict) }
    }

    private static func copy(_ writer: DatabasePool, to path: String) throws {
        unlink(path)
        try Folder.makePrivateFile(path)
        try writer.writeWithoutTransaction { try $0.execute(sql: "VACUUM INTO ?", arguments: [path]) }
    }

    /// Sets a damaged file aside with its log, so that nothing is lost for good, and makes it anew.
    static func anew(
        _ kind: DatabaseKind, _ path: String, _ detail: String, _ logger: Logger
    ) throws(StoreError) -> OpenedDatabase {
        let aside = freePath(path + ".damaged")
        for suffix in ["", "-wal", "-shm"] {
            rename(path + suffix, aside + suffix)
        }
        logger.error(
            "database.set-aside",
            metadata: ["path": "\(path)", "moved.to": "\(aside)", "error": "\(detail)"]
        )
        do throws(OpeningFailure) {
            return OpenedDatabase(writer: try prepare(kind, path, {}), path: path, condition: .setAside(aside))
        } catch {
            switch error {
            case .refused(let error): throw error
            case .unwritable(let detail), .damaged(let detail): return inMemory(kind, detail)
            }
        }
    }

    private static func freePath(_ wanted: String) -> String {
        var number = 1
        var path = wanted
        while Folder.identity(of: path) != nil {
            number += 1
            path = "\(wanted).\(number)"
        }
        return path
    }

    private static func readOnly(
        _ kind: DatabaseKind, _ path: String, _ detail: String, _ logger: Logger
    ) throws(StoreError) -> OpenedDatabase {
        logger.error("database.unwritable", metadata: ["path": "\(path)", "error": "\(detail)"])
        for name in [path] + immutableName(path) {
            do {
                guard try inspect(kind, path, name: name) == kind.schemaVersion else { continue }
                let writer = try DatabasePool(path: name, access: .read)
                return OpenedDatabase(writer: writer, path: path, condition: .readOnly(detail))
            } catch OpeningFailure.refused(let error) {
                throw error
            } catch {
                continue
            }
        }
        return inMemory(kind, detail)
    }

    /// The name by which SQLite reads a file without its log and index, which it cannot make where the folder takes no
    /// files (SQLite, "Uniform Resource Identifiers": immutable); none where a log holds what the file does not.
    private static func immutableName(_ path: String) -> [String] {
        guard Folder.size(of: path + "-wal") == 0 else { return [] }
        let encoded = path.utf8.map { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "."), UInt8(ascii: "-"),
                UInt8(ascii: "_"):
                String(UnicodeScalar(byte))
            default: "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
            }
        }
        // Two slashes after the colon begin an authority, which is empty.
        return ["file:" + (path.utf8.first == UInt8(ascii: "/") ? "//" : "") + encoded.joined() + "?immutable=1"]
    }

    private static func inMemory(_ kind: DatabaseKind, _ detail: String) -> OpenedDatabase {
        do {
            let writer = try DatabasePool(path: nil)
            try kind.migrate(writer)
            return OpenedDatabase(writer: writer, path: nil, condition: .inMemory(detail))
        } catch {
            // Our own schema on an empty database in memory: only a broken build or no memory at all fails here.
            fatalError("SQLite cannot make a database in memory: \(error)")
        }
    }
}
