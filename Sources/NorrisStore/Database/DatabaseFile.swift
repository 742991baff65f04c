import CSQLite
import Glibc
import Logging
import NorrisProtocol
import NorrisSystem
import NorrisThreads
import Synchronization

/// One of the two databases, in one of three conditions: on disk, read-only, or in memory.
///
/// There is one rule for damage, wherever it is found: the file is renamed to `NAME.damaged`, the last copy of the state
/// or an empty cache takes its place, and the read or write that met the damage is repeated on it. A file that was deleted
/// or replaced while it is open counts as damaged.
final class DatabaseFile: Sendable {
    enum Condition: Equatable, Sendable {
        case good
        /// A damaged file was replaced, with a sentence for the status.
        case replaced(String)
        /// The file can be read but not written.
        case readOnly(String)
        /// No file can be used; all data is lost with the process.
        case inMemory(String)

        /// Whether changes are permanent.
        var isWritable: Bool {
            switch self {
            case .good, .replaced: true
            case .readOnly, .inMemory: false
            }
        }
    }

    private struct State {
        var pool: DatabasePool
        var condition: Condition
        /// The file of the pool.
        var identity: FileIdentity?
        /// The reason of the last failed write, until a write succeeds.
        var writeFailure: String?
        /// Whether the copy lacks a change.
        var hasChanged = false
        /// The number of replacements of the file.
        var generation = 0
        var isClosed = false
    }

    let kind: DatabaseKind
    let path: String
    private let logger: Logger
    private let state: Mutex<State>
    /// Held while the file is opened again.
    private let reopening = AsyncLock()
    /// Called on any thread when the condition or the write failure has changed.
    let changes = Listener()

    /// Two more than the concurrent disk requests of one user, so that one user cannot occupy all readers, nor the
    /// daemon's own reads the last one.
    private static let readers = 6

    /// Opens the file; creates, migrates or replaces it as needed.
    ///
    /// - Parameter willTakeLong: called before each step that may take long.
    /// - Throws: only for a file of a newer norrisd or of another program, which stays unchanged. If the disk cannot be
    ///   used, the daemon works without it.
    init(
        _ kind: DatabaseKind, folder: String, logger: Logger, willTakeLong: @escaping @Sendable () -> Void = {}
    ) async throws(StoreError) {
        let path = folder + "/" + kind.fileName
        (self.kind, self.path, self.logger) = (kind, path, logger)
        let opened = try await DatabaseFile.open(kind, path, logger, willTakeLong: willTakeLong)
        state = Mutex(State(pool: opened.pool, condition: opened.condition, identity: opened.identity))
    }

    var condition: Condition { state.withLock { $0.condition } }
    var writeFailure: String? { state.withLock { $0.writeFailure } }
    /// Whether the file cannot be written now.
    var isFailing: Bool { state.withLock { $0.writeFailure != nil || !$0.condition.isWritable } }
    /// Changes with each replacement of the file.
    var generation: Int { state.withLock { $0.generation } }

    /// Closes all connections after the running work.
    func close() async {
        let pool = state.withLock { state in
            state.isClosed = true
            return state.pool
        }
        await pool.close()
    }

    // MARK: Reading and writing

    /// Reads one snapshot of the database.
    ///
    /// - Parameter limit: the longest time of the body.
    func read<Value: Sendable>(
        within limit: Duration? = nil, isCancellable: Bool = true,
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        try await repeatAfterDamage { try await $0.read(within: limit, isCancellable: isCancellable, body) }
    }

    /// Changes the database completely or not at all.
    func write<Value: Sendable>(
        isCancellable: Bool = true, _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        do {
            return try await repeatAfterDamage { pool in
                try await pool.write(isCancellable: isCancellable) { [self] database in
                    // Here on the connection's thread, because stat(2) may wait for a disk.
                    if isDeleted { throw DatabaseError.damaged("the file was deleted while norrisd was running") }
                    let before = database.totalChangesCount
                    let value = try body(database)
                    // A write without changes does not show that the disk accepts writes.
                    if database.totalChangesCount > before { database.afterCommit { self.noteWrite() } }
                    return value
                }
            }
        } catch {
            noteWriteFailure(error)
            throw error
        }
    }

