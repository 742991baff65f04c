import CSQLite
import Glibc
import Logging
import NorrisThreads

/// A kind of database: the identification of its file, and its schema.
struct DatabaseKind: Sendable {
    /// The file's name in its folder.
    let fileName: String
    /// `PRAGMA application_id` (SQLite: "file format", offset 68): four letters, for file(1) and for norrisd.
    let applicationID: Int32
    /// Whether a commit is on disk before it returns, and a migration begins with a copy. Otherwise the last commits
    /// may be lost, but the file stays consistent.
    let isDurable: Bool
    /// The migrations in order. A released migration is never changed.
    let migrations: [Migration]

    struct Migration: Sendable {
        let name: String
        let apply: @Sendable (Database) throws -> Void
    }

    /// `PRAGMA user_version`: the number of applied migrations.
    var schemaVersion: Int { migrations.count }

    /// Whether a file has all tables of the current schema with their columns, independent of its header.
    func hasTables(_ database: Database, _ access: BlockingAccess) throws -> Bool {
        let tables = "SELECT sql FROM sqlite_schema WHERE type = 'table' AND sql IS NOT NULL"
        let own = try OpenedDatabase.inMemory(self, "for its tables", access).writer.read(access) {
            try String.fetchAll($0, tables)
        }
        return Set(own).isSubset(of: try String.fetchAll(database, tables))
    }

    /// Migrates a database to the current schema in one transaction, so that a failure leaves the version of before.
    func migrate(_ pool: DatabasePool, _ access: BlockingAccess) throws {
        try pool.withWriter(access) { database in
            let version = try Int.fetchOne(database, "PRAGMA user_version") ?? 0
            guard version < migrations.count else { return }
            // A migration may recreate a table with references to it; dangling references are checked at the end.
            try database.execute("PRAGMA foreign_keys = OFF")
            defer { try? database.execute("PRAGMA foreign_keys = ON") }
            try database.write { database in
                for migration in migrations.dropFirst(version) {
                    try migration.apply(database)
                    guard try database.first("PRAGMA foreign_key_check", [], { _ in }) == nil else {
                        throw DatabaseError(SQLITE_CONSTRAINT, message: "migration \(migration.name)")
                    }
                }
                try database.execute("PRAGMA user_version = \(schemaVersion)")
            }
        }
    }
}

extension DatabaseKind {
    /// The name of the copy that a migration from a version makes.
    fileprivate static func copy(of path: String, version: Int) -> String { "\(path).v\(version)" }

    /// Describes how this version can be used although a newer version has written the file.
    fileprivate func alternative(toNewer path: String) -> String {
        guard isDurable else { return "delete it, because its content is fetched again" }
        let copy = Self.copy(of: path, version: schemaVersion)
        guard Folder.size(of: copy) > 0 else { return "give another folder" }
        return "restore \(copy), the copy of before the upgrade (norrisd(8), UPGRADES)"
    }
}

/// An open database, and the condition of its file.
struct OpenedDatabase: Sendable {
    enum Condition: Equatable, Sendable {
        case good
        /// The file was damaged, was renamed to this path, and was recreated; of the state, the readable rows were copied.
        case quarantined(String, StateSalvage?)
        /// The file or its disk can be read but not written.
        case readOnly(String)
        /// No file can be used; all data is lost with the process.
        case inMemory(String)

        /// Whether changes are permanent.
        var isWritable: Bool {
            switch self {
            case .good, .quarantined: true
            case .readOnly, .inMemory: false
            }
        }
    }

    let kind: DatabaseKind
    let writer: DatabasePool
    /// nil for a database in memory.
    let path: String?
    let condition: Condition
    private let identity: FileIdentity?

    private init(_ kind: DatabaseKind, _ writer: DatabasePool, path: String?, _ condition: Condition) {
        (self.kind, self.writer, self.path, self.condition) = (kind, writer, path, condition)
        identity = path.flatMap(Folder.identity(of:))
    }

    /// Whether the file was deleted or replaced.
    var isDeleted: Bool { path.map { Folder.identity(of: $0) != identity } ?? false }
    var sizeOnDisk: Int { path.map(Folder.size(ofDatabase:)) ?? 0 }

    /// Closes all connections, and writes back and removes the write-ahead log.
    func close(_ access: BlockingAccess) throws { try writer.close(access) }

    /// The size from which the check of a file may take long on a slow disk, in bytes.
    private static let largeFile = 32 << 20

