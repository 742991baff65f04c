import CSQLite
import Glibc
package import Logging
import NorrisProtocol
package import NorrisThreads
import Synchronization

/// The databases of the daemon and their faults: the state, and three files of cached content.
///
/// Failed reads and writes are logged and recorded here, and thrown as the caller's kind of error.
package final class Databases: Sendable {
    /// The kinds of content, each with a separate file, so that no kind waits for a change of another.
    package enum Content: CaseIterable, Sendable {
        case state, facts, gifs, posts

        /// The content of the cache.
        package static let cached: [Content] = [.facts, .gifs, .posts]

        /// The content that is fetched from a source.
        package init(ofSource source: String) {
            self = source == FactStore.upstreamSource ? .facts : source == GifStore.source ? .gifs : .posts
        }

        var kind: DatabaseKind {
            switch self {
            case .state: .state
            case .facts: .facts
            case .gifs: .gifs
            case .posts: .posts
            }
        }
    }

    let state: OpenedDatabase
    let logger: Logger
    /// The longest time of a search.
    let searchLimit: Duration
    private let cacheFolder: String?
    private let caches: Mutex<[Content: CacheDatabase]>
    /// The reasons of the last failed writes, until a write succeeds.
    private let writeFailures = Mutex<[Content: String]>([:])
    /// The damage found in the files of the cache since they were opened.
    private let cacheDamage = Mutex<[Content: String]>([:])
    private let lostState = Atomic(false)
    private let measuredSpace = Mutex(Space())
    private let faultsListener = Listener()
    private let damageListener = Listener()

    /// Opens all files, and creates missing files.
    ///
    /// - Parameters:
    ///   - cacheFolder: nil for a cache in memory.
    ///   - stateFolder: nil for a state in memory.
    ///   - searchLimit: the longest time of a search.
    ///   - willTakeLong: called before each step that may take longer than a usual start.
    /// - Throws: for a file of a newer norrisd or of another program, which stays unchanged.
    package init(
        cacheFolder: String?, stateFolder: String?, searchLimit: Duration = .seconds(1), logger: Logger,
        _ access: BlockingAccess, willTakeLong: () -> Void = {}
    ) throws(StoreError) {
        state = try OpenedDatabase.open(.state, folder: stateFolder, logger: logger, access, willTakeLong: willTakeLong)
        var caches: [Content: CacheDatabase] = [:]
        for content in Content.cached {
            let opened = try OpenedDatabase.open(
                content.kind, folder: cacheFolder, logger: logger, access, willTakeLong: willTakeLong)
            caches[content] = CacheDatabase(opened, logger, access)
        }
        self.caches = Mutex(caches)
        self.cacheFolder = cacheFolder
        self.logger = logger
        self.searchLimit = searchLimit
        measureSpace(access)
    }

    /// The file of cached content.
    func cache(_ content: Content) -> CacheDatabase {
        // Not nil: each file is opened at the start, and replaced but never removed.
        caches.withLock { $0[content]! }
    }

    func opened(_ content: Content) -> OpenedDatabase { content == .state ? state : cache(content).opened }

    private var allOpened: [OpenedDatabase] { Content.allCases.map(opened) }

    /// Closes all files, and writes back their write-ahead logs.
    package func close(_ access: BlockingAccess) {
        for opened in allOpened { try? opened.close(access) }
    }

    // MARK: Reading and writing

    static let searchTimedOut = ResponseError.busy(
        "The search took too long.", hint: "Search for a longer or rarer text.")

    /// Reads one snapshot of the content's database.
    ///
    /// - Parameter limit: the longest time of the body; ``searchLimit`` for a scan of all rows.
    /// - Throws: `-32005`, `-32004` after the limit, and a response error of the body.
    func read<Value: Sendable>(
        _ content: Content, within limit: Duration? = nil, _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(ResponseError) -> Value {
        do { return try await opened(content).writer.read(within: limit, body) } catch {
            throw readFailure(error, content)
        }
    }

    /// Reads on the calling thread.
    func read<Value>(
        _ content: Content, _ access: BlockingAccess, _ body: (Database) throws -> Value
    ) throws(ResponseError) -> Value {
        do { return try opened(content).writer.read(access, body) } catch { throw readFailure(error, content) }
    }

    /// Reads on a separate connection, for which no request waits.
    func readApart<Value>(
        _ content: Content, _ access: BlockingAccess, _ body: (Database) throws -> Value
    ) throws -> Value {
        let opened = opened(content)
        // A database in memory has no other connection.
        guard let path = opened.path else { return try opened.writer.read(access, body) }
        let pool = try DatabasePool(path: path, .read, access)
        defer { try? pool.close(access) }
        return try pool.read(access, body)
    }

    /// Changes the content's database: completely, or not at all if the body throws.
    ///
    /// - Throws: `failed` or `cancelled`.
    func write<Value: Sendable>(
        _ content: Content, isCancellable: Bool = true, _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(StoreError) -> Value {
        do {
            return try await opened(content).writer.write(isCancellable: isCancellable) { [self] in
                try noting(content, body, $0)
            }
        } catch {
            throw writeFailure(error, content)
        }
    }

    /// Writes on the calling thread.
    func write<Value>(
        _ content: Content, _ access: BlockingAccess, _ body: (Database) throws -> Value
    ) throws(StoreError) -> Value {
        do {
            return try opened(content).writer.write(access) { try noting(content, body, $0) }
        } catch {
            throw writeFailure(error, content)
        }
    }

    /// Changes the state for a request; in memory without a disk.
    ///
    /// - Throws: `-32005`, and a response error of the body.
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

    /// Changes the state for a request; the change is on disk when this returns.
    ///
    /// - Throws: `-32005`, also if the change would be lost with the process; and a response error of the body.
    func changeState<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(ResponseError) -> Value {
        if case .inMemory = state.condition {
            throw .storage("The state is in memory only and would be lost.", hint: "See why: norrisctl status")
        }
        return try await writeState { [self] database in
            // Here on the connection's thread, because stat(2) may wait for a disk.
            checkState()
            guard !isStateLost else {
                throw ResponseError.storage("state.db was deleted while norrisd was running.", hint: "Restart norrisd.")
            }
            return try body(database)
        }
    }

    private func readFailure(_ error: any Error, _ content: Content) -> ResponseError {
        switch error {
        case let error as ResponseError: return error
        case is CancellationError: return .shuttingDown
        case let error as DatabaseError where error.isTimeLimit:
            return Databases.searchTimedOut
        default:
            noteDamage(error, of: content)
            logger.error("database.unreadable", metadata: ["content": "\(content)", "error": "\(error)"])
            let name = content == .state ? "state" : "cache"
            return .storage("The \(name) cannot be read now.", hint: "The daemon's log says why.")
        }
    }

    /// Runs the body of a write. A write without changes does not show that the disk accepts writes.
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
        if error is CancellationError { return StoreError(path: path, .cancelled) }
        noteWriteFailure(error, of: content)
        return StoreError(path: path, .failed("\(error)"))
    }

    // MARK: Faults

    /// - Parameter body: called on any thread when ``faults`` may have changed by a write or by ``checkState()``.
    package func onFaultsChange(_ body: @escaping @Sendable () -> Void) { faultsListener.set(body) }

    /// - Parameter body: called on any thread when damage of the cache is found (``recreateLostCaches(_:)``).
    package func onDamage(_ body: @escaping @Sendable () -> Void) { damageListener.set(body) }

    /// The faults of the databases, one sentence each.
    package var faults: [String] {
        var faults: [String] = []
        var failures = writeFailures.withLock { $0 }
        for opened in allOpened {
            let name = opened.kind.fileName
            // The files of the cache are in one folder, so a fault of the first is not repeated for the others.
            if opened.kind.fileName != state.kind.fileName, opened.kind.fileName != DatabaseKind.facts.fileName,
                !cache(.facts).opened.condition.isWritable, !opened.condition.isWritable
            {
                continue
            }
            switch opened.condition {
            case .good: break
            case .quarantined(let path, let salvage):
                faults.append("A damaged database was quarantined as \(path)\(salvage?.summary ?? "")")
            case .readOnly(let detail):
                faults.append("\(name) is read-only: \(detail)")
                // A failure that follows from this fault is not another fault.
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

    /// Whether a database cannot be written now.
    package var isReadOnly: Bool {
        !allOpened.allSatisfy(\.condition.isWritable) || isStateLost || writeFailures.withLock { !$0.isEmpty }
    }

    /// The bytes of the databases on disk, and the free bytes.
    package struct Space: Equatable, Sendable {
        package var cache = 0
        package var state = 0
        /// The free bytes for this user, on the fuller of the file systems; nil if no database is on a disk.
        package var free: Int?
    }

    /// The result of the last ``measureSpace(_:)``. From memory, for callers that must not wait for a file system.
    package var space: Space { measuredSpace.withLock { $0 } }

    /// Reads sizes and free bytes from the file systems.
    package func measureSpace(_ access: BlockingAccess) {
        let space = Space(cache: sizes.cache, state: sizes.state, free: freeBytes)
        measuredSpace.withLock { $0 = space }
    }

    /// The bytes on disk. Blocking.
    var sizes: (cache: Int, state: Int) { (Content.cached.map { cache($0).sizeOnDisk }.reduce(0, +), state.sizeOnDisk) }

    /// The free bytes for this user, on the fuller of the file systems. Blocking.
    var freeBytes: Int? { allOpened.map(\.path).compactMap { $0.flatMap(Folder.freeBytes(besides:)) }.min() }

    /// Records a failed write, and logs it once until a write succeeds.
    func noteWriteFailure(_ error: any Error, of content: Content) {
        // A cancelled task says nothing about the disk.
        if error is CancellationError { return }
        noteDamage(error, of: content)
        let summary = DatabaseError.summary(of: error, path: opened(content).path)
        guard writeFailures.withLock({ $0.updateValue(summary, forKey: content) }) == nil else { return }
        logger.error("database.write-failed", metadata: ["content": "\(content)", "error": "\(error)"])
        faultsListener.notify()
    }

    /// Records a successful write.
    func noteWriteSuccess(of content: Content) {
        guard writeFailures.withLock({ $0.removeValue(forKey: content) }) != nil else { return }
        logger.notice("database.writes-again", metadata: ["content": "\(content)"])
        faultsListener.notify()
    }

    // MARK: Upkeep

    /// Returns unused space to the file system. Blocking.
    package func releaseFreePages(_ access: BlockingAccess) {
        for opened in allOpened {
            do {
                try opened.releaseFreePages(access)
            } catch {
                let metadata: Logger.Metadata = ["path": "\(opened.path ?? "")", "error": "\(error)"]
                logger.warning("database.not-shortened", metadata: metadata)
            }
        }
    }

    /// Reads the whole cache, which takes long for a large cache, and records damage. Blocking.
    package func checkCache(_ access: BlockingAccess) {
        for content in Content.cached {
            do {
                try opened(content).writer.read(access) { try OpenedDatabase.check($0) }
            } catch {
                noteDamage(error, of: content)
                guard cacheDamage.withLock({ $0[content] == nil }) else { continue }
                logger.error("cache.unreadable", metadata: ["content": "\(content)", "error": "\(error)"])
            }
        }
    }

    /// Records damage of a file of the cache, if the error is a corruption.
    func noteDamage(_ error: any Error, of content: Content) {
        guard content != .state, DatabaseError.isCorruption(error) else { return }
        cacheDamage.withLock { $0[content] = "\(error)" }
        damageListener.notify()
    }

    /// Recreates the files of the cache that were deleted or are damaged; a damaged file is quarantined.
    ///
    /// - Returns: the lost content, which the caller must refill.
    package func recreateLostCaches(_ access: BlockingAccess) -> Set<Content> {
        Set(Content.cached.filter { recreateIfLost($0, access) })
    }

    /// Whether a file of the cache was deleted or is damaged.
    func isLost(_ content: Content, _: BlockingAccess) -> Bool {
        cacheDamage.withLock { $0[content] != nil } || opened(content).isDeleted
    }

    private func recreateIfLost(_ content: Content, _ access: BlockingAccess) -> Bool {
        guard isLost(content, access), let path = opened(content).path else { return false }
        do {
            let new: OpenedDatabase
            if let damage = cacheDamage.withLock({ $0[content] }) {
                new = OpenedDatabase.recreate(content.kind, path, damage, logger, access)
            } else {
                // The old file's log and index, which a new file must not share with connections that are still open.
                unlink(path + "-wal")
                unlink(path + "-shm")
                new = try OpenedDatabase.open(content.kind, folder: cacheFolder, logger: logger, access)
            }
            replace(content, with: new, access)
            cacheDamage.withLock { $0[content] = nil }
            logger.notice("cache.recreated", metadata: ["path": "\(new.path ?? "")"])
            return true
        } catch {
            logger.error("cache.not-recreated", metadata: ["error": "\(error)"])
            return false
        }
    }

    private func replace(_ content: Content, with new: OpenedDatabase, _ access: BlockingAccess) {
        let old = opened(content)
        let cache = CacheDatabase(new, logger, access)
        caches.withLock { $0[content] = cache }
        // Readers of the old file finish on it. A failure to close it loses a descriptor, but no data.
        try? old.close(access)
    }

    /// Whether the state's file was deleted, so that changes are lost with the process.
    private var isStateLost: Bool { lostState.load(ordering: .relaxed) }

    /// Checks whether the state's file was deleted or replaced. If so, changes of the state are refused until a
    /// restart, because recreating the file would silently lose data.
    package func checkState(_: BlockingAccess) { checkState() }

    private func checkState() {
        guard state.isDeleted, !lostState.exchange(true, ordering: .relaxed) else { return }
        logger.error("state.deleted", metadata: ["path": "\(state.path ?? "")"])
        faultsListener.notify()
    }
}

/// The reason why a folder or a database cannot be used, and the correction.
package struct StoreError: Error, Equatable, CustomStringConvertible {
    package enum Reason: Equatable, Sendable {
        /// Another daemon uses the folder; with its process id if known.
        case locked(pid: Int?)
        /// The file was written by a newer norrisd; with the alternative to that version.
        case newerSchema(found: Int, known: Int, alternative: String)
        /// The content of the file prevents a migration, with SQLite's message.
        case failedMigration(from: Int, to: Int, String)
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
        case .locked(nil): "\(path): another norrisd uses this folder; stop it, or give another --state-dir"
        case .newerSchema(let found, let known, let alternative):
            "\(path): written by a newer norrisd (schema \(found), this one knows \(known)); "
                + "it was left untouched: install that version again, or \(alternative)"
        case .failedMigration(let from, let to, let detail):
            "\(path): the update from schema \(from) to \(to) failed (\(detail)); the file is unchanged: "
                + "install the previous version again (norrisd(8), UPGRADES)"
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
    /// The error in a status, without the statement.
    ///
    /// - Parameter path: the path of the database; nil in memory.
    static func summary(of error: any Error, path: String?) -> String {
        guard let error = error as? DatabaseError else { return "\(error)" }
        let summary = "\(error.message) (SQLite error \(error.extendedResultCode))"
        // A full disk causes several errors, of which only SQLITE_FULL names the reason.
        guard error.resultCode != SQLITE_FULL, path.flatMap(Folder.freeBytes(besides:)) == 0 else { return summary }
        return summary + ": the disk is full"
    }
}
