import Foundation
import Logging
import NorrisProtocol
import NorrisTestSupport
import Synchronization
import Testing

@testable import NorrisStore
@testable import NorrisThreads

/// A store on disk that a test can close and reopen, as at a restart of the daemon.
struct StoreFixture {
    let folder = TemporaryFolder()

    var cacheFolder: String { folder("cache") }
    var stateFolder: String { folder("state") }

    func databases() throws -> Databases {
        try Databases(cacheFolder: cacheFolder, stateFolder: stateFolder, logger: .silent)
    }

    /// Opens the store. The caller must close its databases.
    func open() throws -> FactStore { FactStore(databases: try databases()) }

    /// Opens the store, runs the body and stops cleanly.
    func run<Result>(_ body: (FactStore) async throws -> Result) async throws -> Result {
        let store = try open()
        let result = try await body(store)
        await store.writeShuffles()
        store.databases.close()
        return result
    }

    /// A copy of the databases and their logs, as they are after a kill at this moment.
    func killed() throws -> StoreFixture {
        let copy = StoreFixture()
        for name in ["cache", "state"] where folder.exists(name) {
            try FileManager.default.copyItem(atPath: folder(name), toPath: copy.folder(name))
        }
        return copy
    }
}

extension FactStore {
    /// A store without files.
    static func inMemory() throws -> FactStore {
        FactStore(databases: try Databases(cacheFolder: nil, stateFolder: nil, logger: .silent))
    }

    /// Replaces the facts of the upstream.
    @discardableResult func replaceUpstream(_ facts: [Fact], isComplete: Bool = true) async throws -> UpstreamChanges {
        let fetch = FetchRecord(settings: "test", fetchedAt: Timestamp(seconds: 0))
        return try await replaceUpstream(facts, isComplete: isComplete, fetch: fetch)
    }

    /// The next facts of a shuffle.
    func nextFacts(_ count: Int, uid: UInt32 = 1, filter: FactFilter = FactFilter()) -> [Fact] {
        let draw = next(count, uid: uid, filter: filter)
        return ((draw.first.map { [$0] } ?? []) + draw.others).map(draw.catalogue.fact)
    }

    func nextIDs(_ count: Int, uid: UInt32 = 1, _ filter: FactFilter = FactFilter()) -> [String] {
        nextFacts(count, uid: uid, filter: filter).map(\.id)
    }

    func fact(id: String) -> Fact? { catalogue.number(ofID: id).map(catalogue.fact) }

    func search(_ query: FactQuery, cursor: String? = nil, limit: Int = 100) throws -> Page<Fact> {
        let catalogue = catalogue
        let page = try #require(
            try catalogue.page(query, PageRequest(limit: limit, cursor: cursor), key: cursorKey))
        return Page(items: page.numbers.map(catalogue.fact), total: page.total, next: page.next)
    }
}

extension Sequence {
    func mapped<Result>(_ body: (Element) async throws -> Result) async rethrows -> [Result] {
        var results: [Result] = []
        for element in self { results.append(try await body(element)) }
        return results
    }
}

extension Logger { static var silent: Logger { Logger(label: "test") { _ in SwiftLogNoOpLogHandler() } } }

extension Fact {
    static func upstream(
        _ id: String, _ text: String? = nil, categories: [String] = [], source: String = "chucknorris"
    ) -> Fact { Fact(id: id, text: text ?? "The text of \(id).", categories: categories, source: source) }
}

func upstreamFacts(_ numbers: Range<Int>, categories: [String] = []) -> [Fact] {
    numbers.map { number in
        .upstream(
            "fact-" + String(repeating: "0", count: 6 - String(number).count) + String(number), categories: categories)
    }
}

extension TemporaryFolder {
    @discardableResult func write(_ name: String, _ bytes: some Sequence<UInt8>) throws -> String {
        let path = self(name)
        let folder = String(path[..<path.lastIndex(of: "/")!])  // SAFETY: The folder's path contains a slash.
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try Data(bytes).write(to: URL(filePath: path))
        return path
    }

    @discardableResult func write(_ name: String, _ text: String) throws -> String { try write(name, text.utf8) }
    func bytes(_ name: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(filePath: self(name)))) }
    func remove(_ name: String) throws { try FileManager.default.removeItem(atPath: self(name)) }

    func names(_ name: String = ".") throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: self(name)).sorted()
    }

    func exists(_ name: String) -> Bool { FileManager.default.fileExists(atPath: self(name)) }

    func mode(_ name: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: self(name))
        return (attributes[.posixPermissions] as? Int) ?? -1
    }
}
