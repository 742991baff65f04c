import CSQLite
import Glibc
import Logging
import NorrisProtocol
import NorrisThreads

/// The damage of a file, which is known until the file is replaced.
typealias FileDamage = (reason: String, file: FileIdentity?)

/// An open database of a ``DatabaseFile``.
struct OpenDatabase: Sendable {
    let pool: DatabasePool
    let condition: DatabaseFile.Condition
    /// The file of the pool.
    let identity: FileIdentity?
    /// The damage of the file that this database in memory represents.
    fileprivate(set) var damage: FileDamage?
    /// Whether another attempt can succeed without a restart.
    fileprivate(set) var mayHeal = true

    /// Two more than the concurrent disk requests of one user, so that one user cannot occupy all readers, nor the
    /// daemon's own reads the last one.
    private static let readers = 6

    /// - Parameter name: the name for further connections; nil if there can be none.
    fileprivate init(
        _ writer: sending Database, name: String?, path: String? = nil, _ condition: DatabaseFile.Condition
    ) {
        let identity = path.flatMap(Folder.identity(of:))
        pool = DatabasePool(writer, readers: name == nil ? 0 : OpenDatabase.readers) {
            guard let name, let path, Folder.identity(of: path) == identity else {
                throw DatabaseError(SQLITE_CANTOPEN)
            }
            return try Database(path: name, .read)
        }
        (self.condition, self.identity) = (condition, identity)
    }
}

// MARK: - Opening

extension DatabaseKind {
    /// The size from which the check of a file may take long on a slow disk, in bytes.
    static let largeFile = 32 << 20

    /// Opens a file on another thread; read-only or in memory if the disk cannot be used.
    ///
    /// - Parameter damage: the reason to replace the file first; nil at the start.
    /// - Throws: only at the start, and only a reason that ends it.
    func open(
        _ path: String, _ logger: Logger, damage: FileDamage? = nil,
        willTakeLong: @escaping @Sendable () -> Void = {}
    ) async throws(StoreError) -> OpenDatabase {
        try await BackgroundThreads.starting.run { _ throws(StoreError) -> OpenDatabase in
            do { return try openOnDisk(path, logger, damage: damage, willTakeLong) } catch {
                let refusal = error as? StoreError
                if damage == nil, let refusal, refusal.reason.exitStatus != nil { throw refusal }
                let detail = (error as? DatabaseError)?.summary(path: path) ?? "\(error)"
                logger.error("database.unwritable", metadata: ["path": "\(path)", "error": "\(detail)"])
                var opened = (damage == nil ? openReadOnly(path, detail) : nil) ?? openInMemory(detail)
                opened.damage = damage
                opened.mayHeal = refusal?.reason != .failedMigration
                return opened
            }
        }
    }

    /// Opens a file for writing, after replacing it if necessary.
    ///
    /// - Throws: a refusal, or the reason why nothing was changed.
    func openOnDisk(
        _ path: String, _ logger: Logger, damage: FileDamage?, _ willTakeLong: @Sendable () -> Void = {}
    ) throws -> OpenDatabase {
        if let owner = Folder.foreignOwner(of: path) {
            throw StoreError.notWritable(path, "it belongs to user \(owner)")
        }
        try Folder.make(Folder.parent(of: path))
        // Another file than the damaged one may be at the path now.
        let isDamaged = damage != nil && Folder.identity(of: path) == damage?.file
        // SQLite would open a file that cannot be written, and fail at the first change.
        try Folder.makePrivateFile(path)
        if isState, Folder.size(ofDatabase: path) >= DatabaseKind.largeFile { willTakeLong() }
        let reason = damage?.reason ?? "the file is missing"
        var condition = DatabaseFile.Condition.good
        var finding = isDamaged ? .damaged(reason) : try examine(path, .write)
        switch finding {
        case .good: break
        case .empty:
            // A state without tables that has a copy had tables.
            let isMissing = damage != nil || isState && Folder.size(of: path + ".bak") > 0
            let madeAt = try put(path)
            if isMissing { condition = replaced(path, "missing", reason, madeAt, logger) }
            finding = try examine(path, .write, check: nil)
        case .damaged(let reason):
            let madeAt = try put(path, setsAside: true)
            condition = replaced(path, "damaged and renamed to \(fileName).damaged", reason, madeAt, logger)
            finding = try examine(path, .write, check: nil)
        }
        guard case .good(let database, let version) = finding else { throw DatabaseError.damaged("the new file") }
        if version != self.version {
            willTakeLong()
            try Database.copy(path, to: "\(path).v\(version)")
            do { try migrate(database, from: version) } catch let error as DatabaseError
                where [SQLITE_ERROR, SQLITE_CONSTRAINT].contains(error.resultCode)
            {
                let problem = """
                    the update from schema \(version) to \(self.version) failed (\(error.message)); the file is \
                    unchanged: install the previous version again (norrisd(8), UPGRADES)
                    """
                throw StoreError(path, .failedMigration, problem)
            }
        }
        return OpenDatabase(database, name: path, path: path, condition)
    }

