import Logging
import NorrisPrefetch
import NorrisProtocol
import NorrisStore
import NorrisTestSupport

@testable import NorrisDaemon

/// The source of the facts with separate databases and a fake upstream, but without a schedule.
struct SourceFixture {
    let folder = TemporaryFolder()
    let clock = ManualClock(.ofTests)
    let upstream: FakeUpstream
    let databases: Databases
    let stores: Stores
    var store: FactStore { stores.facts }
    var records: SourceRecords { stores.records }
    let knownCategories = KnownCategories()
    /// The number of built-in facts.
    let builtinCount: Int
    var configuration = Configuration.Facts()
    private let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })

    private init(_ upstream: FakeUpstream) async throws {
        self.upstream = upstream
        databases = try await Databases(cacheFolder: folder("cache"), stateFolder: folder("state"), logger: logger)
        stores = await Stores(databases: databases)
        builtinCount = stores.facts.catalogue.count
        configuration.baseURL = upstream.baseURL
    }

    static func run(
        jokes: [FakeJoke] = FakeUpstream.jokes(count: 40), _ body: (inout SourceFixture) async throws -> Void
    ) async throws {
        try await FakeUpstream.run(jokes: jokes) { upstream in
            var fixture = try await SourceFixture(upstream)
            try await body(&fixture)
            await fixture.databases.close()
        }
    }

    var source: FactSource { source(logger) }

    func source(_ logger: Logger) -> FactSource {
        FactSource(
            configuration: configuration, http: Configuration.HTTP(timeout: .seconds(600), userAgent: "test"),
            context: SourceContext(
                stores: stores,
                environment: FetchingEnvironment(
                    machine: "test", clock: clock, fetch: FetchProcess(path: Programs.norrisFetch)),
                knownCategories: knownCategories,
                logger: logger))
    }

    func fetch() async -> FetchOutcome { await source.fetch() }

    var fetchedCount: Int { store.catalogue.count - builtinCount }

    func fact(id: String) -> Fact? { store.catalogue.number(ofID: id).map(store.catalogue.fact) }

    /// Returns the queries sent to the upstream: `-` for the categories, with a question mark for conditional requests.
    func queries(from first: Int = 0) -> [String] {
        upstream.requests.dropFirst(first).map { request in
            (request.query ?? "-") + (request.header("If-None-Match") == nil ? "" : "?")
        }
    }

    /// Sets the times of the last fetch back.
    func age(by duration: Duration) async throws {
        guard var record = await records.fetch(of: FactSource.name) else { return }
        record.fetchedAt = record.fetchedAt - duration
        for (name, part) in record.parts { record.parts[name]?.checkedAt = part.checkedAt - duration }
        _ = await records.renew(record, for: FactSource.name)
    }
}

extension FakeUpstream.Fault {
    /// The result of a search. `others` are further items, as JSON.
    static func result(_ jokes: [FakeJoke], others: [String] = []) -> FakeUpstream.Fault {
        let items = jokes.map { String(decoding: $0.jsonBytes, as: UTF8.self) } + others
        return json(#"{"total":\#(items.count),"result":[\#(items.joined(separator: ","))]}"#)
    }
}
