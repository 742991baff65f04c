import Logging
import NorrisPrefetch
import NorrisProtocol
import NorrisStore
import NorrisTestSupport
import Synchronization
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

    @Test func droppedCategoriesAreLogged() async throws {
        let jokes = (0..<300).map { FakeJoke(id: "id\($0)", value: "Chuck Norris \($0).", categories: ["c\($0)"]) }
        try await SourceFixture.run(jokes: jokes) { fixture in
            let sink = RecordingSink()
            let logger = Logger(label: "test") { _ in DaemonLogHandler(levels: LogLevelSwitch(.info), sink: sink) }
            #expect(await fixture.source(logger).fetch().added == 300)
            let line = sink.records.first { $0.event.message == "facts.fetched" }
            #expect(line?.metadata["categories_dropped"] == "45")
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
