import CSQLite
import Glibc
import Logging
import NorrisSystem

/// A kind of database: how its file is recognized, and its schema.
struct DatabaseKind: Sendable {
    /// The file's name in its folder.
    let fileName: String
    /// `PRAGMA application_id` (SQLite: "file format", offset 68): four letters, for file(1) and for norrisd itself.
    let applicationID: Int32
    /// Whether a commit is on the disk before it returns, and a migration begins with a copy. Else only a clean file is
    /// promised, not the last commits.
    let isDurable: Bool
    /// In order. Only ever appended to; a migration that has been released is never changed.
    let migrations: [Migration]

    struct Migration: Sendable {
        let name: String
        let apply: @Sendable (Database) throws -> Void
    }

    /// `PRAGMA user_version`: how many migrations have been applied to a file.
    var schemaVersion: Int { migrations.count }

    /// Whether a file has all tables of the current schema, whatever its header says.
    func hasTables(_ database: Database, _ access: BlockingAccess) throws -> Bool {
        let names = "SELECT name FROM sqlite_schema WHERE type = 'table'"
        let own = try OpenedDatabase.inMemory(self, "for its tables", access).writer.read(access) {
            try String.fetchAll($0, names)
        }
        return Set(own).isSubset(of: try String.fetchAll(database, names))
    }

    /// Brings a database to the current schema, one transaction for each migration.
    func migrate(_ pool: DatabasePool, _ access: BlockingAccess) throws {
        try pool.withWriter(access) { database in
            let version = try Int.fetchOne(database, "PRAGMA user_version") ?? 0
            guard version < migrations.count else { return }
            // A migration may recreate a table to which others refer; dangling references are found at its end.
            try database.execute("PRAGMA foreign_keys = OFF")
            defer { try? database.execute("PRAGMA foreign_keys = ON") }
            for (index, migration) in migrations.enumerated().dropFirst(version) {
                try database.write { database in
                    try migration.apply(database)
                    guard try database.first("PRAGMA foreign_key_check", [], { _ in }) == nil else {
                        throw DatabaseError(SQLITE_CONSTRAINT, message: "migration \(migration.name)")
                    }
                    try database.execute("PRAGMA user_version = \(index + 1)")
                }
            }
        }
    }
}

/// A database ready to use, and the condition it was found in.
struct OpenedDatabase: Sendable {
    enum Condition: Equatable, Sendable {
        case good
        /// The file was damaged: it was renamed to this path and recreated.
        case quarantined(String)
        /// The file or its disk cannot be written, only read.
        case readOnly(String)
        /// No file can be used; what is written is lost with the process.
        case inMemory(String)

        /// Whether what is written stays.
        var isWritable: Bool {
            switch self {
            case .good, .quarantined: true
            case .readOnly, .inMemory: false
            }
        }
    }

    let kind: DatabaseKind
    let writer: DatabasePool
    /// nil in memory.
    let path: String?
    let condition: Condition
    private let identity: FileIdentity?

    private init(_ kind: DatabaseKind, _ writer: DatabasePool, path: String?, _ condition: Condition) {
        (self.kind, self.writer, self.path, self.condition) = (kind, writer, path, condition)
        identity = path.flatMap(Folder.identity(of:))
    }

    /// Whether the file was deleted or replaced under us.
    var isDeleted: Bool { path.map { Folder.identity(of: $0) != identity } ?? false }
    var sizeOnDisk: Int { path.map(Folder.size(ofDatabase:)) ?? 0 }

    /// Closes all connections, with the write-ahead log written back and removed.
    func close(_ access: BlockingAccess) throws { try writer.close(access) }

    /// From this size on the check of a file may take long on a slow disk, in bytes.
    private static let largeFile = 32 << 20

    /// Opens a database of a folder; creates, migrates or quarantines it as needed.
    ///
    /// - Parameter willTakeLong: called before each step that may take long: the check of a large file, the copy before
    ///   a migration, the migration.
    /// - Throws: only for a newer schema or another program's file, which must not be touched. Where the disk cannot be
    ///   used, the daemon works without it.
    static func open(
        _ kind: DatabaseKind, folder: String?, logger: Logger, _ access: BlockingAccess, willTakeLong: () -> Void = {}
    ) throws(StoreError) -> OpenedDatabase {
        guard let folder else { return inMemory(kind, "no folder is given", access) }
        let path = folder + "/" + kind.fileName
        do {
            try Folder.make(folder)
            let writer = try prepare(kind, path, access, willTakeLong)
            if kind.isDurable { try repair(writer, logger, access) }
            return OpenedDatabase(kind, writer, path: path, .good)
        } catch {
            if let refusal = error as? StoreError, refusal.isRefusal { throw refusal }
            if DatabaseError.isCorruption(error) { return recreate(kind, path, "\(error)", logger, access) }
            return try readOnly(kind, path, DatabaseError.summary(of: error, path: path), logger, access)
        }
    }

