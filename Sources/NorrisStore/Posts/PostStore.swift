import GRDB
package import Logging
import NorrisProtocol
import Synchronization

/// The posts of all sources, in `cache.db`.
///
/// What changes them blocks; called from where it may take seconds. What throws has changed nothing.
package final class PostStore: Sendable {
    let databases: Databases
    let logger: Logger
    /// Held while posts change, over the disk: the numbers follow in the order of the changes.
    private let changing = Mutex(())
    private let numbers = Mutex<[String: Int]>([:])

    package init(databases: Databases, logger: Logger) {
        self.databases = databases
        self.logger = logger
        reload()
    }

    /// How many posts each source has, those that are no longer configured included; never waits for the disk.
    package var counts: [String: Int] {
        numbers.withLock { $0 }
    }

    /// How many posts a source has; never waits for the disk.
    package func count(source: String) -> Int {
        numbers.withLock { $0[source] ?? 0 }
    }

    /// Counts again, for a cache that was made anew.
    package func reload() {
        changing.withLock { _ in
            do {
                let counts = try databases.cache.opened.writer.read(PostRecord.counts)
                numbers.withLock { $0 = counts }
            } catch {
                logger.error("cache.unreadable", metadata: ["error": "\(error)"])
            }
        }
    }

    /// Runs a change in one transaction.
    ///
    /// - Throws: `cancelled` or `failed`.
    func change<Result: Sendable>(_ body: (Database) throws -> Result) throws(StoreError) -> Result {
        try changing.withLock { _ throws(StoreError) in
            let cache = databases.cache
            do {
                let (result, counts) = try cache.opened.writer.write { database in
                    (try body(database), try PostRecord.counts(database))
                }
                numbers.withLock { $0 = counts }
                databases.noteWriteSuccess(of: .posts, logger)
                databases.noteWriteSuccess(of: .fetches, logger)
                return result
            } catch is CancellationError {
                throw StoreError(path: cache.name, .cancelled)
            } catch {
                databases.noteWriteFailure(error, of: .posts, logger)
                throw StoreError(path: cache.name, .failed("\(error)"))
            }
        }
    }
}
