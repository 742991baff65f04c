import Logging
import NorrisProtocol

@testable import NorrisStore
@testable import NorrisThreads

// Overloads without an access parameter, because a test may block its thread.

extension Databases {
    /// - Parameter searchLimit: an hour, because a search on a busy machine must not fail a test.
    convenience init(
        cacheFolder: String?, stateFolder: String?, searchLimit: Duration = .seconds(3_600), logger: Logger,
        willTakeLong: () -> Void = {}
    ) throws(StoreError) {
        try self.init(
            cacheFolder: cacheFolder, stateFolder: stateFolder, searchLimit: searchLimit, logger: logger,
            BlockingAccess(), willTakeLong: willTakeLong
        )
    }

    func close() { close(BlockingAccess()) }
    func checkCache() { checkCache(BlockingAccess()) }
    func checkState() { checkState(BlockingAccess()) }
    func releaseFreePages() { releaseFreePages(BlockingAccess()) }

    func recreateLostCache() -> Bool { !recreateLostCaches(BlockingAccess()).isEmpty }

    var isCacheLost: Bool { Content.cached.contains { isLost($0, BlockingAccess()) } }

    @_disfavoredOverload
    func read<Value>(_ content: Content, _ body: (Database) throws -> Value) throws(ResponseError) -> Value {
        try read(content, BlockingAccess(), body)
    }

    @_disfavoredOverload
    func write<Value>(_ content: Content, _ body: (Database) throws -> Value) throws(StoreError) -> Value {
        try write(content, BlockingAccess(), body)
    }
}

extension DatabasePool {
    convenience init(
        path: String?, _ mode: Database.Access = .write, readers: Int = 0,
        prepare: @escaping @Sendable (Database) throws -> Void = { _ in }
    ) throws {
        try self.init(path: path, mode, readers: readers, BlockingAccess(), prepare: prepare)
    }

    @_disfavoredOverload
    func read<Value>(_ body: (Database) throws -> Value) throws -> Value { try read(BlockingAccess(), body) }
    @_disfavoredOverload
    func write<Value>(_ body: (Database) throws -> Value) throws -> Value { try write(BlockingAccess(), body) }
    func withWriter<Value>(_ body: (Database) throws -> Value) throws -> Value {
        try withWriter(BlockingAccess(), body)
    }
    func close() throws { try close(BlockingAccess()) }
}

extension FactStore {
    convenience init(databases: Databases) { self.init(databases: databases, BlockingAccess()) }

    func readFortunes(_ paths: [String], isCancelled: () -> Bool = { false }) {
        readFortunes(paths, BlockingAccess(), isCancelled: isCancelled)
    }
}

extension PostStore {
    convenience init(databases: Databases) { self.init(databases: databases, BlockingAccess()) }
    func reload() { reload(BlockingAccess()) }
}

extension GifStore {
    convenience init(databases: Databases) { self.init(databases: databases, BlockingAccess()) }
    func recount() { recount(BlockingAccess()) }
}

extension QuotaLedger {
    convenience init(source: String, databases: Databases) {
        self.init(source: source, databases: databases, BlockingAccess())
    }
}

extension OpenedDatabase {
    func close() throws { try close(BlockingAccess()) }
}

extension CacheDatabase {
    func value(forKey key: String) throws -> String? { try value(forKey: key, BlockingAccess()) }
}
