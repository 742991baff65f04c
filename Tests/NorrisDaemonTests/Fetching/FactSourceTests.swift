import Logging
import NorrisFetchProtocol
import NorrisPrefetch
import NorrisProtocol
import NorrisStore
import NorrisTestSupport
import Testing

@testable import NorrisDaemon

@Suite(.timeLimit(.minutes(20))) struct FactSourceTests {
    private static let news = FakeJoke(id: "news", value: "Chuck Norris is the news.")

    // MARK: Requests

    @Test func theFirstRunAsksEachQueryAndTheCategoriesOnce() async throws {
        try await SourceFixture.run { fixture in
            #expect(await fixture.fetch().added == 40)
            #expect(fixture.queries() == ["chuck", "norris", "-"])
            #expect(fixture.fetchedCount == 40)
            let joke = FakeUpstream.jokes(count: 40)[8]
            let fact = try #require(fixture.fact(id: joke.id))
            #expect(fact.text == joke.value)
        }
    }

    @Test func theOtherQueriesAreAskedAgainAfterSevenIntervals() async throws {
        try await SourceFixture.run { fixture in
            _ = await fixture.fetch()
            try await fixture.age(by: .hours(7 * 24 - 1))
            _ = await fixture.fetch()
            #expect(fixture.queries(from: 3) == ["chuck?"])
            try await fixture.age(by: .hours(2))
            _ = await fixture.fetch()
            #expect(fixture.queries(from: 4) == ["chuck?", "norris?"])
            try await fixture.age(by: .hours(24))
            _ = await fixture.fetch()
            #expect(fixture.queries(from: 6) == ["chuck?"])
        }
    }

    @Test func newsOfTheFirstQueryMakeAllBeAskedWhole() async throws {
        try await SourceFixture.run { fixture in
            _ = await fixture.fetch()
            fixture.upstream.setJokes(FakeUpstream.jokes(count: 41))
            #expect(await fixture.fetch().added == 1)
            #expect(fixture.queries(from: 3) == ["chuck?", "norris", "-"])
            #expect(fixture.fetchedCount == 41)
        }
    }

    @Test func otherQueriesAndAnotherAddressAreAskedWhole() async throws {
        try await SourceFixture.run { fixture in
            _ = await fixture.fetch()
            fixture.configuration.queries = ["norris"]
            _ = await fixture.fetch()
            #expect(fixture.queries(from: 3) == ["norris", "-"])
            fixture.configuration.baseURL = fixture.upstream.baseURL(host: "localhost")
            _ = await fixture.fetch()
            #expect(fixture.queries(from: 5) == ["norris", "-"])
            _ = await fixture.fetch()
            #expect(fixture.queries(from: 7) == ["norris?"])
        }
    }

    @Test func cachingHeadersPutTheNextRunOff() async throws {
        try await SourceFixture.run { fixture in
            fixture.upstream.setHeaders([("Cache-Control", "private, max-age=7200")])
            for added in [40, 0] {
                guard case .fetched(added, _, let head) = await fixture.fetch() else { return #expect(Bool(false)) }
                #expect(head.notBefore == 7200)
            }
        }
    }

    // MARK: Storage

    @Test func whereAnItemCannotBeReadNothingGoes() async throws {
        try await SourceFixture.run { fixture in
            _ = await fixture.fetch()
            fixture.upstream.setFault(.result([Self.news], others: [#"{"id":7}"#]), path: "/jokes/search")
            #expect(await fixture.fetch().added == 1)
            #expect(fixture.fetchedCount == 41)
            fixture.upstream.setFault(.result([Self.news]), path: "/jokes/search")
            _ = await fixture.fetch()
            #expect(fixture.fetchedCount == 1)
        }
    }

    @Test func anEmptyResultIsAFailureAndKeepsWhatIsStored() async throws {
        try await SourceFixture.run { fixture in
            _ = await fixture.fetch()
            fixture.upstream.setFault(.result([]), path: "/jokes/search")
            let failure = try #require(await fixture.fetch().failure)
            #expect(failure.kind == .decode)
            #expect(!failure.isRetryable)
            #expect(fixture.fetchedCount == 40)
            fixture.upstream.setFault(nil, path: "/jokes/search")
            #expect(await fixture.fetch().failure == nil)
            #expect(fixture.queries().last == "chuck?", "The failure cost the validators")
        }
    }

    @Test func aFailureOfTheSecondQueryStoresNothingOfTheFirst() async throws {
        try await SourceFixture.run(jokes: [Self.news]) { fixture in
            fixture.configuration.queries = ["chuck", "no"]
            // The upstream refuses a query of two characters.
            let failure = try #require(await fixture.fetch().failure)
            #expect(failure.kind == .http)
            #expect(!failure.isRetryable)
            #expect(fixture.fetchedCount == 0)
            await #expect(fixture.records.fetch(of: "facts") == nil)
        }
    }

    // MARK: Categories

    @Test func aRunDoesWithoutTheCategories() async throws {
        try await SourceFixture.run { fixture in
            fixture.upstream.setFault(.html, path: "/jokes/categories")
            #expect(await fixture.fetch().added == 40)
            #expect(fixture.knownCategories.contains("dev"))
        }
    }
}

extension FetchOutcome {
    var failure: FetchFailure? {
        if case .failed(let failure) = self { failure } else { nil }
    }

    /// The number of new items of a run that succeeded.
    var added: Int? {
        if case .fetched(let added, _, _) = self { added } else { nil }
    }
}

/// The source of the facts with separate databases and a fake upstream, but without a schedule.
struct SourceFixture {
    let folder = TemporaryFolder()
    let upstream: FakeUpstream
    let databases: Databases
    let stores: Stores
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

    func fetch() async -> FetchOutcome {
        let source = FactSource(
            configuration: configuration, http: Configuration.HTTP(timeout: .seconds(600), userAgent: "test"),
            context: SourceContext(
                stores: stores,
                environment: FetchingEnvironment(
                    machine: "test", clock: ManualClock(.ofTests), fetch: FetchProcess(path: Programs.norrisFetch)),
                prefetcher: .alone(stores, logger),
                knownCategories: knownCategories,
                logger: logger))
        return await source.fetch(records.beginImport(of: FactSource.name))
    }

    var fetchedCount: Int { stores.facts.catalogue.count - builtinCount }

    func fact(id: String) -> Fact? { stores.facts.catalogue.number(ofID: id).map(stores.facts.catalogue.fact) }

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
        try await records.beginImport(of: FactSource.name).store(record)
    }
}

extension FakeUpstream.Fault {
    /// The result of a search. `others` are further items, as JSON.
    static func result(_ jokes: [FakeJoke], others: [String] = []) -> FakeUpstream.Fault {
        let items = jokes.map { String(decoding: $0.jsonBytes, as: UTF8.self) } + others
        return json(#"{"total":\#(items.count),"result":[\#(items.joined(separator: ","))]}"#)
    }
}
