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
        var opened: OpenDatabase
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
        state = Mutex(State(opened: try await kind.open(path, logger, willTakeLong: willTakeLong)))
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
        await reopen(broken) { [self] old in
            if await BackgroundThreads.starting.run({ [self] _ in place }) == .replaced { return nil }
            // SQLite removes the log of a closed database by its name, so the old file is closed first.
            await broken.close(isReplaced: true)
            return try? await kind.open(path, logger, damage: (reason, old.identity))
        }
    }

    /// Opens the file again, unless another call has done so.
    ///
    /// - Parameter open: returns nil if the open database stays.
    private func reopen(_ broken: DatabasePool, _ open: (OpenDatabase) async -> OpenDatabase?) async -> DatabasePool? {
        guard await reopening.lock() else { return nil }
        defer { reopening.unlock() }
        let (old, wasClosed) = state.withLock { ($0.opened, $0.isClosed) }
        guard !wasClosed else { return nil }
        guard old.pool === broken else { return old.pool }
        guard let opened = await open(old) else { return nil }
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
    private func retry(_ failed: OpenDatabase) async {
        guard failed.mayHeal else { return }
        _ = await reopen(failed.pool) { [self] old in
            let opened = await BackgroundThreads.starting.run { [self] _ -> OpenDatabase? in
                // A large file is not read again while the disk is full, and else less often.
                guard (try? Folder.make(Folder.parent(of: path))) != nil,
                    Folder.canWrite(DatabaseFile.smallestProbe, beside: path)
                else { return nil }
                state.withLock { $0.healsToSkip = Folder.size(ofDatabase: path) / DatabaseKind.largeFile }
                return try? kind.openOnDisk(path, logger, damage: old.damage)
            }
            if opened != nil { await old.pool.close(isReplaced: true) }
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
                do { _ = try kind.examine(path + ".bak", .read, check: nil) } catch let refusal as StoreError {
                    throw refusal
                } catch {
                    // A copy that cannot be read is replaced.
                }
                try Database.copy(path, to: path + ".bak", within: limit, isCancelled: isCancelled)
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
