import CSQLite
import Glibc
package import Logging
import Synchronization

/// The two databases of the daemon, and what is wrong with them.
package final class Databases: Sendable {
    let state: OpenedDatabase
    private let cacheFolder: String?
    private let openedCache: Mutex<CacheDatabase>
    /// What last failed to be written, and why, until it succeeds.
    private let writeFailures = Mutex<[Content: String]>([:])
    /// What was found wrong with the cache's file since it was opened.
    private let cacheDamage = Mutex<String?>(nil)
    private let lostState = Atomic(false)
    private let faultsListener = Mutex<@Sendable () -> Void>({})
    private let damageListener = Mutex<@Sendable () -> Void>({})

    /// What is read and written.
    enum Content: Hashable {
        case facts(FactGroup)
        case fetches
        case gifs
        case posts
        case state

        /// Of its database, as messages call it.
        var name: String { self == .state ? "state" : "cache" }
    }

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
    }

    var cache: CacheDatabase { openedCache.withLock { $0 } }
    func opened(_ content: Content) -> OpenedDatabase { content == .state ? state : cache.opened }

    /// - Parameter body: called, from any thread, when ``faults`` may have changed by a write or by ``checkState(_:)``.
    package func onFaultsChange(_ body: @escaping @Sendable () -> Void) { faultsListener.withLock { $0 = body } }

    /// - Parameter body: called, from any thread, when the cache is found to be damaged (``recreateLostCache(_:)``).
    package func onDamage(_ body: @escaping @Sendable () -> Void) { damageListener.withLock { $0 = body } }

    /// What is wrong with the databases, a sentence each; empty where all is well.
    package var faults: [String] {
        var faults: [String] = []
        let (stateName, cacheName) = (DatabaseKind.state.fileName, DatabaseKind.cache.fileName)
        for (name, opened) in [(stateName, state), (cacheName, cache.opened)] {
            switch opened.condition {
            case .good: break
            case .quarantined(let path): faults.append("A damaged database was quarantined as \(path)")
            case .readOnly(let detail): faults.append("\(name) is read-only: \(detail)")
            case .inMemory(let detail): faults.append("\(name) is in memory: \(detail)")
            }
        }
        if isStateLost { faults.append("\(stateName) was deleted under the daemon: restart it") }
        var failures = writeFailures.withLock { $0 }
        // That it is read-only is said above.
        if case .readOnly = state.condition { failures[.state] = nil }
        if case .readOnly = cache.opened.condition { failures = failures.filter { $0.key == .state } }
        if let detail = failures[.state] { faults.append("The state takes no writes: \(detail)") }
        let contents = FactGroup.allCases.map(Content.facts) + [.fetches, .gifs, .posts]
        if let detail = contents.lazy.compactMap({ failures[$0] }).first {
            faults.append("The cache takes no writes: \(detail)")
        }
        return faults
    }

    /// Whether something cannot be written now.
    package var isReadOnly: Bool {
        let isUnwritable = [state.condition, cache.opened.condition].contains { condition in
            switch condition {
            case .good, .quarantined: false
            case .readOnly, .inMemory: true
            }
        }
        return isUnwritable || isStateLost || writeFailures.withLock { !$0.isEmpty }
    }

    /// Bytes on disk.
    package var sizes: (cache: Int, state: Int) { (cache.sizeOnDisk, state.sizeOnDisk) }

    /// Bytes that may still be written, on the file system that has less; nil where neither database is on a disk.
    package var freeBytes: Int? {
        [cache.opened.path, state.path].compactMap { $0.flatMap(Folder.freeBytes(besides:)) }.min()
    }

    /// A write failed; logged once, until one succeeds again.
    func noteWriteFailure(_ error: any Error, of content: Content, _ logger: Logger) {
        if content != .state { noteDamage(error) }
        let summary = DatabaseError.summary(of: error, path: opened(content).path)
        guard writeFailures.withLock({ $0.updateValue(summary, forKey: content) }) == nil else { return }
        logger.error("database.write-failed", metadata: ["content": "\(content)", "error": "\(error)"])
        faultsListener.withLock { $0 }()
    }

    /// A write succeeded.
    func noteWriteSuccess(of content: Content, _ logger: Logger) {
        guard writeFailures.withLock({ $0.removeValue(forKey: content) }) != nil else { return }
        logger.notice("database.writes-again", metadata: ["content": "\(content)"])
        faultsListener.withLock { $0 }()
    }

    /// Returns unused space to the file system; blocking.
    package func releaseFreePages(_ logger: Logger) {
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
    package func checkCache(_ logger: Logger) {
        do {
            try cache.writer.read { try OpenedDatabase.check($0) }
        } catch {
            noteDamage(error)
            if cacheDamage.withLock({ $0 == nil }) { logger.error("cache.unreadable", metadata: ["error": "\(error)"]) }
        }
    }

    /// Notes damage of the cache's file, where the error says so.
    func noteDamage(_ error: any Error) {
        guard let error = error as? DatabaseError, error.isCorruption else { return }
        cacheDamage.withLock { $0 = "\(error)" }
        damageListener.withLock { $0 }()
    }

    /// Whether the cache's file was deleted under us, or found to be damaged.
    package var isCacheLost: Bool { cache.opened.isDeleted || cacheDamage.withLock { $0 != nil } }

    /// Recreates the cache if it is lost; a damaged file is quarantined.
    ///
    /// - Returns: whether that was so; the caller fills it again.
    package func recreateLostCache(_ logger: Logger) -> Bool {
        let old = cache.opened
        let damage = cacheDamage.withLock { $0 }
        guard let path = old.path, damage != nil || old.isDeleted else { return false }
        do {
            let new: OpenedDatabase
            if let damage {
                new = OpenedDatabase.recreate(.cache, path, damage, logger)
                cacheDamage.withLock { $0 = nil }
            } else {
                // The old file's log and index; a new file must not share them with connections still open.
                unlink(path + "-wal")
                unlink(path + "-shm")
                new = try OpenedDatabase.open(.cache, folder: cacheFolder, logger: logger)
            }
            openedCache.withLock { $0 = CacheDatabase(new, logger) }
            logger.notice("cache.recreated", metadata: ["path": "\(new.path ?? "")"])
        } catch {
            logger.error("cache.not-recreated", metadata: ["error": "\(error)"])
            return false
        }
        // Readers that began on the old file end on it; a failure to close it costs a descriptor, no data.
        try? old.close()
        return true
    }

    /// Continues with a cache in memory: the disk takes nothing, and there is nothing on it.
    ///
    /// - Returns: whether the cache was on a disk.
    func replaceCacheByMemory(_ error: any Error, _ logger: Logger) -> Bool {
        let old = cache.opened
        guard let path = old.path else { return false }
        let new = CacheDatabase(.inMemory(.cache, DatabaseError.summary(of: error, path: path)), logger)
        openedCache.withLock { $0 = new }
        try? old.close()
        logger.error("cache.in-memory", metadata: ["error": "\(error)"])
        return true
    }

    /// Whether the state's file was found to be deleted: what is written is lost with the process.
    var isStateLost: Bool { lostState.load(ordering: .relaxed) }

    /// Checks whether the state's file was deleted or replaced under us. Then changes of the state that a request waits
    /// for are refused until a restart: to recreate the file would lose data silently.
    package func checkState(_ logger: Logger) {
        guard state.isDeleted, !lostState.exchange(true, ordering: .relaxed) else { return }
        logger.error("state.deleted", metadata: ["path": "\(state.path ?? "")"])
        faultsListener.withLock { $0 }()
    }

    /// Closes both, with their write-ahead logs written back.
    package func close() {
        try? state.close()
        try? cache.opened.close()
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
