import CSQLite
import Glibc
import Logging
import NorrisProtocol
import NorrisSystem
import NorrisThreads
import Synchronization

/// One of the two databases, in one of three conditions: on disk, read-only, or in memory.
///
/// There is one rule for damage, wherever it is found: the file is renamed to `NAME.damaged`, the last copy of the
/// state or an empty cache takes its place, and the read or write that met the damage is repeated on it. A file that
/// was deleted while it is open counts as damaged. Nothing takes the place of a file that could not be replaced
/// completely.
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

    /// The failed writes since the last write of their size.
    private struct FailedWrites {
        /// The reason of the last one, until the disk accepts that size again.
        var reason: String?
        /// The most bytes that one of them had written.
        var bytes = 0
        var count = 0
    }

    private struct State {
        var opened: Opened
        var failed = FailedWrites()
        /// The number of calls of ``heal(_:)`` that try nothing.
        var healsToSkip = 0
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
    let changes = Callback()

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
        state = Mutex(State(opened: try await DatabaseFile.open(kind, path, logger, willTakeLong: willTakeLong)))
    }

    var condition: Condition { state.withLock { $0.opened.condition } }
    var writeFailure: String? { state.withLock { $0.failed.reason } }
    /// Whether the file cannot be written now.
    var isFailing: Bool { state.withLock { $0.failed.reason != nil || !$0.opened.condition.isWritable } }
    /// Changes with each replacement of the file.
    var generation: Int { state.withLock { $0.generation } }

    /// Closes all connections after the running work.
    func close() async {
        let pool = state.withLock { state in
            state.isClosed = true
            return state.opened.pool
        }
        await pool.close()
        await BackgroundThreads.background.run { [self] _ in
            // SQLite leaves the log of a file that is not at its path, and would apply it to the other file.
            if place == .replaced { for suffix in ["-wal", "-shm"] { unlink(path + suffix) } }
        }
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
                    switch place {
                    case .unchanged: break
                    case .deleted: throw DatabaseFile.deleted
                    case .replaced: throw DatabaseFile.displaced
                    }
                    let before = database.totalChangesCount
                    let value = try body(database)
                    // A write without changes does not show that the disk accepts writes.
                    if database.totalChangesCount > before {
                        database.afterCommit { self.noteWrite(of: database.bytesWritten) }
                    }
                    return value
                }
            }
        } catch {
            noteWriteFailure(error)
            throw error
        }
    }

    private func repeatAfterDamage<Value>(_ body: (DatabasePool) async throws -> Value) async throws -> Value {
        let pool = state.withLock { $0.opened.pool }
        do { return try await body(pool) } catch  where DatabaseError.isDamage(error) {
            guard let replaced = await replace(pool, because: "\(error)") else { throw error }
            return try await body(replaced)
        }
    }

    private func noteWrite(of bytes: Int, isProbe: Bool = false) {
        let hadFailed = state.withLock { state in
            state.hasChanged = state.hasChanged || !isProbe
            // A small write does not show that the disk accepts a large one.
            guard bytes >= state.failed.bytes else { return false }
            defer { if isProbe { state.failed.reason = nil } else { state.failed = FailedWrites() } }
            return state.failed.reason != nil
        }
        guard hadFailed else { return }
        logger.notice("database.writes-again", metadata: ["path": "\(path)"])
        changes.call()
    }

    /// Records a failed write, and logs it once until the disk accepts it.
    private func noteWriteFailure(_ error: any Error) {
        // A cancelled task and an error for the client say nothing about the disk.
        guard let error = error as? DatabaseError else { return }
        let summary = error.summary(path: path)
        let isNew = state.withLock { state in
            // A failure that follows from the condition is not another fault.
            guard state.opened.condition.isWritable, !state.isClosed else { return false }
            let isNew = state.failed.reason == nil
            state.failed.reason = summary
            state.failed.bytes = max(state.failed.bytes, error.bytesWritten)
            if isNew {
                // The probe has misled each time before, so it waits twice as long.
                state.failed.count += 1
                state.healsToSkip = 1 << min(state.failed.count - 1, 9)
            }
            return isNew
        }
        guard isNew else { return }
        logger.error("database.write-failed", metadata: ["path": "\(path)", "error": "\(error)"])
        changes.call()
    }

    /// The file at the path, in relation to the open file.
    enum Place { case unchanged, deleted, replaced }

    /// Blocking.
    var place: Place {
        guard let identity = state.withLock({ $0.opened.identity }) else { return .unchanged }
        guard let found = Folder.identity(of: path) else { return Folder.isMissing(path) ? .deleted : .unchanged }
        if found == identity { return .unchanged }
        // Only a state with content may be a backup that an administrator restores.
        return kind.isState && Folder.size(of: path) > 0 ? .replaced : .deleted
    }

    private static let deleted = DatabaseError.damaged("the file was deleted while norrisd was running")
    private static let displaced = DatabaseError(
        SQLITE_READONLY | 4 << 8,  // SQLITE_READONLY_DBMOVED
        message: "another file took its place while norrisd was running, which is used after a restart of norrisd")

    // MARK: Healing

    /// Replaces a damaged file, unless another call has done so.
    ///
    /// - Returns: the pool to use now; nil if the database is closed or the file must not be replaced.
    private func replace(_ broken: DatabasePool, because reason: String) async -> DatabasePool? {
        await reopen(where: { $0.opened.pool === broken }) { [self] () async throws(StoreError) -> Opened? in
            let identity = state.withLock { $0.opened.identity }
            if await BackgroundThreads.starting.run({ [self] _ in place }) == .replaced { return nil }
            // SQLite removes the log of a closed database by its name, so the old file is closed first.
            await broken.close(isReplaced: true)
            return try await DatabaseFile.open(
                kind, path, logger, damage: (reason, identity), isStart: false)
        }
    }

    /// Opens the file again if the condition of before allows it.
    private func reopen(
        where isBroken: (State) -> Bool, _ open: () async throws(StoreError) -> Opened?
    ) async -> DatabasePool? {
        guard await reopening.lock() else { return nil }
        defer { reopening.unlock() }
        guard state.withLock({ isBroken($0) && !$0.isClosed }) else {
            return state.withLock { $0.isClosed ? nil : $0.opened.pool }
        }
        guard let opened = try? await open() else { return nil }
        let isClosed = state.withLock { state in
            state.opened = opened
            (state.failed, state.healsToSkip, state.hasChanged) = (FailedWrites(), 0, true)
            state.generation += 1
            return state.isClosed
        }
        changes.call()
        // Closed in the meantime.
        if isClosed { await opened.pool.close() }
        return isClosed ? nil : opened.pool
    }

    /// Tries to use the disk again after a failure, and replaces a deleted file. Called from time to time.
    func heal(_ place: Place) async {
        let (opened, failed) = state.withLock { ($0.opened, $0.failed) }
        // Gives the space of a failed write to the other database.
        if failed.reason != nil { await opened.pool.truncateLog() }
        let mayTry = state.withLock { state in
            defer { state.healsToSkip = max(state.healsToSkip - 1, 0) }
            return state.healsToSkip == 0
        }
        switch place {
        case .deleted: _ = await replace(opened.pool, because: DatabaseFile.deleted.message)
        case .replaced: noteWriteFailure(DatabaseFile.displaced)
        case .unchanged where !mayTry: break
        case .unchanged where !opened.condition.isWritable: await retry(opened)
        case .unchanged where failed.reason != nil:
            // Twice the size, so that writes that fail again soon exceed the space.
            let bytes = max(2 * failed.bytes, DatabaseFile.smallestProbe)
            _ = try? await opened.pool.write { [self] database in
                guard Folder.canWrite(bytes, beside: path) else { throw DatabaseError(SQLITE_FULL) }
                try database.execute("PRAGMA user_version = \(kind.version)")
                database.afterCommit { self.noteWrite(of: bytes, isProbe: true) }
            }
        case .unchanged: break
        }
    }

    /// The free space from which a disk is not full, in bytes.
    private static let smallestProbe = 64 << 10

    /// Opens a file again that could not be written.
    private func retry(_ old: Opened) async {
        guard old.mayHeal else { return }
        _ = await reopen(where: { $0.opened.pool === old.pool }) { [self] () async throws(StoreError) -> Opened? in
            let opened = await BackgroundThreads.starting.run { [self] _ -> Opened? in
                // A large file is not read again while the disk is full, and else less often.
                guard (try? Folder.make(Folder.parent(of: path))) != nil,
                    Folder.canWrite(DatabaseFile.smallestProbe, beside: path)
                else { return nil }
                state.withLock { $0.healsToSkip = Folder.size(ofDatabase: path) / DatabaseFile.largeFile }
                return try? DatabaseFile.onDisk(kind, path, logger, damage: old.damage)
            }
            guard let opened else { return nil }
            await old.pool.close(isReplaced: true)
            return opened
        }
    }

    // MARK: The copy

    /// Makes `state.db.bak`, so that it contains all changes until now.
    ///
    /// - Parameter limit: the time after which an unfinished copy is given up.
    func backUp(within limit: Duration?, isCancelled: Cancellation) async {
        let (pool, isNeeded) = state.withLock { ($0.opened.pool, $0.opened.condition.isWritable && $0.hasChanged) }
        guard isNeeded else { return }
        let copied = await BackgroundThreads.background.run { [self] _ -> Result<Void, any Error> in
            // Another file at the path is not the database.
            guard place == .unchanged else { return .success(()) }
            state.withLock { $0.hasChanged = false }
            return Result {
                if case .refused(let refusal) = DatabaseFile.examine(kind, path + ".bak", .read, check: nil) {
                    throw refusal
                }
                try DatabaseFile.copy(path, to: path + ".bak", within: limit, isCancelled: isCancelled)
            }
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
    /// The damage of a file, which is known until the file is replaced.
    fileprivate typealias Damage = (reason: String, file: FileIdentity?)

    /// An open database.
    fileprivate struct Opened: Sendable {
        let pool: DatabasePool
        let condition: Condition
        /// The file of the pool.
        let identity: FileIdentity?
        /// The damage of the file that this database in memory represents.
        var damage: Damage?
        /// Whether another attempt can succeed without a restart.
        var mayHeal = true

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

    /// The result of an examination of a file.
    private enum Finding {
        /// The open database. Only a state has another version than this program's.
        case good(Database, version: Int64)
        /// A new file, or a cache of an older version, in place of which an empty database is made.
        case empty
        /// A file without tables that had some, because it has a copy.
        case missing
        case damaged(String)
        /// The file belongs to another program or version, and must stay unchanged.
        case refused(StoreError)
        /// The file cannot be opened or read, which says nothing about its content.
        case unavailable(any Error)
    }

    /// Opens a file and examines it. Only a file that can be used is changed, which then has a log.
    ///
    /// - Parameter check: the pragma that reads the whole file.
    private static func examine(
        _ kind: DatabaseKind, _ path: String, name: String? = nil, _ access: Database.Access,
        check: String? = "quick_check"
    ) -> sending Finding {
        do {
            if Folder.isMissing(path) { return .empty }
            let database = try Database(path: name ?? path, access)
            let tables = Set(try database.map("SELECT ifnull(sql, '') FROM sqlite_schema") { try $0[0] as String })
            if tables.isEmpty { return kind.isState && Folder.size(of: path + ".bak") > 0 ? .missing : .empty }
            let version: Int64 = try database.value("PRAGMA user_version") ?? 0
            let isOurs = try database.value("PRAGMA application_id") == Int64(kind.applicationID)
            guard isOurs || !tables.isDisjoint(with: kind.schema) else {
                return .refused(StoreError(path: path, .foreign))
            }
            // A higher version than plausible is a damaged byte, not a newer norrisd.
            guard isOurs, 1...10_000 ~= version else { return .damaged("the header of the file") }
            if version > kind.version {
                let alternative = alternative(kind, toNewer: path)
                return .refused(
                    StoreError(
                        path: path, .newerSchema(found: version, known: kind.version, alternative: alternative)))
            }
            if version < kind.version, !kind.isState { return .empty }
            if version == kind.version, !tables.isSuperset(of: kind.schema) {
                return .damaged("the schema of the file")
            }
            // A migration begins with a file without damage.
            let pragma = version == kind.version ? check : "integrity_check"
            if kind.isState, let pragma { try DatabaseFile.check(database, pragma) }
            if access == .write {
                // The log of a large import must not stay on disk.
                try database.execute(
                    """
                    PRAGMA synchronous = \(kind.isState ? "FULL" : "NORMAL");
                    PRAGMA journal_size_limit = 1048576; PRAGMA journal_mode = WAL
                    """)
            }
            return .good(database, version: version)
        } catch {
            return DatabaseError.isDamage(error) ? .damaged("\(error)") : .unavailable(error)
        }
    }

    /// Opens a file on another thread; read-only or in memory if the disk cannot be used.
    ///
    /// - Parameters:
    ///   - damage: the reason to replace the file first.
    ///   - isStart: whether a refusal of a file is thrown.
    private static func open(
        _ kind: DatabaseKind, _ path: String, _ logger: Logger, damage: Damage? = nil, isStart: Bool = true,
        willTakeLong: @escaping @Sendable () -> Void = {}
    ) async throws(StoreError) -> Opened {
        try await BackgroundThreads.starting.run { _ throws(StoreError) -> Opened in
            do { return try onDisk(kind, path, logger, damage: damage, willTakeLong) } catch {
                let refusal = error as? StoreError
                if isStart, let refusal, refusal.reason.endsStart { throw refusal }
                let detail = (error as? DatabaseError)?.summary(path: path) ?? "\(error)"
                logger.error("database.unwritable", metadata: ["path": "\(path)", "error": "\(detail)"])
                var opened = (damage == nil ? readOnly(kind, path, detail) : nil) ?? inMemory(kind, detail)
                opened.damage = damage
                if case .failedMigration = refusal?.reason { opened.mayHeal = false }
                return opened
            }
        }
    }

    /// Opens a file for writing, after replacing it if necessary.
    ///
    /// - Throws: a refusal, or the reason why nothing was changed.
    private static func onDisk(
        _ kind: DatabaseKind, _ path: String, _ logger: Logger, damage: Damage?,
        _ willTakeLong: @Sendable () -> Void = {}
    ) throws -> Opened {
        if let owner = Folder.foreignOwner(of: path) {
            throw StoreError(path: path, .notWritable("it belongs to user \(owner)"))
        }
        try Folder.make(Folder.parent(of: path))
        // Another file than the damaged one may be at the path now.
        let isDamaged = damage != nil && Folder.identity(of: path) == damage?.file
        // SQLite would open a file that cannot be written, and fail at the first change.
        try Folder.makePrivateFile(path)
        if kind.isState, Folder.size(ofDatabase: path) >= largeFile { willTakeLong() }
        let reason = damage?.reason ?? "the file is missing"
        var (finding, condition) = (isDamaged ? .damaged(reason) : examine(kind, path, .write), Condition.good)
        switch finding {
        case .good: break
        case .empty where damage == nil: _ = try put(kind, path)
        case .empty, .missing: condition = try .replaced(kind, path, "missing", reason, put(kind, path), logger)
        case .damaged(let reason):
            let problem = "damaged and renamed to \(kind.fileName).damaged"
            condition = try .replaced(kind, path, problem, reason, put(kind, path, setsAside: true), logger)
        case .refused(let error): throw error
        case .unavailable(let error): throw error
        }
        if case .good = finding {} else { finding = examine(kind, path, .write, check: nil) }
        if case .unavailable(let error) = finding { throw error }
        guard case .good(let database, let version) = finding else { throw DatabaseError.damaged("the new file") }
        if version != kind.version {
            willTakeLong()
            try copy(path, to: "\(path).v\(version)")
            try migrate(kind, path, from: version, database)
        }
        return Opened(database, name: path, path: path, condition)
    }

    /// The size from which the check of a file may take long on a slow disk, in bytes.
    private static let largeFile = 32 << 20

    /// Puts the last copy of the state, or an empty database, in the place of a file. All files stay as they are until
    /// the new one is complete.
    ///
    /// - Parameter setsAside: whether the old file is renamed, and not replaced.
    /// - Returns: the time of the copy; nil for an empty database.
    private static func put(_ kind: DatabaseKind, _ path: String, setsAside: Bool = false) throws -> Timestamp? {
        let (new, copy, aside) = (path + ".new", path + ".bak", path + ".damaged")
        let files = ["", "-wal", "-shm"].map { new + $0 }
        for file in files { unlink(file) }
        defer { for file in files { unlink(file) } }
        let finding = kind.isState ? examine(kind, copy, .read, check: "integrity_check") : .empty
        switch finding {
        case .good(let database, _): try write(database, to: new)
        case .empty, .missing, .damaged: try create(kind, new)
        case .refused(let error): throw error
        case .unavailable(let error): throw error
        }
        let madeAt: Timestamp? = if case .good = finding { Folder.modificationTime(of: copy) } else { nil }
        if case .damaged = finding { try Folder.rename(copy, to: copy + ".damaged") }
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

    private static func create(_ kind: DatabaseKind, _ path: String) throws {
        try Folder.makePrivateFile(path)
        let database = try Database(path: path, .write)
        // The complete file is synced.
        try database.execute("PRAGMA synchronous = OFF; PRAGMA journal_mode = WAL")
        try migrate(kind, path, from: 0, database)
        // The end of the connection does so too, and reports no failure.
        try database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        database.close()
    }

    /// Describes how this version can be used although a newer version has written the file.
    private static func alternative(_ kind: DatabaseKind, toNewer path: String) -> String {
        guard kind.isState else { return "delete it, because its content is fetched again" }
        if path.hasSuffix(".bak") { return "move it away" }
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
        // Without permission to write, SQLite cannot create the log's index, so it must ignore the log (SQLite,
        // "Uniform Resource Identifiers": immutable). That is correct only for an empty log.
        let names = [path] + (Folder.size(of: path + "-wal") == 0 ? [Folder.uri(path, "immutable=1")] : [])
        for name in names where Folder.size(of: path) > 0 {
            guard case .good(let database, kind.version) = examine(kind, path, name: name, .read) else { continue }
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
        try Database(path: path, .read).interruptible(by: [isCancelled], limit: limit) { source in
            try check(source, "integrity_check")
            try write(source, to: temporary)
        }
        try Folder.replace(copy, by: temporary)
    }

    private static func write(_ source: Database, to path: String) throws {
        // SQLite accepts an empty file, and keeps its mode.
        try Folder.makePrivateFile(path)
        try source.execute("VACUUM INTO ?", [path])
    }
}

extension DatabaseFile.Condition {
    /// The condition of a new file.
    ///
    /// - Parameter madeAt: the time of the copy; nil for an empty database.
    fileprivate static func replaced(
        _ kind: DatabaseKind, _ path: String, _ problem: String, _ reason: String, _ madeAt: Timestamp?,
        _ logger: Logger
    ) -> Self {
        let outcome =
            madeAt.map { "the copy of \($0) took its place" }
            ?? (kind.isState ? "it starts empty, because there is no usable copy" : "everything is fetched again")
        logger.error("database.replaced", metadata: ["path": "\(path)", "error": "\(reason)", "result": "\(outcome)"])
        return .replaced("\(kind.fileName) was \(problem); \(outcome)")
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