    /// Opens a database in a folder; creates, migrates or quarantines the file as needed.
    ///
    /// - Parameter willTakeLong: called before each step that may take long: the check of a large file, the copy before
    ///   a migration, the migration.
    /// - Throws: only for a newer schema or another program's file, which must not be changed. If the disk cannot be
    ///   used, the daemon works without it.
    static func open(
        _ kind: DatabaseKind, folder: String?, logger: Logger, _ access: BlockingAccess, willTakeLong: () -> Void = {}
    ) throws(StoreError) -> OpenedDatabase {
        guard let folder else { return inMemory(kind, "no folder is given", access) }
        let path = folder + "/" + kind.fileName
        if let owner = Folder.foreignOwner(of: path) {
            let detail = "the file belongs to user \(owner); remove it, or change its owner"
            logger.error("database.unwritable", metadata: ["path": "\(path)", "error": "\(detail)"])
            return inMemory(kind, detail, access)
        }
        do {
            try Folder.make(folder)
            let writer = try prepare(kind, path, access, willTakeLong)
            if kind.isDurable { try repair(writer, logger, access) }
            return OpenedDatabase(kind, writer, path: path, .good)
        } catch {
            if let refusal = error as? StoreError, refusal.isRefusal { throw refusal }
            if DatabaseError.isCorruption(error) {
                return recreate(kind, path, "\(error)", logger, access, willTakeLong)
            }
            return try readOnly(kind, path, DatabaseError.summary(of: error, path: path), logger, access)
        }
    }

    private static func prepare(
        _ kind: DatabaseKind, _ path: String, _ access: BlockingAccess, _ willTakeLong: () -> Void
    ) throws -> DatabasePool {
        if kind.isDurable, Folder.size(ofDatabase: path) >= largeFile { willTakeLong() }
        try rollBack(path, access)
        // Before the first write, including the journal mode, because a foreign or damaged file must stay unchanged.
        let (version, hasDamagedHeader) = try inspect(kind, path, access)
        try Folder.makePrivateFile(path)
        let writer = try connect(kind, path, isNew: version == 0, access)
        if version > 0, version < kind.schemaVersion {
            willTakeLong()
            if kind.isDurable {
                try copy(writer, to: DatabaseKind.copy(of: path, version: version), access)
                willTakeLong()
            }
        }
        if version == 0 || hasDamagedHeader {
            try writer.withWriter(access) { database in
                try database.execute("PRAGMA application_id = \(kind.applicationID); PRAGMA user_version = \(version)")
            }
        }
        try migrate(kind, writer, path, from: version, access)
        if version == 0, !kind.isDurable {
            try writer.withWriter(access) { try $0.execute("PRAGMA synchronous = NORMAL") }
        }
        // A table with the highest row number accepts no rows (AUTOINCREMENT).
        if !kind.isDurable, kind.fileName != DatabaseKind.facts.fileName {
            _ = try writer.read(access) {
                try SequenceNumber.fetchAll($0, "SELECT ifnull(seq, 0) FROM sqlite_sequence")
            }
        }
        return writer
    }

    /// Migrates a database.
    ///
    /// - Throws: a ``StoreError`` with the way back if the content of a state prevents a migration.
    private static func migrate(
        _ kind: DatabaseKind, _ writer: DatabasePool, _ path: String, from version: Int, _ access: BlockingAccess
    ) throws {
        do {
            try kind.migrate(writer, access)
        } catch let error as DatabaseError
            where kind.isDurable && version > 0 && [SQLITE_ERROR, SQLITE_CONSTRAINT].contains(error.resultCode)
        {
            throw StoreError(path: path, .failedMigration(from: version, to: kind.schemaVersion, error.message))
        }
    }

    private static func connect(
        _ kind: DatabaseKind, _ path: String, isNew: Bool, _ access: BlockingAccess
    ) throws -> DatabasePool {
        // One writing connection, because SQLite before 3.51.3 can damage a write-ahead log that two connections
        // checkpoint at the same time; readers never checkpoint. The state is small and rarely read, so one connection
        // also reads it.
        try DatabasePool(path: path, readers: kind.isDurable ? 0 : CacheDatabase.readers, access) { database in
            // In KiB. The data is small, and the operating system caches the file too.
            try database.execute("PRAGMA cache_size = -512")
            guard !database.isReadOnly else { return }
            // A new cache is not synced, because it is recreated after a crash of the machine.
            let synchronous = kind.isDurable ? "FULL" : isNew ? "OFF" : "NORMAL"
            try database.execute("PRAGMA synchronous = \(synchronous)")
            // Before the first row (https://sqlite.org/pragma.html#pragma_auto_vacuum).
            if isNew { try database.execute("PRAGMA auto_vacuum = INCREMENTAL") }
            // The log of a large import must not stay on disk.
            try database.execute("PRAGMA journal_size_limit = 1048576")
            try database.execute("PRAGMA journal_mode = WAL")
        }
    }

    /// The free pages that a file keeps for new rows: 4 MiB.
    static let spareFreePages = 1_024

