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
            guard let counts = try? databases.read(.posts, logger: logger, PostRecord.counts) else { return }
            numbers.withLock { $0 = counts }
        }
    }

    /// Runs a change in one transaction.
    ///
    /// - Throws: `cancelled` or `failed`.
    func change<Result: Sendable>(_ body: (Database) throws -> Result) throws(StoreError) -> Result {
        try changing.withLock { _ throws(StoreError) in
            let (result, counts) = try databases.write(.posts, .fetches, logger: logger) { database in
                (try body(database), try PostRecord.counts(database))
            }
            numbers.withLock { $0 = counts }
            return result
        }
    }
}
