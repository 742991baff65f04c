import Logging
import NorrisPrefetch
import NorrisProtocol
import NorrisStore
import NorrisTestSupport
import NorrisUpstream

@testable import NorrisDaemon

/// The source of the facts with databases of its own and a fake upstream, but without a schedule.
struct SourceFixture {
    let folder = TemporaryFolder()
    let clock = ManualClock(.ofTests)
    let upstream: FakeUpstream
    let databases: Databases
    let store: FactStore
    let records: FetchRecords
    let knownCategories = KnownCategories()
    /// How many facts there are without any upstream.
    let builtinCount: Int
    var configuration = Configuration.Facts()
    private let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })

    private init(_ upstream: FakeUpstream) throws {
        self.upstream = upstream
        databases = try Databases(cacheFolder: folder("cache"), stateFolder: folder("state"), logger: logger)
        store = FactStore(databases: databases)
        records = FetchRecords(databases: databases)
        store.importStartingCollection()
        builtinCount = store.count
        configuration.baseURL = upstream.baseURL
    }

    /// Runs a body with one, and takes it down.
    static func run(
        jokes: [FakeJoke] = FakeUpstream.jokes(count: 40), _ body: (inout SourceFixture) async throws -> Void
    ) async throws {
        try await FakeUpstream.run(jokes: jokes) { upstream in
            var fixture = try SourceFixture(upstream)
            try await body(&fixture)
            fixture.databases.close()
        }
    }

    var source: FactSource { source(logger) }

    func source(_ logger: Logger) -> FactSource {
        FactSource(
            configuration: configuration, http: HTTPSettings(timeout: .seconds(600), userAgent: "test"),
            context: SourceContext(
                stores: Stores(databases: databases, facts: store),
                environment: FetchingEnvironment(machine: "test", clock: clock), knownCategories: knownCategories,
                logger: logger))
    }

    func fetch() async -> FetchOutcome { await source.fetch() }

    /// Lets the upstream search and takes in what it finds.
    func find(_ text: String) async throws -> Bool {
        try await source.search(FactQuery(text: text), within: .seconds(30))
    }

    /// How many facts the upstream has given.
    var fetchedCount: Int { store.count - builtinCount }

    /// The queries that the upstream was asked, from one request on; `-` for its categories, with a question mark where
    /// it was asked for changes only.
    func queries(from first: Int = 0) -> [String] {
        upstream.requests.dropFirst(first).map { request in
            (request.query ?? "-") + (request.header("If-None-Match") == nil ? "" : "?")
        }
    }

    /// Makes the last fetch older than it is.
    func age(by duration: Duration) async throws {
        guard var record = await records.record(of: FactSource.name) else { return }
        record.fetchedAt = record.fetchedAt - duration
        for (name, part) in record.parts { record.parts[name]?.checkedAt = part.checkedAt - duration }
        _ = await records.renew(record, for: FactSource.name)
    }
}

extension FakeUpstream.Fault {
    /// The result of a search.
    ///
    /// - Parameter others: further items, as JSON.
    static func result(_ jokes: [FakeJoke], others: [String] = []) -> FakeUpstream.Fault {
        let items = jokes.map { String(decoding: $0.jsonBytes, as: UTF8.self) } + others
        return json(#"{"total":\#(items.count),"result":[\#(items.joined(separator: ","))]}"#)
    }
}