    private func repeatAfterDamage<Value>(_ body: (DatabasePool) async throws -> Value) async throws -> Value {
        let pool = state.withLock { $0.pool }
        do { return try await body(pool) } catch  where DatabaseError.isDamage(error) {
            guard let replaced = await replace(pool, because: "\(error)") else { throw error }
            return try await body(replaced)
        }
    }

    private func noteWrite() {
        let hadFailed = state.withLock { state in
            state.hasChanged = true
            return state.writeFailure.take() != nil
        }
        guard hadFailed else { return }
        logger.notice("database.writes-again", metadata: ["path": "\(path)"])
        changes.notify()
    }

    /// Records a failed write, and logs it once until a write succeeds.
    private func noteWriteFailure(_ error: any Error) {
        // A cancelled task and an error for the client say nothing about the disk.
        guard let error = error as? DatabaseError else { return }
        let summary = error.summary(path: path)
        let isNew = state.withLock { state in
            // A failure that follows from the condition is not another fault.
            guard state.condition.isWritable, !state.isClosed else { return false }
            defer { state.writeFailure = summary }
            return state.writeFailure == nil
        }
        guard isNew else { return }
        logger.error("database.write-failed", metadata: ["path": "\(path)", "error": "\(error)"])
        changes.notify()
    }

    /// Whether the file was deleted or replaced by another one. Blocking.
    var isDeleted: Bool {
        guard let identity = state.withLock({ $0.identity }) else { return false }
        return Folder.identity(of: path) != identity
    }

    // MARK: Healing

    /// Replaces a damaged file, unless another call has done so.
    ///
    /// - Returns: the pool to use now; nil if the database is closed or the file must not be replaced.
    private func replace(_ broken: DatabasePool, because reason: String) async -> DatabasePool? {
        await reopen(where: { $0.pool === broken }) { [kind, path, logger] () async throws(StoreError) -> Opened? in
            // SQLite removes the log of a closed database by its name, so the old file is closed first.
            await broken.close(isReplaced: true)
            return try await DatabaseFile.open(kind, path, logger, damage: reason)
        }
    }

    /// Opens the file again if the condition of before allows it.
    private func reopen(
        where isBroken: (State) -> Bool, _ open: () async throws(StoreError) -> Opened?
    ) async -> DatabasePool? {
        guard await reopening.lock() else { return nil }
        defer { reopening.unlock() }
        guard state.withLock({ isBroken($0) && !$0.isClosed }) else {
            return state.withLock { $0.isClosed ? nil : $0.pool }
        }
        guard let opened = try? await open() else { return nil }
        let isClosed = state.withLock { state in
            (state.pool, state.condition, state.identity) = (opened.pool, opened.condition, opened.identity)
            (state.writeFailure, state.hasChanged) = (nil, true)
            state.generation += 1
            return state.isClosed
        }
        changes.notify()
        // Closed in the meantime.
        if isClosed { await opened.pool.close() }
        return isClosed ? nil : opened.pool
    }

    /// Tries to use the disk again after a failure, and replaces a deleted file. Called from time to time.
    func heal(isDeleted: Bool) async {
        let (condition, hasFailed, pool) = state.withLock { ($0.condition, $0.writeFailure != nil, $0.pool) }
        if !condition.isWritable {
            _ = await reopen(where: { $0.pool === pool }) {
                [kind, path, logger] () async throws(StoreError) -> Opened? in
                let opened = try await DatabaseFile.open(kind, path, logger, isRetry: true)
                guard opened.condition.isWritable else {
                    await opened.pool.close()
                    return nil
                }
                await pool.close(isReplaced: true)
                return opened
            }
        } else if hasFailed {
            _ = try? await write { [kind] database in
                try database.execute("PRAGMA user_version = \(kind.version)")
                database.afterCommit { self.noteWrite() }
            }
        } else if isDeleted {
            _ = await replace(pool, because: "the file was deleted while norrisd was running")
        }
    }

    // MARK: The copy

