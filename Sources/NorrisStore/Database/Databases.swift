import CSQLite
import Glibc
package import Logging
import NorrisProtocol
import Synchronization

/// The two databases of the daemon, and what is wrong with them.
///
/// Failures of reads and writes are logged and noted here, and thrown as the caller's kind of error.
package final class Databases: Sendable {
    /// What is read and written.
    enum Content: CaseIterable { case state, facts, gifs, posts }

    let state: OpenedDatabase
    let logger: Logger
    private let cacheFolder: String?
    private let openedCache: Mutex<CacheDatabase>
    /// What last failed to be written, and why, until it succeeds.
    private let writeFailures = Mutex<[Content: String]>([:])
    /// What was found wrong with the cache's file since it was opened.
    private let cacheDamage = Mutex<String?>(nil)
    private let lostState = Atomic(false)
    private let faultsListener = Mutex<@Sendable () -> Void>({})
    private let damageListener = Mutex<@Sendable () -> Void>({})

    /// Opens both, and creates what is missing.
    ///
    /// - Parameters:
    ///   - cacheFolder: nil for a cache in memory.
    ///   - stateFolder: nil for a state in memory.
    ///   - willTakeLong: called before each step that may take longer than a start usually does.
    /// - Throws: for a file of a newer norrisd or of another program, which is left untouched.
    package init(
        cacheFolder: String?, stateFolder: String?, logger: Logger, willTakeLong: () -> Void = {}
    ) throws(StoreError) {
        state = try OpenedDatabase.open(.state, folder: stateFolder, logger: logger, willTakeLong: willTakeLong)
        let cache = try OpenedDatabase.open(.cache, folder: cacheFolder, logger: logger, willTakeLong: willTakeLong)
        openedCache = Mutex(CacheDatabase(cache, logger))
        self.cacheFolder = cacheFolder
        self.logger = logger
    }

    var cache: CacheDatabase { openedCache.withLock { $0 } }
    func opened(_ content: Content) -> OpenedDatabase { content == .state ? state : cache.opened }

    /// Closes both, with their write-ahead logs written back.
    package func close() {
        try? state.close()
        try? cache.opened.close()
    }

    // MARK: Reading and writing

    /// How long a search may take.
    static let searchLimit = Duration.seconds(1)

    /// Reads one state of the database that holds the content.
    ///
    /// - Parameter limit: how long the body may take; ``searchLimit`` for what reads all rows.
    /// - Throws: `-32005`, `-32004` when the limit passes, and a response that the body throws.
    func read<Value: Sendable>(
        _ content: Content, within limit: Duration? = nil, _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(ResponseError) -> Value {
        do { return try await opened(content).writer.read(within: limit, body) } catch { throw readFailure(error, content) }
    }

    /// The same on the calling thread.
    func read<Value>(_ content: Content, _ body: (Database) throws -> Value) throws(ResponseError) -> Value {
        do { return try opened(content).writer.read(body) } catch { throw readFailure(error, content) }
    }

    /// Changes the database that holds the content: all of it, or nothing where the body throws.
    ///
    /// - Throws: `failed` or `cancelled`.
    func write<Value: Sendable>(
        _ content: Content, _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(StoreError) -> Value {
        do {
            return try await opened(content).writer.write { [self] in try noting(content, body, $0) }
        } catch {
            throw writeFailure(error, content)
        }
    }

    /// The same on the calling thread.
    func write<Value>(_ content: Content, _ body: (Database) throws -> Value) throws(StoreError) -> Value {
        do {
            return try opened(content).writer.write { try noting(content, body, $0) }
        } catch {
            throw writeFailure(error, content)
        }
    }

    /// Changes the state for a request, in memory where there is no disk.
    ///
    /// - Throws: `-32005`, and a response that the body throws.
    func writeState<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(ResponseError) -> Value {
        do {
            return try await state.writer.write { [self] in try noting(.state, body, $0) }
        } catch let error as ResponseError {
            throw error
        } catch is CancellationError {
            throw .shuttingDown
        } catch {
            noteWriteFailure(error, of: .state)
            throw .storage("Favorites and other state cannot be written now.", hint: "See why: norrisctl status")
        }
    }

    /// Changes the state for a request; the change is on the disk when this returns.
    ///
    /// - Throws: `-32005`, also where the change would be lost with the process; and a response that the body throws.
    func changeState<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(ResponseError) -> Value {
        if case .inMemory = state.condition {
            throw .storage("The state is in memory only and would be lost.", hint: "See why: norrisctl status")
        }
        checkState()
        guard !isStateLost else {
            throw .storage("state.db was deleted while norrisd was running.", hint: "Restart norrisd.")
        }
        return try await writeState(body)
    }

    private func readFailure(_ error: any Error, _ content: Content) -> ResponseError {
        switch error {
        case let error as ResponseError: return error
        case is CancellationError: return .shuttingDown
        case let error as DatabaseError where error.isTimeLimit:
            return .busy("The search took too long.", hint: "Search for a longer or rarer text.")
        default:
            noteDamage(error, of: content)
            logger.error("database.unreadable", metadata: ["content": "\(content)", "error": "\(error)"])
            let name = content == .state ? "state" : "cache"
            return .storage("The \(name) cannot be read now.", hint: "The daemon's log says why.")
        }
    }

    /// Runs the body of a write. One without changes has not shown that the disk takes writes.
    private func noting<Value>(
        _ content: Content, _ body: (Database) throws -> Value, _ database: Database
    ) throws -> Value {
        let before = database.totalChangesCount
        let value = try body(database)
        if database.totalChangesCount > before { database.afterCommit { [self] in noteWriteSuccess(of: content) } }
        return value
    }

    private func writeFailure(_ error: any Error, _ content: Content) -> StoreError {
        let opened = opened(content)
        let path = opened.path ?? "\(opened.kind.fileName) in memory"
        // A cancelled task says nothing about the disk.
        if error is CancellationError { return StoreError(path: path, .cancelled) }
        noteWriteFailure(error, of: content)
        return StoreError(path: path, .failed("\(error)"))
    }

    // MARK: What is wrong

    /// - Parameter body: called, from any thread, when ``faults`` may have changed by a write or by ``checkState()``.
    package func onFaultsChange(_ body: @escaping @Sendable () -> Void) { faultsListener.withLock { $0 = body } }

    /// - Parameter body: called, from any thread, when the cache is found to be damaged (``recreateLostCache()``).
    package func onDamage(_ body: @escaping @Sendable () -> Void) { damageListener.withLock { $0 = body } }

    /// What is wrong with the databases, a sentence each; empty where all is well.
    package var faults: [String] {
        var faults: [String] = []
        var failures = writeFailures.withLock { $0 }
        for opened in [state, cache.opened] {
            let name = opened.kind.fileName
            switch opened.condition {
            case .good: break
            case .quarantined(let path): faults.append("A damaged database was quarantined as \(path)")
            case .readOnly(let detail):
                faults.append("\(name) is read-only: \(detail)")
                // What fails for that is no further fault.
                failures = failures.filter { ($0.key == .state) != opened.kind.isDurable }
            case .inMemory(let detail): faults.append("\(name) is in memory: \(detail)")
            }
        }
        if isStateLost { faults.append("\(state.kind.fileName) was deleted under the daemon: restart it") }
        if let detail = failures[.state] { faults.append("The state takes no writes: \(detail)") }
        if let detail = Content.allCases.dropFirst().lazy.compactMap({ failures[$0] }).first {
            faults.append("The cache takes no writes: \(detail)")
        }
        return faults
    }

    /// Whether something cannot be written now.
    package var isReadOnly: Bool {
        !state.condition.isWritable || !cache.opened.condition.isWritable || isStateLost
            || writeFailures.withLock { !$0.isEmpty }
    }

    /// Bytes on disk.
    package var sizes: (cache: Int, state: Int) { (cache.sizeOnDisk, state.sizeOnDisk) }

    /// Bytes that may still be written, on the file system that has less; nil where neither database is on a disk.
    package var freeBytes: Int? {
        [cache.opened.path, state.path].compactMap { $0.flatMap(Folder.freeBytes(besides:)) }.min()
    }

    /// A write failed; logged once, until one succeeds again.
    func noteWriteFailure(_ error: any Error, of content: Content) {
        noteDamage(error, of: content)
        let summary = DatabaseError.summary(of: error, path: opened(content).path)
        guard writeFailures.withLock({ $0.updateValue(summary, forKey: content) }) == nil else { return }
        logger.error("database.write-failed", metadata: ["content": "\(content)", "error": "\(error)"])
        faultsListener.withLock { $0 }()
    }

    /// A write succeeded.
    func noteWriteSuccess(of content: Content) {
        guard writeFailures.withLock({ $0.removeValue(forKey: content) }) != nil else { return }
        logger.notice("database.writes-again", metadata: ["content": "\(content)"])
        faultsListener.withLock { $0 }()
    }

    // MARK: Upkeep

    /// Returns unused space to the file system; blocking.
    package func releaseFreePages() {
        for opened in [state, cache.opened] {
            do {
                try opened.releaseFreePages()
            } catch {
                let metadata: Logger.Metadata = ["path": "\(opened.path ?? "")", "error": "\(error)"]
                logger.warning("database.not-shortened", metadata: metadata)
            }
        }
    }

    /// Reads the whole cache, which takes long where it is large, and notes damage. Blocking.
    package func checkCache() {
        do {
            try cache.writer.read { try OpenedDatabase.check($0) }
        } catch {
            noteDamage(error, of: .facts)
            if cacheDamage.withLock({ $0 == nil }) { logger.error("cache.unreadable", metadata: ["error": "\(error)"]) }
        }
    }

    /// Notes damage of the cache's file, where the error says so.
    private func noteDamage(_ error: any Error, of content: Content) {
        guard content != .state, DatabaseError.isCorruption(error) else { return }
        cacheDamage.withLock { $0 = "\(error)" }
        damageListener.withLock { $0 }()
    }

    /// Whether the cache's file was deleted under us, or found to be damaged.
    package var isCacheLost: Bool { cache.opened.isDeleted || cacheDamage.withLock { $0 != nil } }

    /// Recreates the cache if it is lost; a damaged file is quarantined.
    ///
    /// - Returns: whether that was so; the caller fills it again.
    package func recreateLostCache() -> Bool {
        guard isCacheLost, let path = cache.opened.path else { return false }
        do {
            let new: OpenedDatabase
            if let damage = cacheDamage.withLock({ $0 }) {
                new = OpenedDatabase.recreate(.cache, path, damage, logger)
            } else {
                // The old file's log and index; a new file must not share them with connections still open.
                unlink(path + "-wal")
                unlink(path + "-shm")
                new = try OpenedDatabase.open(.cache, folder: cacheFolder, logger: logger)
            }
            replaceCache(with: new)
            cacheDamage.withLock { $0 = nil }
            logger.notice("cache.recreated", metadata: ["path": "\(new.path ?? "")"])
            return true
        } catch {
            logger.error("cache.not-recreated", metadata: ["error": "\(error)"])
            return false
        }
    }

    /// Continues with a cache in memory: the disk did not take the facts, and there is nothing on it.
    ///
    /// - Returns: whether the cache was on a disk.
    func replaceCacheByMemory() -> Bool {
        guard cache.opened.path != nil, let detail = writeFailures.withLock({ $0[.facts] }) else { return false }
        replaceCache(with: .inMemory(.cache, detail))
        logger.error("cache.in-memory", metadata: ["error": "\(detail)"])
        return true
    }

    private func replaceCache(with new: OpenedDatabase) {
        let old = cache.opened
        let cache = CacheDatabase(new, logger)
        openedCache.withLock { $0 = cache }
        // Readers that began on the old file end on it; a failure to close it costs a descriptor, no data.
        try? old.close()
    }

    /// Whether the state's file was found to be deleted: what is written is lost with the process.
    private var isStateLost: Bool { lostState.load(ordering: .relaxed) }

    /// Checks whether the state's file was deleted or replaced under us. Then changes of the state that a request waits
    /// for are refused until a restart: to recreate the file would lose data silently.
    package func checkState() {
        guard state.isDeleted, !lostState.exchange(true, ordering: .relaxed) else { return }
        logger.error("state.deleted", metadata: ["path": "\(state.path ?? "")"])
        faultsListener.withLock { $0 }()
    }
}

/// Why a folder or a database cannot be used, with what to do about it.
package struct StoreError: Error, Equatable, CustomStringConvertible {
    package enum Reason: Equatable, Sendable {
        /// Another daemon uses the folder; its process id where it is known.
        case locked(pid: Int?)
        /// The file was written by a newer norrisd.
        case newerSchema(found: Int, known: Int)
        /// A database of another program.
        case foreign
        /// The folder or file cannot be created or written.
        case notWritable(String)
        /// A change failed, with SQLite's message.
        case failed(String)
        case cancelled
    }

    package let path: String
    package let reason: Reason

    package init(path: String, _ reason: Reason) {
        self.path = path
        self.reason = reason
    }

    package var description: String {
        switch reason {
        case .locked(let pid?):
            "\(path): the norrisd with process id \(pid) uses this folder; stop it, or give another --state-dir"
        case .locked(nil):
            "\(path): another norrisd uses this folder; stop it, or give another --state-dir"
        case .newerSchema(let found, let known):
            "\(path): written by a newer norrisd (schema \(found), this one knows \(known)); "
                + "it was left untouched: install that version again, or give another folder"
        case .foreign:
            "\(path): is a database of another program; it was left untouched: move it away, or give another folder"
        case .notWritable(let detail):
            "\(path): cannot be written (\(detail)); check the folder's owner and permissions, and the disk's space"
        case .failed(let detail):
            "\(path): could not be changed (\(detail)); check the disk, its space, and who owns the file"
        case .cancelled: "\(path): the change was cancelled, and nothing was written; try again"
        }
    }
}

extension DatabaseError {
    /// The error for a status: without the statement.
    ///
    /// - Parameter path: that of the database; nil in memory.
    static func summary(of error: any Error, path: String?) -> String {
        guard let error = error as? DatabaseError else { return "\(error)" }
        let summary = "\(error.message) (SQLite error \(error.extendedResultCode))"
        // A full disk shows itself in several errors, of which only SQLITE_FULL says so.
        guard error.resultCode != SQLITE_FULL, path.flatMap(Folder.freeBytes(besides:)) == 0 else { return summary }
        return summary + ": the disk is full"
    }
}