    private static func prepare(
        _ kind: DatabaseKind, _ path: String, _ access: BlockingAccess, _ willTakeLong: () -> Void
    ) throws -> DatabasePool {
        if kind.isDurable, Folder.size(ofDatabase: path) >= largeFile { willTakeLong() }
        // Before anything is written, the journal mode included: a file that is not ours, or damaged, stays as it is.
        let (version, hasDamagedHeader) = try inspect(kind, path, access)
        try Folder.makePrivateFile(path)
        let writer = try connect(kind, path, isNew: version == 0, access)
        if version > 0, version < kind.schemaVersion {
            willTakeLong()
            if kind.isDurable {
                try copy(writer, to: "\(path).v\(version)", access)
                willTakeLong()
            }
        }
        if version == 0 || hasDamagedHeader {
            try writer.withWriter(access) { database in
                try database.execute("PRAGMA application_id = \(kind.applicationID); PRAGMA user_version = \(version)")
            }
        }
        try kind.migrate(writer, access)
        if version == 0, !kind.isDurable {
            try writer.withWriter(access) { try $0.execute("PRAGMA synchronous = NORMAL") }
        }
        // Past the last number a table takes no rows (AUTOINCREMENT).
        if !kind.isDurable {
            _ = try writer.read(access) {
                try SequenceNumber.fetchAll($0, "SELECT ifnull(seq, 0) FROM sqlite_sequence")
            }
        }
        return writer
    }

    private static func connect(
        _ kind: DatabaseKind, _ path: String, isNew: Bool, _ access: BlockingAccess
    ) throws -> DatabasePool {
        // One writing connection, because SQLite before 3.51.3 can damage a write-ahead log that two connections
        // checkpoint at once; readers never do. The state is small and rarely read: one connection does
        // both.
        try DatabasePool(path: path, readers: kind.isDurable ? 0 : CacheDatabase.readers, access) { database in
            // In KiB. The data is small, and the operating system caches it too.
            try database.execute("PRAGMA cache_size = -512")
            guard !database.isReadOnly else { return }
            // A new cache is not synced: after a crash of the machine it is created again.
            let synchronous = kind.isDurable ? "FULL" : isNew ? "OFF" : "NORMAL"
            try database.execute("PRAGMA synchronous = \(synchronous)")
            // Before anything is stored (https://sqlite.org/pragma.html#pragma_auto_vacuum).
            if isNew { try database.execute("PRAGMA auto_vacuum = INCREMENTAL") }
            // The log of one large import does not stay on the disk.
            try database.execute("PRAGMA journal_size_limit = 1048576")
            try database.execute("PRAGMA journal_mode = WAL")
        }
    }

    /// Free pages that a file keeps for what is stored next: 4 MiB.
    static let spareFreePages = 1_024

    /// Returns free pages to the file system, 1 MiB at a time, so that other writes wait for milliseconds; at most
    /// 256 MiB a call.
    func releaseFreePages(_ access: BlockingAccess) throws {
        guard condition.isWritable else { return }
        for step in 0..<256 {
            let isDone = try writer.withWriter(access) { database in
                let free = try Int.fetchOne(database, "PRAGMA freelist_count") ?? 0
                if free > OpenedDatabase.spareFreePages { try database.execute("PRAGMA incremental_vacuum(256)") }
                return free <= OpenedDatabase.spareFreePages
            }
            guard isDone else { continue }
            // The file itself becomes shorter when its log is written back.
            if step > 0 { try writer.withWriter(access) { try $0.execute("PRAGMA wal_checkpoint") } }
            return
        }
    }

    /// Reads what a file is, without changing a byte of it.
    ///
    /// - Parameter name: by which SQLite opens it; nil for its path.
    /// - Returns: its schema version, 0 where there is no file or an empty one; and whether wrong bytes in its header
    ///   say something else.
    /// - Throws: for a damaged file, and for one that must not be touched.
    private static func inspect(
        _ kind: DatabaseKind, _ path: String, name: String? = nil, _ access: BlockingAccess
    ) throws -> (version: Int, hasDamagedHeader: Bool) {
        guard Folder.size(of: path) > 0 else { return (0, false) }
        let pool = try DatabasePool(path: name ?? path, .read, access)
        let found = try pool.read(access) { database in
            let isOurs = try Bool.fetchOne(
                database, "SELECT application_id = ? FROM pragma_application_id", [Int64(kind.applicationID)])
            let number = try OpaqueInteger.fetchOne(database, "PRAGMA user_version")?.columnValue ?? 0
            let version = Int(number)
            let isEmpty = try Int.fetchOne(database, "SELECT count(*) FROM sqlite_schema") == 0
            let isPlausible = (1...plausibleVersions).contains(version)
            if !isEmpty, isOurs != true || !isPlausible, try kind.hasTables(database, access) {
                if kind.isDurable { try check(database) }
                return (kind.schemaVersion, true)
            }
            guard version >= 0 else { throw DatabaseError.damaged("user_version is \(version)") }
            guard isEmpty || isOurs == true else { throw StoreError(path: path, .foreign) }
            guard version <= kind.schemaVersion else {
                try check(database)
                throw StoreError(path: path, .newerSchema(found: version, known: kind.schemaVersion))
            }
            // The cache is checked while the daemon serves.
            if kind.isDurable { try check(database) }
            return (version, false)
        }
        try pool.close(access)
        return found
    }