    /// Makes `state.db.bak`, so that it contains all changes until now.
    ///
    /// - Parameter limit: the time after which an unfinished copy is given up.
    func backUp(within limit: Duration?, isCancelled: Cancellation) async {
        let (pool, isNeeded) = state.withLock { ($0.pool, $0.condition.isWritable && $0.hasChanged) }
        guard isNeeded else { return }
        let copied = await BackgroundThreads.background.run { [self] _ -> Result<Void, any Error> in
            state.withLock { $0.hasChanged = false }
            return Result { try DatabaseFile.copy(path, to: path + ".bak", within: limit, isCancelled: isCancelled) }
        }
        guard case .failure(let error) = copied else { return }
        state.withLock { $0.hasChanged = true }
        if DatabaseError.isDamage(error) {
            _ = await replace(pool, because: "\(error)")
        } else if !isCancelled.isCancelled {
            logger.warning("state.not-copied", metadata: ["path": "\(path).bak", "error": "\(error)"])
        }
    }

    /// The bytes of the database on disk. Blocking.
    var sizeOnDisk: Int { Folder.size(ofDatabase: path) }
}

// MARK: - Opening

extension DatabaseFile {
    /// An open database.
    fileprivate struct Opened: Sendable {
        let pool: DatabasePool
        let condition: Condition
        let identity: FileIdentity?

        /// - Parameter name: the name for further connections; nil if there can be none.
        init(_ writer: sending Database, name: String?, path: String? = nil, _ condition: Condition) {
            let identity = path.flatMap(Folder.identity(of:))
            pool = DatabasePool(writer, readers: name == nil ? 0 : DatabaseFile.readers) {
                guard let name, let path, Folder.identity(of: path) == identity else {
                    throw DatabaseError(SQLITE_CANTOPEN)
                }
                return try Database(path: name, .read)
            }
            (self.condition, self.identity) = (condition, identity)
        }
    }

    /// Opens a file on another thread.
    ///
    /// - Parameters:
    ///   - damage: the reason to replace the file first.
    ///   - isRetry: whether a failure was logged before.
    private static func open(
        _ kind: DatabaseKind, _ path: String, _ logger: Logger, damage: String? = nil, isRetry: Bool = false,
        willTakeLong: @escaping @Sendable () -> Void = {}
    ) async throws(StoreError) -> Opened {
        try await BackgroundThreads.starting.run { _ throws(StoreError) -> Opened in
            do {
                if let owner = Folder.foreignOwner(of: path) {
                    throw StoreError(path: path, .notWritable("it belongs to user \(owner)"))
                }
                return try onDisk(kind, path, logger, damage: damage, willTakeLong)
            } catch {
                if let refusal = error as? StoreError, refusal.isRefusal { throw refusal }
                let detail = (error as? DatabaseError)?.summary(path: path) ?? "\(error)"
                if !isRetry {
                    logger.error("database.unwritable", metadata: ["path": "\(path)", "error": "\(detail)"])
                }
                return readOnly(kind, path, detail) ?? inMemory(kind, detail)
            }
        }
    }

    /// Opens a file for writing, after replacing a damaged one.
    private static func onDisk(
        _ kind: DatabaseKind, _ path: String, _ logger: Logger, damage: String?, _ willTakeLong: () -> Void
    ) throws -> Opened {
        try Folder.make(String(path.dropLast(kind.fileName.utf8.count + 1)))
        let copy = path + ".bak"
        let isMissing = kind.isState && Folder.size(of: path) == 0 && Folder.size(of: copy) > 0
        guard let damage = damage ?? (isMissing ? "the file is missing" : nil) else {
            do {
                return Opened(try connect(kind, path, willTakeLong), name: path, path: path, .good)
            } catch  where DatabaseError.isDamage(error) {
                return try onDisk(kind, path, logger, damage: "\(error)", willTakeLong)
            }
        }
        let aside = path + ".damaged"
        let wasMissing = Folder.size(of: path) == 0
        for suffix in ["", "-wal", "-journal"] where rename(path + suffix, aside + suffix) != 0 {
            unlink(aside + suffix)
        }
        unlink(path + "-shm")
        var outcome = kind.isState ? "it starts empty, because there is no usable copy" : "everything is fetched again"
        if kind.isState, let madeAt = Folder.modificationTime(of: copy), (try? restore(kind, copy, to: path)) != nil {
            outcome = "the copy of \(madeAt) took its place"
        }
        let sentence =
            "\(kind.fileName) was \(wasMissing ? "missing" : "damaged and renamed to \(lastComponent(of: aside))"); \(outcome)"
        logger.error("database.replaced", metadata: ["path": "\(path)", "error": "\(damage)", "result": "\(outcome)"])
        return Opened(try connect(kind, path, willTakeLong), name: path, path: path, .replaced(sentence))
    }

