import Foundation
import Logging
import NorrisProtocol
import NorrisTestSupport
import Testing

@testable import NorrisStore
@testable import NorrisThreads

/// A store on disk that a test can close and reopen, as at a restart of the daemon.
struct StoreFixture {
    let folder = TemporaryFolder()

    var cacheFolder: String { folder("cache") }
    var stateFolder: String { folder("state") }

    /// Opens the databases.
    ///
    /// - Parameter searchLimit: an hour, because a search on a busy machine must not fail a test.
    func databases(searchLimit: Duration = .seconds(3_600), logger: Logger = .silent) async throws -> Databases {
        let databases = try await Databases(
            cacheFolder: cacheFolder, stateFolder: stateFolder, searchLimit: searchLimit, logger: logger)
        // The folder must exist as long as the databases.
        databases.onChange { [folder] in withExtendedLifetime(folder) {} }
        return databases
    }

    /// Opens the store. The caller must close its databases.
    func open() async throws -> FactStore {
        let store = await FactStore(databases: try databases())
        await store.readShuffles()
        return store
    }

    /// Opens the store, runs the body and stops cleanly.
    func run<Result>(_ body: (FactStore) async throws -> Result) async throws -> Result {
        let store = try await open()
        let result = try await body(store)
        await store.writeShuffles()
        await store.databases.close()
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
    /// A store in new folders.
    static func new() async throws -> FactStore { try await StoreFixture().open() }

    /// Replaces the facts of the upstream.
    @discardableResult func replaceUpstream(_ facts: [Fact], isComplete: Bool = true) async throws -> UpstreamChanges {
        let fetch = FetchRecord(settings: "test", fetchedAt: Timestamp(seconds: 0))
        return try await replaceUpstream(facts, isComplete: isComplete, fetch: fetch)
    }

    @discardableResult func replaceUpstream(
        _ facts: [Fact], isComplete: Bool, fetch: FetchRecord
    ) async throws -> UpstreamChanges {
        let run = SourceRecords(databases: databases).beginImport(of: FactStore.upstreamSource)
        return try await replaceUpstream(facts, isComplete: isComplete, fetch: fetch, in: run)
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
        try #require(try catalogue.page(query, PageRequest(limit: limit, cursor: cursor), key: cursorKey))
    }
}

extension DatabaseFile {
    /// The number of rows of a table.
    func count(_ table: String) async throws -> Int {
        try await read { try $0.value("SELECT count(*) FROM \(table)") ?? 0 }
    }

    /// Makes every insertion into a table fail, until ``takeWritesAgain()`` or until the file is opened again.
    func refuseWrites(to table: String) async throws {
        // A trigger is no changed row, so neither of these writes ends a write failure.
        try await write { database in
            try database.execute(
                """
                CREATE TEMP TRIGGER refused AFTER INSERT ON main.\(table)
                BEGIN SELECT RAISE(ABORT, 'refused by the test'); END
                """)
        }
    }

    func takeWritesAgain() async throws { try await write { try $0.execute("DROP TRIGGER refused") } }
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