    /// A file with a higher version has a wrong byte, not a newer norrisd.
    private static let plausibleVersions = 65_535

    /// Repairs the rows and indices of a state. One on a full disk is repaired by a later start.
    private static func repair(_ writer: DatabasePool, _ logger: Logger, _ access: BlockingAccess) throws {
        do {
            // quick_check does not compare the indices with their tables.
            let verdict = try writer.read(access) { try String.fetchOne($0, "PRAGMA integrity_check(1)") }
            if verdict != "ok" {
                try writer.write(access) { database in
                    try database.execute("REINDEX")
                    guard try String.fetchOne(database, "PRAGMA integrity_check(1)") == "ok" else {
                        throw DatabaseError.damaged(verdict ?? "")
                    }
                }
                logger.error("state.reindexed", metadata: ["error": "\(verdict ?? "")"])
            }
            try writer.write(access) { try StateRepair.run($0, logger) }
        } catch {
            if DatabaseError.isCorruption(error) { throw error }
            // Two rows have one key: the table is damaged, not its index.
            if let error = error as? DatabaseError, error.resultCode == SQLITE_CONSTRAINT {
                throw DatabaseError.damaged(error.message)
            }
            logger.error("state.not-repaired", metadata: ["error": "\(error)"])
        }
    }

    /// Reads the whole file.
    ///
    /// - Throws: a ``DatabaseError`` with ``DatabaseError/isCorruption`` for a damaged one.
    static func check(_ database: Database) throws {
        let verdict = try String.fetchOne(database, "PRAGMA quick_check(1)")
        guard verdict == "ok" else { throw DatabaseError(SQLITE_CORRUPT, message: verdict) }
    }

    private static func copy(_ writer: DatabasePool, to path: String, _ access: BlockingAccess) throws {
        unlink(path)
        try Folder.makePrivateFile(path)
        try writer.withWriter(access) { try $0.execute("VACUUM INTO ?", [path]) }
    }

    /// Quarantines a damaged file with its log, so that nothing is lost for good, and recreates it.
    static func recreate(
        _ kind: DatabaseKind, _ path: String, _ detail: String, _ logger: Logger, _ access: BlockingAccess
    ) -> OpenedDatabase {
        var (number, quarantine) = (1, path + ".damaged")
        while Folder.identity(of: quarantine) != nil {
            number += 1
            quarantine = "\(path).damaged.\(number)"
        }
        for suffix in ["", "-wal", "-shm"] { rename(path + suffix, quarantine + suffix) }
        logger.error(
            "database.quarantined", metadata: ["path": "\(path)", "moved.to": "\(quarantine)", "error": "\(detail)"])
        do {
            return OpenedDatabase(kind, try prepare(kind, path, access, {}), path: path, .quarantined(quarantine))
        } catch {
            return inMemory(kind, DatabaseError.summary(of: error, path: path), access)
        }
    }

    private static func readOnly(
        _ kind: DatabaseKind, _ path: String, _ detail: String, _ logger: Logger, _ access: BlockingAccess
    ) throws(StoreError) -> OpenedDatabase {
        logger.error("database.unwritable", metadata: ["path": "\(path)", "error": "\(detail)"])
        for name in [path] + immutableName(path) {
            do {
                guard try inspect(kind, path, name: name, access).version == kind.schemaVersion else { continue }
                let writer = try DatabasePool(path: name, .read, access)
                return OpenedDatabase(kind, writer, path: path, .readOnly(detail))
            } catch {
                if let refusal = error as? StoreError, refusal.isRefusal { throw refusal }
            }
        }
        return inMemory(kind, detail, access)
    }

    /// The name by which SQLite reads a file without its log and index, which it cannot create where the folder takes
    /// no files (SQLite, "Uniform Resource Identifiers": immutable); none where a log holds what the file does not.
    private static func immutableName(_ path: String) -> [String] {
        guard Folder.size(of: path + "-wal") == 0 else { return [] }
        // Only these three mean something in the path of such a URI.
        let encoded = path.utf8.flatMap { "?#%".utf8.contains($0) ? Array("%\(String($0, radix: 16))".utf8) : [$0] }
        return ["file:\(String(decoding: encoded, as: UTF8.self))?immutable=1"]
    }

    /// A database in memory.
    static func inMemory(_ kind: DatabaseKind, _ detail: String, _ access: BlockingAccess) -> OpenedDatabase {
        do {
            let writer = try DatabasePool(path: nil, .write, access)
            try kind.migrate(writer, access)
            return OpenedDatabase(kind, writer, path: nil, .inMemory(detail))
        } catch {
            // Our own schema on an empty database in memory: only a broken build or no memory at all fails here.
            fatalError("SQLite cannot create a database in memory: \(error)")
        }
    }
}

extension StoreError {
    /// Whether the file must not be touched.
    fileprivate var isRefusal: Bool {
        switch reason {
        case .newerSchema, .foreign: true
        default: false
        }
    }
}