    /// Opens the writing connection of a file with the schema of this version.
    ///
    /// - Throws: damage, or a refusal of a file that must not be changed.
    private static func connect(
        _ kind: DatabaseKind, _ path: String, _ willTakeLong: () -> Void
    ) throws -> sending Database {
        // SQLite would open a file that cannot be written, and fail at the first change.
        try Folder.makePrivateFile(path)
        if kind.isState, Folder.size(ofDatabase: path) >= largeFile { willTakeLong() }
        let database = try Database(path: path, .write)
        // Before the first write, including the journal mode, because some files must stay unchanged.
        let version = try inspect(kind, path, database)
        if version > 0, version != kind.version, !kind.isState {
            database.close()
            for suffix in ["", "-wal", "-shm", "-journal"] { unlink(path + suffix) }
            return try connect(kind, path, willTakeLong)
        }
        // The creation of a cache is not synced, because it is replaced after a crash of the machine.
        try database.execute("PRAGMA synchronous = \(kind.isState ? "FULL" : version == 0 ? "OFF" : "NORMAL")")
        // The log of a large import must not stay on disk.
        try database.execute("PRAGMA journal_size_limit = 1048576; PRAGMA journal_mode = WAL")
        if version != kind.version {
            if version > 0 {
                willTakeLong()
                try copy(path, to: "\(path).v\(version)")
            }
            try migrate(kind, path, from: version, database)
        }
        if !kind.isState { try database.execute("PRAGMA synchronous = NORMAL") }
        return database
    }

    /// The size from which the check of a file may take long on a slow disk, in bytes.
    private static let largeFile = 32 << 20

    /// Reads the version of a file without changing it.
    ///
    /// - Returns: 0 for an empty file.
    /// - Throws: damage, or a refusal of a file that must not be changed.
    private static func inspect(_ kind: DatabaseKind, _ path: String, _ database: Database) throws -> Int64 {
        let tables = Set(try database.map("SELECT ifnull(sql, '') FROM sqlite_schema") { try $0[0] as String })
        if tables.isEmpty { return 0 }
        let version: Int64 = try database.value("PRAGMA user_version") ?? 0
        let isOurs = try database.value("PRAGMA application_id") == Int64(kind.applicationID)
        let hasOurTables = !tables.isDisjoint(with: kind.schema)
        guard isOurs || hasOurTables else { throw StoreError(path: path, .foreign) }
        // A higher version than plausible is a damaged byte, not a newer norrisd.
        guard isOurs, 1...10_000 ~= version else { throw DatabaseError.damaged("the header of the file") }
        if version == kind.version {
            guard tables.isSuperset(of: kind.schema) else { throw DatabaseError.damaged("the schema of the file") }
        } else if version > kind.version {
            throw StoreError(
                path: path,
                .newerSchema(found: version, known: kind.version, alternative: alternative(kind, toNewer: path)))
        }
        if kind.isState { try check(database, "quick_check") }
        return version
    }

    /// Describes how this version can be used although a newer version has written the file.
    private static func alternative(_ kind: DatabaseKind, toNewer path: String) -> String {
        guard kind.isState else { return "delete it, because its content is fetched again" }
        let copy = "\(path).v\(kind.version)"
        guard Folder.size(of: copy) > 0 else { return "give another folder" }
        return "restore \(copy), the copy of before the upgrade (norrisd(8), UPGRADES)"
    }