    private func openReadOnly(_ path: String, _ detail: String) -> OpenDatabase? {
        // Without permission to write, SQLite cannot create the log's index, so it must ignore the log (SQLite,
        // "Uniform Resource Identifiers": immutable). That is correct only for an empty log.
        let names = [path] + (Folder.size(of: path + "-wal") == 0 ? [Folder.uri(path, "immutable=1")] : [])
        for name in names where Folder.size(of: path) > 0 {
            guard case .good(let database, version)? = try? examine(path, name: name, .read) else { continue }
            return OpenDatabase(database, name: name, path: path, .readOnly(detail))
        }
        return nil
    }

    private func openInMemory(_ detail: String) -> OpenDatabase {
        do {
            let database = try Database(path: ":memory:", .write)
            try migrate(database, from: 0)
            return OpenDatabase(database, name: nil, .inMemory(detail))
        } catch {
            // The schema is applied to an empty database in memory, which fails only with a faulty build or without
            // memory.
            fatalError("SQLite cannot create a database in memory: \(error)")
        }
    }

    /// The condition of a new file.
    ///
    /// - Parameter madeAt: the time of the copy; nil for an empty database.
    private func replaced(
        _ path: String, _ problem: String, _ reason: String, _ madeAt: Timestamp?, _ logger: Logger
    ) -> DatabaseFile.Condition {
        let outcome =
            madeAt.map { "the copy of \($0) took its place" }
            ?? (isState ? "it starts empty, because there is no usable copy" : "everything is fetched again")
        logger.error("database.replaced", metadata: ["path": "\(path)", "error": "\(reason)", "result": "\(outcome)"])
        return .replaced("\(fileName) was \(problem); \(outcome)")
    }
}

// MARK: - Examining

extension DatabaseKind {
    /// The result of an examination of a file.
    enum Finding {
        /// The open database. Only a state has another version than this program's.
        case good(Database, version: Int64)
        /// No file, a file without tables, or a cache of an older version. An empty database takes its place.
        case empty
        case damaged(String)
    }

    /// Opens a file and examines it. Only a file that can be used is changed, which then has a log.
    ///
    /// - Parameter check: the pragma that reads the whole file.
    /// - Throws: a refusal if the file belongs to another program or version, and must stay unchanged; another error if
    ///   the file cannot be opened or read, which says nothing about its content.
    func examine(
        _ path: String, name: String? = nil, _ access: Database.Access, check: String? = "quick_check"
    ) throws -> sending Finding {
        do {
            if Folder.isMissing(path) { return .empty }
            let database = try Database(path: name ?? path, access)
            let tables = Set(try database.map("SELECT ifnull(sql, '') FROM sqlite_schema") { try $0[0] as String })
            if tables.isEmpty { return .empty }
            let version: Int64 = try database.value("PRAGMA user_version") ?? 0
            let isOurs = try database.value("PRAGMA application_id") == Int64(applicationID)
            guard isOurs || !tables.isDisjoint(with: schema) else {
                let problem =
                    "is a database of another program; it was left untouched: move it away, or give another folder"
                throw StoreError(path, .refused, problem)
            }
            // A higher version than plausible is a damaged byte, not a newer norrisd.
            guard isOurs, 1...10_000 ~= version else { return .damaged("the header of the file") }
            if version > self.version {
                let problem = """
                    written by a newer norrisd (schema \(version), this one knows \(self.version)); it was left \
                    untouched: install that version again, or \(alternative(toNewer: path))
                    """
                throw StoreError(path, .refused, problem)
            }
            if version < self.version, !isState { return .empty }
            if version == self.version, !tables.isSuperset(of: schema) { return .damaged("the schema of the file") }
            // A migration begins with a file without damage.
            if isState, let check = version == self.version ? check : "integrity_check" { try database.check(check) }
            if access == .write {
                // The log of a large import must not stay on disk.
                try database.execute(
                    """
                    PRAGMA synchronous = \(isState ? "FULL" : "NORMAL");
                    PRAGMA journal_size_limit = 1048576; PRAGMA journal_mode = WAL
                    """)
            }
            return .good(database, version: version)
        } catch  where DatabaseError.isDamage(error) {
            return .damaged("\(error)")
        }
    }

