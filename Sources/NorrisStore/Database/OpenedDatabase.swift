import GRDB
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

    let writer: any DatabaseWriter
    /// nil in memory.
    let path: String?
    let condition: Condition

    /// Opens a database of a folder, and makes, migrates or sets it aside as needed.
    ///
    /// - Throws: only for what must not be touched, a newer schema or another program's file. Where the disk cannot be
    ///   used, the daemon serves on without it.
    static func open(_ kind: DatabaseKind, folder: String?, logger: Logger) throws(StoreError) -> OpenedDatabase {
        guard let folder else { return inMemory(kind, "no folder is given") }
        let path = folder + "/" + kind.fileName
        do {
            try Folder.make(folder)
        } catch {
            logger.error("database.unwritable", metadata: ["error": "\(error)"])
            return inMemory(kind, "\(error)")
        }
        do throws(OpeningFailure) {
            return OpenedDatabase(writer: try prepare(kind, path), path: path, condition: .good)
        } catch {
            switch error {
            case .refused(let error): throw error
            case .unwritable(let detail): return readOnly(kind, path, detail, logger)
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
            switch error.resultCode {
            case .SQLITE_CORRUPT, .SQLITE_NOTADB: self = .damaged("\(error)")
            default: self = .unwritable("\(error)")
            }
        }
    }

    private static func prepare(_ kind: DatabaseKind, _ path: String) throws(OpeningFailure) -> any DatabaseWriter {
        let writer: any DatabaseWriter
        let version: Int
        do {
            // Looked at before anything is written, the journal mode included: a file that is not for us stays as it is.
            let found = try Fingerprint(path: path)
            if let found, found.applicationID != kind.applicationID, !found.isEmpty {
                throw OpeningFailure.refused(StoreError(path: path, .foreign))
            }
            version = found?.schemaVersion ?? 0
            if version > kind.schemaVersion {
                throw OpeningFailure.refused(
                    StoreError(path: path, .newerSchema(found: version, known: kind.schemaVersion))
                )
            }
            writer = try connect(kind, path)
            try check(writer)
            if kind.keepsCopies, version > 0, version < kind.schemaVersion {
                try copy(writer, to: "\(path).v\(version)")
            }
            try writer.writeWithoutTransaction { try $0.execute(sql: "PRAGMA application_id = \(kind.applicationID)") }
            try kind.migrator.migrate(writer)
            return writer
        } catch let failure as OpeningFailure {
            throw failure
        } catch {
            throw OpeningFailure(error, path: path)
        }
    }

    private static func connect(_ kind: DatabaseKind, _ path: String) throws -> any DatabaseWriter {
        var configuration = GRDB.Configuration()
        configuration.busyMode = .timeout(5)
        configuration.prepareDatabase { database in
            try database.execute(sql: "PRAGMA synchronous = \(kind.isDurable ? "FULL" : "NORMAL")")
            // Measured: a small page cache is as fast for this data, and the daemon stays small.
            try database.execute(sql: "PRAGMA cache_size = -512")
        }
        guard !kind.isDurable else {
            // The state is written rarely and read at the start: one connection does for both.
            configuration.journalMode = .wal
            return try DatabaseQueue(path: path, configuration: configuration)
        }
        // One writing connection, for SQLite before 3.51.3 can damage a write-ahead log that two connections
        // checkpoint at once; the readers of a pool never do.
        configuration.maximumReaderCount = 2
        return try DatabasePool(path: path, configuration: configuration)
    }

    private static func check(_ writer: any DatabaseWriter) throws {
        let verdict = try writer.read { try String.fetchOne($0, sql: "PRAGMA quick_check(1)") }
        guard verdict == "ok" else {
            throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: verdict)
        }
    }

    private static func copy(_ writer: any DatabaseWriter, to path: String) throws {
        unlink(path)
        try writer.writeWithoutTransaction { try $0.execute(sql: "VACUUM INTO ?", arguments: [path]) }
    }

    /// Sets a damaged file aside with its log, so that nothing is lost for good, and makes it anew.
    private static func anew(
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
            return OpenedDatabase(writer: try prepare(kind, path), path: path, condition: .setAside(aside))
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
    ) -> OpenedDatabase {
        logger.error("database.unwritable", metadata: ["path": "\(path)", "error": "\(detail)"])
        var configuration = GRDB.Configuration()
        configuration.readonly = true
        guard let found = try? Fingerprint(path: path), found.schemaVersion == kind.schemaVersion,
            let writer = try? DatabaseQueue(path: path, configuration: configuration)
        else {
            return inMemory(kind, detail)
        }
        return OpenedDatabase(writer: writer, path: path, condition: .readOnly(detail))
    }

    private static func inMemory(_ kind: DatabaseKind, _ detail: String) -> OpenedDatabase {
        do {
            let writer = try DatabaseQueue()
            try kind.migrator.migrate(writer)
            return OpenedDatabase(writer: writer, path: nil, condition: .inMemory(detail))
        } catch {
            // Our own schema on an empty database in memory: only a broken build or no memory at all fails here.
            fatalError("SQLite cannot make a database in memory: \(error)")
        }
    }
}

/// What the header of a database file says, read without changing a byte of it.
private struct Fingerprint {
    let applicationID: Int32
    let schemaVersion: Int
    let isEmpty: Bool

    /// nil where there is no file, or an empty one.
    init?(path: String) throws {
        var status = stat()
        guard stat(path, &status) == 0, status.st_size > 0 else { return nil }
        var configuration = GRDB.Configuration()
        configuration.readonly = true
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        (applicationID, schemaVersion, isEmpty) = try queue.read { database in
            (
                try Int32.fetchOne(database, sql: "PRAGMA application_id") ?? 0,
                try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0,
                try Int.fetchOne(database, sql: "SELECT count(*) FROM sqlite_schema") == 0
            )
        }
        try queue.close()
    }
}