    /// Returns free pages to the file system, 1 MiB at a time, so that other writes wait only for milliseconds; at most
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
            // The checkpoint shortens the file.
            if step > 0 { try writer.withWriter(access) { try $0.execute("PRAGMA wal_checkpoint") } }
            return
        }
    }

    /// Rolls back the creation of a file that a crash or a full disk ended, and that left a journal. Until then SQLite
    /// refuses every connection that only reads (<https://sqlite.org/rescode.html#readonly_rollback>).
    private static func rollBack(_ path: String, _ access: BlockingAccess) throws {
        guard Folder.size(of: path + "-journal") > 0 else { return }
        let pool = try DatabasePool(path: path, .write, access)
        _ = try pool.read(access) { try Int.fetchOne($0, "SELECT count(*) FROM sqlite_schema") }
        try pool.close(access)
    }

    /// Reads the kind of a file without changing it.
    ///
    /// - Parameter name: the name for SQLite; nil for the path.
    /// - Returns: the schema version, 0 for a missing or empty file; and whether the header is damaged.
    /// - Throws: for a damaged file, and for a file that must not be changed.
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
                throw StoreError(
                    path: path,
                    .newerSchema(
                        found: version, known: kind.schemaVersion, alternative: kind.alternative(toNewer: path)))
            }
            // The cache is checked while the daemon serves.
            if kind.isDurable { try check(database) }
            return (version, false)
        }
        try pool.close(access)
        return found
    }

    /// The highest plausible version. A higher version is a damaged byte, not a newer norrisd.
    private static let plausibleVersions = 65_535

    /// Repairs the rows and indexes of a state. On a full disk a later start repairs it.
    private static func repair(_ writer: DatabasePool, _ logger: Logger, _ access: BlockingAccess) throws {
        do {
            // quick_check does not compare indexes with their tables.
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
            // Two rows have the same key, so the table is damaged, not its index.
            if let error = error as? DatabaseError, error.resultCode == SQLITE_CONSTRAINT {
                throw DatabaseError.damaged(error.message)
            }
            logger.error("state.not-repaired", metadata: ["error": "\(error)"])
        }
    }

    /// Reads the whole file.
    ///
    /// - Throws: a ``DatabaseError`` with ``DatabaseError/isCorruption`` for a damaged file.
    static func check(_ database: Database) throws {
        var verdict: String?
        // Twice, because the check also calls a page damaged for which it has no memory.
        for _ in 0..<2 {
            verdict = try String.fetchOne(database, "PRAGMA quick_check(1)")
            if verdict == "ok" { return }
        }
        throw DatabaseError(SQLITE_CORRUPT, message: verdict)
    }

    private static func copy(_ writer: DatabasePool, to path: String, _ access: BlockingAccess) throws {
        unlink(path)
        try Folder.makePrivateFile(path)
        try writer.withWriter(access) { try $0.execute("VACUUM INTO ?", [path]) }
    }

    /// Quarantines a damaged file with its log, so that no data is lost, and recreates the file.
    static func recreate(
        _ kind: DatabaseKind, _ path: String, _ detail: String, _ logger: Logger, _ access: BlockingAccess,
        _ willTakeLong: () -> Void = {}
    ) -> OpenedDatabase {
        var (number, quarantine) = (1, path + ".damaged")
        while Folder.identity(of: quarantine) != nil {
            number += 1
            quarantine = "\(path).damaged.\(number)"
        }
        for suffix in ["", "-journal", "-wal", "-shm"] { rename(path + suffix, quarantine + suffix) }
        logger.error(
            "database.quarantined", metadata: ["path": "\(path)", "moved.to": "\(quarantine)", "error": "\(detail)"])
        do {
            let writer = try prepare(kind, path, access, {})
            guard kind.isDurable else { return OpenedDatabase(kind, writer, path: path, .quarantined(quarantine, nil)) }
            if Folder.size(ofDatabase: quarantine) >= largeFile { willTakeLong() }
            // Read-only and not immutable, because the last changes may be in the log.
            let salvage = try writer.withWriter(access) { database in
                StateSalvage.run(from: uri(quarantine, "mode=ro"), into: database, logger)
            }
            try repair(writer, logger, access)
            return OpenedDatabase(kind, writer, path: path, .quarantined(quarantine, salvage))
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

    /// The name with which SQLite reads a file without creating its log and index, which is impossible in a folder
    /// without write permission (SQLite, "Uniform Resource Identifiers": immutable). Empty if a log contains changes
    /// that the file does not.
    private static func immutableName(_ path: String) -> [String] {
        guard Folder.size(of: path + "-wal") == 0 else { return [] }
        return [uri(path, "immutable=1")]
    }

    /// The name of a file with a parameter (https://sqlite.org/uri.html).
    private static func uri(_ path: String, _ parameter: String) -> String {
        // Only these three characters are special in the path of the URI.
        let encoded = path.utf8.flatMap { "?#%".utf8.contains($0) ? Array("%\(String($0, radix: 16))".utf8) : [$0] }
        return "file:\(String(decoding: encoded, as: UTF8.self))?\(parameter)"
    }

    /// A database in memory.
    static func inMemory(_ kind: DatabaseKind, _ detail: String, _ access: BlockingAccess) -> OpenedDatabase {
        do {
            let writer = try DatabasePool(path: nil, .write, access)
            try kind.migrate(writer, access)
            return OpenedDatabase(kind, writer, path: nil, .inMemory(detail))
        } catch {
            // The schema is applied to an empty database in memory, which fails only with a faulty build or without
            // memory.
            fatalError("SQLite cannot create a database in memory: \(error)")
        }
    }
}

extension StoreError {
    /// Whether the file must not be changed.
    fileprivate var isRefusal: Bool {
        switch reason {
        case .newerSchema, .foreign: true
        default: false
        }
    }
}
