import Glibc
package import Logging
import Synchronization

/// The two databases of the daemon, and how they are.
package final class Databases: Sendable {
    let state: StateDatabase
    private let cacheFolder: String?
    private let openedCache: Mutex<CacheDatabase>
    /// What last failed to be written, and why, until it succeeds.
    private let trouble = Mutex<[Content: String]>([:])

    /// What was found wrong with the cache's file since it was opened.
    private let cacheDamage = Mutex<String?>(nil)
    private let lostState = Atomic(false)
    private let listener = Mutex<@Sendable () -> Void>({})
    private let damageListener = Mutex<@Sendable () -> Void>({})

    /// What is read and written.
    enum Content: Hashable {
        case facts(FactGroup)
        case fetches
        case gifs
        case posts
        case state

        /// Of the database that holds it, as messages call it.
        var name: String { self == .state ? "state" : "cache" }
    }

    /// Opens both, and makes what is missing.
    ///
    /// - Parameters:
    ///   - cacheFolder: nil to keep the cache in memory.
    ///   - stateFolder: nil to keep the state in memory.
    ///   - willTakeLong: called before each step that may take longer than a start usually does.
    /// - Throws: for a file of a newer norrisd or of another program, which is left untouched.
    package init(
        cacheFolder: String?, stateFolder: String?, logger: Logger, willTakeLong: () -> Void = {}
    ) throws(StoreError) {
        state = try StateDatabase(folder: stateFolder, logger: logger, willTakeLong: willTakeLong)
        openedCache = Mutex(try CacheDatabase(folder: cacheFolder, logger: logger, willTakeLong: willTakeLong))
        self.cacheFolder = cacheFolder
    }

    var cache: CacheDatabase {
        openedCache.withLock { $0 }
    }

    func opened(_ content: Content) -> OpenedDatabase {
        content == .state ? state.opened : cache.opened
    }

    /// - Parameter body: called, from any thread, when ``faults`` may have changed by a write or a look at the state.
    package func onTrouble(_ body: @escaping @Sendable () -> Void) {
        listener.withLock { $0 = body }
    }

    /// - Parameter body: called, from any thread, when the cache is found to be damaged (``recreateLostCache(_:)``).
    package func onDamage(_ body: @escaping @Sendable () -> Void) {
        damageListener.withLock { $0 = body }
    }

    private func tellTrouble() {
        let listener = listener.withLock { $0 }
        listener()
    }

    /// What is wrong with the databases, a sentence each; empty where all is well.
    package var faults: [String] {
        var faults: [String] = []
        let (stateName, cacheName) = (DatabaseKind.state.fileName, DatabaseKind.cache.fileName)
        for (name, opened) in [(stateName, state.opened), (cacheName, cache.opened)] {
            switch opened.condition {
            case .good: break
            case .setAside(let path): faults.append("A damaged database was set aside as \(path)")
            case .readOnly(let detail): faults.append("\(name) is read-only: \(detail)")
            case .inMemory(let detail): faults.append("\(name) is kept in memory: \(detail)")
            }
        }
        if isStateLost { faults.append("\(stateName) was deleted under the daemon: restart it") }
        var trouble = trouble.withLock { $0 }
        // Of what is known to be read-only it is no news.
        if case .readOnly = state.opened.condition { trouble[.state] = nil }
        if case .readOnly = cache.opened.condition { trouble = trouble.filter { $0.key == .state } }
        if let detail = trouble[.state] { faults.append("The state takes no writes: \(detail)") }
        let contents = FactGroup.allCases.map(Content.facts) + [.fetches, .gifs, .posts]
        if let detail = contents.lazy.compactMap({ trouble[$0] }).first {
            faults.append("The cache takes no writes: \(detail)")
        }
        return faults
    }

    /// Whether something cannot be written now.
    package var isReadOnly: Bool {
        let conditions = [state.opened.condition, cache.opened.condition]
        let isUnwritable = conditions.contains { condition in
            switch condition {
            case .good, .setAside: false
            case .readOnly, .inMemory: true
            }
        }
        return isUnwritable || isStateLost || trouble.withLock { !$0.isEmpty }
    }

    /// Bytes on disk.
    package var sizes: (cache: Int, state: Int) {
        (cache.sizeOnDisk, state.sizeOnDisk)
    }

    /// Bytes that may still be written, on the file system that has less; nil where neither database is on a disk.
    package var freeBytes: Int? {
        [cache.opened.path, state.opened.path].compactMap { $0.flatMap(Folder.freeBytes(besides:)) }.min()
    }

    /// A write failed: said once, until one succeeds again.
    func noteWriteFailure(_ error: any Error, of content: Content, _ logger: Logger) {
        if content != .state { noteDamage(error) }
        let summary = DatabaseFailure.summary(of: error, path: opened(content).path)
        let isNew = trouble.withLock { $0.updateValue(summary, forKey: content) == nil }
        if isNew {
            logger.error("database.write-failed", metadata: ["content": "\(content)", "error": "\(error)"])
            tellTrouble()
        }
    }

    /// A write succeeded.
    func noteWriteSuccess(of content: Content, _ logger: Logger) {
        let wasTrouble = trouble.withLock { $0.removeValue(forKey: content) != nil }
        if wasTrouble {
            logger.notice("database.writes-again", metadata: ["content": "\(content)"])
            tellTrouble()
        }
    }

    /// Gives space that nothing takes any more back to the file system; blocking.
    package func releaseFreePages(_ logger: Logger) {
        for opened in [state.opened, cache.opened] {
            do {
                try opened.releaseFreePages()
            } catch {
                logger.warning(
                    "database.not-shortened", metadata: ["path": "\(opened.path ?? "")", "error": "\(error)"]
                )
            }
        }
    }

    /// Reads the whole cache, which takes long where it is large, and notes damage. Blocking.
    package func checkCache(_ logger: Logger) {
        do {
            try cache.opened.writer.read { try OpenedDatabase.check($0) }
        } catch {
            noteDamage(error)
            if cacheDamage.withLock({ $0 == nil }) {
                logger.error("cache.unreadable", metadata: ["error": "\(error)"])
            }
        }
    }

    /// Notes what a failure says about the cache's file.
    func noteDamage(_ error: any Error) {
        guard let error = error as? DatabaseError, error.isCorruption else { return }
        cacheDamage.withLock { $0 = "\(error)" }
        damageListener.withLock { $0 }()
    }

    /// Whether the cache's file was deleted under us, or found to be damaged.
    package var isCacheLost: Bool { cache.isDeleted || cacheDamage.withLock { $0 != nil } }

    /// Recreates the cache if it is lost; a damaged file is quarantined.
    ///
    /// - Returns: whether that was so; the caller fills it again.
    package func recreateLostCache(_ logger: Logger) -> Bool {
        let old = cache
        let damage = cacheDamage.withLock { $0 }
        guard let path = old.opened.path, damage != nil || old.isDeleted else { return false }
        do {
            let new: CacheDatabase
            if let damage {
                new = CacheDatabase(try OpenedDatabase.anew(.cache, path, damage, logger), logger)
                cacheDamage.withLock { $0 = nil }
            } else {
                // What is left of the old file's log and index; a new file must not share them with connections still
                // open.
                unlink(path + "-wal")
                unlink(path + "-shm")
                new = try CacheDatabase(folder: cacheFolder, logger: logger)
            }
            openedCache.withLock { $0 = new }
            logger.notice("cache.made-anew", metadata: ["path": "\(new.opened.path ?? "")"])
        } catch {
            logger.error("cache.not-made-anew", metadata: ["error": "\(error)"])
            return false
        }
        // Readers that began on the old file end on it; a failure to close it costs a descriptor, no data.
        try? old.close()
        return true
    }

    /// Goes on with a cache in memory: the disk takes nothing, and there is nothing on it.
    ///
    /// - Returns: whether the cache was on a disk.
    func replaceCacheByMemory(_ error: any Error, _ logger: Logger) -> Bool {
        let old = cache
        guard let path = old.opened.path else { return false }
        let reason = DatabaseFailure.summary(of: error, path: path)
        guard let new = try? CacheDatabase(folder: nil, reason: reason, logger: logger) else { return false }
        openedCache.withLock { $0 = new }
        try? old.close()
        logger.error("cache.in-memory", metadata: ["error": "\(error)"])
        return true
    }

    /// Whether the state's file was found to be gone from its path: what is written goes with the process.
    var isStateLost: Bool { lostState.load(ordering: .relaxed) }

    /// Looks whether the state's file was deleted, or replaced by another, under us. Then the state takes no changes
    /// for anybody who waits until the daemon is started again: to make it anew would be to forget in silence.
    package func checkState(_ logger: Logger) {
        guard state.isDeleted, !lostState.exchange(true, ordering: .relaxed) else { return }
        logger.error("state.deleted", metadata: ["path": "\(state.opened.path ?? "")"])
        tellTrouble()
    }

    /// Closes both, with their write-ahead logs written back.
    package func close() {
        try? state.close()
        try? cache.close()
    }
}
