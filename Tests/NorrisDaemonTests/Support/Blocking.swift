import Logging
import NorrisProtocol
import NorrisStore

@testable import NorrisDaemon
@testable import NorrisThreads

// Overloads without an access parameter, because a test may block its thread.

extension Databases {
    /// The limit of a search is an hour, because a search on a busy machine must not fail a test.
    convenience init(cacheFolder: String?, stateFolder: String?, logger: Logger) throws(StoreError) {
        try self.init(
            cacheFolder: cacheFolder, stateFolder: stateFolder, searchLimit: .seconds(3_600), logger: logger,
            BlockingAccess())
    }

    func close() { close(BlockingAccess()) }

    /// Returns the content whose cache file was lost and recreated.
    func recreateLostCaches() -> Set<Content> { recreateLostCaches(BlockingAccess()) }
}

extension FactStore {
    convenience init(databases: Databases) { self.init(databases: databases, BlockingAccess()) }
    func readFortunes(_ paths: [String]) { readFortunes(paths, BlockingAccess(), isCancelled: { false }) }
}

extension Stores {
    init(databases: Databases, facts: FactStore) { self.init(databases: databases, facts: facts, BlockingAccess()) }
}

extension PromptFactsWriter {
    func write() { write(BlockingAccess()) }
}