    /// Creates or updates the schema in one transaction, so that a failure leaves the version of before.
    private static func migrate(
        _ kind: DatabaseKind, _ path: String, from version: Int64, _ database: Database
    ) throws {
        do {
            try database.write { database in
                let migration = kind.migrations[version] ?? ("", "")
                try database.execute(migration.before)
                let tables = try database.map("SELECT ifnull(sql, '') FROM sqlite_schema") { try $0[0] as String }
                for statement in kind.schema where !tables.contains(statement) { try database.execute(statement) }
                try database.execute(migration.after)
                try database.execute(
                    "PRAGMA application_id = \(kind.applicationID); PRAGMA user_version = \(kind.version)")
            }
        } catch let error as DatabaseError
            where version > 0 && [SQLITE_ERROR, SQLITE_CONSTRAINT].contains(error.resultCode)
        {
            throw StoreError(path: path, .failedMigration(from: version, to: kind.version, error.message))
        }
    }

    /// Reads the whole file.
    ///
    /// - Throws: damage.
    private static func check(_ database: Database, _ pragma: String) throws {
        var verdict: String?
        // Twice, because the check also calls a page damaged for which it has no memory.
        for _ in 0..<2 {
            verdict = try database.value("PRAGMA \(pragma)(1)")
            if verdict == "ok" { return }
        }
        throw DatabaseError.damaged(verdict ?? "no result of \(pragma)")
    }

    private static func readOnly(_ kind: DatabaseKind, _ path: String, _ detail: String) -> Opened? {
        // Without permission to write, SQLite cannot create the log's index, so it must ignore the log (SQLite, "Uniform
        // Resource Identifiers": immutable). That is correct only for an empty log.
        let names = [path] + (Folder.size(of: path + "-wal") == 0 ? [Folder.uri(path, "immutable=1")] : [])
        for name in names where Folder.size(of: path) > 0 {
            guard let database = try? Database(path: name, .read),
                (try? inspect(kind, path, database)) == kind.version
            else { continue }
            return Opened(database, name: name, path: path, .readOnly(detail))
        }
        return nil
    }

    private static func inMemory(_ kind: DatabaseKind, _ detail: String) -> Opened {
        do {
            let database = try Database(path: ":memory:", .write)
            try migrate(kind, kind.fileName, from: 0, database)
            return Opened(database, name: nil, .inMemory(detail))
        } catch {
            // The schema is applied to an empty database in memory, which fails only with a faulty build or without
            // memory.
            fatalError("SQLite cannot create a database in memory: \(error)")
        }
    }
}

// MARK: - Copies

extension DatabaseFile {
    /// Checks a database and copies it into a temporary file, which replaces the file with the name of the copy.
    ///
    /// - Throws: damage, `CancellationError`.
    private static func copy(
        _ path: String, to copy: String, within limit: Duration? = nil, isCancelled: Cancellation = Cancellation()
    ) throws {
        let temporary = copy + ".new"
        unlink(temporary)
        defer { unlink(temporary) }
        let source = try Database(path: path, .read)
        try source.interruptible(by: [isCancelled], limit: limit) { source in
            try check(source, "integrity_check")
            // SQLite accepts an empty file, and keeps its mode.
            try Folder.makePrivateFile(temporary)
            try source.execute("VACUUM INTO ?", [temporary])
        }
        try Folder.replace(copy, by: temporary)
    }

    /// Makes a database from a copy, unless the copy is damaged or of another program or version.
    private static func restore(_ kind: DatabaseKind, _ copy: String, to path: String) throws {
        _ = try inspect(kind, copy, Database(path: copy, .read))
        try DatabaseFile.copy(copy, to: path)
    }
}

extension DatabaseError {
    /// The error in a status, without the statement.
    ///
    /// - Parameter path: the path of the database.
    func summary(path: String) -> String {
        let summary = "\(message) (SQLite error \(extendedResultCode))"
        // A full disk causes several errors, of which only SQLITE_FULL names the reason.
        guard resultCode != SQLITE_FULL, Folder.freeBytes(besides: path) == 0 else { return summary }
        return summary + ": the disk is full"
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