    /// Describes how this version can be used although a newer version has written the file.
    private func alternative(toNewer path: String) -> String {
        guard isState else { return "delete it, because its content is fetched again" }
        if path.hasSuffix(".bak") { return "move it away" }
        let copy = "\(path).v\(version)"
        guard Folder.size(of: copy) > 0 else { return "give another folder" }
        return "restore \(copy), the copy of before the upgrade (norrisd(8), UPGRADES)"
    }
}

// MARK: - New files

extension DatabaseKind {
    /// Puts the last copy of the state, or an empty database, in the place of a file. All files stay as they are until
    /// the new one is complete.
    ///
    /// - Parameter setsAside: whether the old file is renamed, and not replaced.
    /// - Returns: the time of the copy; nil for an empty database.
    private func put(_ path: String, setsAside: Bool = false) throws -> Timestamp? {
        let (new, copy, aside) = (path + ".new", path + ".bak", path + ".damaged")
        let files = ["", "-wal", "-shm"].map { new + $0 }
        for file in files { unlink(file) }
        defer { for file in files { unlink(file) } }
        var madeAt: Timestamp?
        switch isState ? try examine(copy, .read, check: "integrity_check") : .empty {
        case .good(let database, _):
            try database.write(into: new)
            madeAt = Folder.modificationTime(of: copy)
        case .empty: try create(new)
        case .damaged:
            try create(new)
            try Folder.rename(copy, to: copy + ".damaged")
        }
        if setsAside {
            try Folder.rename(path, to: aside)
            for suffix in ["-wal", "-journal"] where rename(path + suffix, aside + suffix) != 0 {
                unlink(aside + suffix)
            }
        }
        for suffix in ["-wal", "-journal", "-shm"] { unlink(path + suffix) }
        try Folder.replace(path, by: new)
        return madeAt
    }

    private func create(_ path: String) throws {
        try Folder.makePrivateFile(path)
        let database = try Database(path: path, .write)
        // The complete file is synced.
        try database.execute("PRAGMA synchronous = OFF; PRAGMA journal_mode = WAL")
        try migrate(database, from: 0)
        // The end of the connection does so too, and reports no failure.
        try database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        database.close()
    }

    /// Creates or updates the schema in one transaction, so that a failure leaves the version of before.
    private func migrate(_ database: Database, from version: Int64) throws {
        try database.write { database in
            let migration = migrations[version] ?? ("", "")
            try database.execute(migration.before)
            let tables = try database.map("SELECT ifnull(sql, '') FROM sqlite_schema") { try $0[0] as String }
            for statement in schema where !tables.contains(statement) { try database.execute(statement) }
            try database.execute(migration.after)
            try database.execute("PRAGMA application_id = \(applicationID); PRAGMA user_version = \(self.version)")
        }
    }
}

extension Database {
    /// Reads the whole file.
    ///
    /// - Throws: damage.
    fileprivate func check(_ pragma: String) throws {
        var verdict: String?
        // Twice, because the check also calls a page damaged for which it has no memory.
        for _ in 0..<2 {
            verdict = try value("PRAGMA \(pragma)(1)")
            if verdict == "ok" { return }
        }
        throw DatabaseError.damaged(verdict ?? "no result of \(pragma)")
    }

    /// Writes all content into a new file.
    fileprivate func write(into path: String) throws {
        // SQLite accepts an empty file, and keeps its mode.
        try Folder.makePrivateFile(path)
        try execute("VACUUM INTO ?", [path])
    }

    /// Checks a database and copies it into a temporary file, which replaces the file with the name of the copy.
    ///
    /// - Throws: damage, `CancellationError`.
    static func copy(
        _ path: String, to copy: String, within limit: Duration? = nil, isCancelled: Cancellation = Cancellation()
    ) throws {
        let temporary = copy + ".new"
        unlink(temporary)
        defer { unlink(temporary) }
        try Database(path: path, .read).interruptible(by: [isCancelled], limit: limit) { source in
            try source.check("integrity_check")
            try source.write(into: temporary)
        }
        try Folder.replace(copy, by: temporary)
    }
}
