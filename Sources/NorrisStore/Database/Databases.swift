package import Logging
import Synchronization
import GRDB

/// The two databases of the daemon, and how they are.
package final class Databases: Sendable {
    let state: StateDatabase
    private let cacheFolder: String?
    private let openedCache: Mutex<CacheDatabase>
    private let trouble = Mutex<String?>(nil)

    /// Opens both, and makes what is missing.
    ///
    /// - Parameters: a folder that is nil is kept in memory.
    /// - Throws: for a file of a newer norrisd or of another program, which is left untouched.
    package init(cacheFolder: String?, stateFolder: String?, logger: Logger) throws(StoreError) {
        state = try StateDatabase(folder: stateFolder, logger: logger)
        openedCache = Mutex(try CacheDatabase(folder: cacheFolder, logger: logger))
        self.cacheFolder = cacheFolder
    }

    var cache: CacheDatabase {
        openedCache.withLock { $0 }
    }

    /// What is wrong with the databases, a sentence each; empty where all is well.
    package var faults: [String] {
        var faults: [String] = []
        for opened in [state.opened, cache.opened] {
            switch opened.condition {
            case .good: break
            case .setAside(let path): faults.append("A damaged database was set aside as \(path)")
            case .readOnly(let detail): faults.append("A database is read-only: \(detail)")
            case .inMemory(let detail): faults.append("A database is kept in memory: \(detail)")
            }
        }
        if let trouble = trouble.withLock({ $0 }) {
            faults.append("The disk takes no writes: \(trouble)")
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
        return isUnwritable || trouble.withLock { $0 != nil }
    }

    /// Bytes on disk.
    package var sizes: (cache: Int, state: Int) {
        (cache.sizeOnDisk, state.sizeOnDisk)
    }

    /// A write failed: said once, until one succeeds again.
    func noteWriteFailure(_ error: any Error, _ logger: Logger) {
        let isNew = trouble.withLock { trouble in
            defer { trouble = "\(error)" }
            return trouble == nil
        }
        if isNew {
            logger.error("database.write-failed", metadata: ["error": "\(error)"])
        }
    }

    /// A write succeeded.
    func noteWriteSuccess(_ logger: Logger) {
        let wasTrouble = trouble.withLock { trouble in
            defer { trouble = nil }
            return trouble != nil
        }
        if wasTrouble {
            logger.notice("database.writes-again")
        }
    }

    /// Makes the cache anew if its file was deleted under us.
    ///
    /// - Returns: whether that was so; the caller fills it again.
    package func reopenCacheIfDeleted(_ logger: Logger) -> Bool {
        let old = cache
        guard old.isDeleted else { return false }
        do {
            let new = try CacheDatabase(folder: cacheFolder, logger: logger)
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

    /// Closes both, with their write-ahead logs written back.
    package func close() {
        try? state.close()
        try? cache.close()
    }
}
