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

    @Test func afterTheClockWasSetBackTheOtherQueriesAreNotForgottenForYears() async throws {
        try await SourceFixture.run { fixture in
            _ = await fixture.fetch()
            try await fixture.age(by: .hours(-365 * 24))
            _ = await fixture.fetch()
            #expect(fixture.queries(from: 3) == ["chuck?"])
            try await fixture.age(by: .hours(7 * 24 + 1))
            _ = await fixture.fetch()
            #expect(fixture.queries(from: 4) == ["chuck?", "norris?"])
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

    @Test func newsOfAnotherQueryAreFoundAfterSevenIntervals() async throws {
        try await SourceFixture.run { fixture in
            _ = await fixture.fetch()
            fixture.upstream.setJokes(FakeUpstream.jokes(count: 40) + [FakeJoke(id: "n", value: "Norris alone.")])
            #expect(await fixture.fetch().added == 0)
            try await fixture.age(by: .hours(7 * 24 + 1))
            #expect(await fixture.fetch().added == 1)
            #expect(fixture.fact(id: "n") != nil)
            #expect(fixture.fetchedCount == 41)
        }
    }

    @Test func anUpstreamWithoutValidatorsIsAskedWholeEachTime() async throws {
        try await SourceFixture.run { fixture in
            fixture.upstream.setFault(.result(FakeUpstream.jokes(count: 3)), path: "/jokes/search")
            #expect(await fixture.fetch().added == 3)
            #expect(await fixture.fetch().added == 0)
            #expect(fixture.queries() == ["chuck", "norris", "-", "chuck", "norris", "-"])
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
            fixture.upstream.setFault(.emptyResult, path: "/jokes/search")
            let failure = try #require(await fixture.fetch().failure)
            #expect(failure.kind == .decode)
            #expect(!failure.isRetryable)
            #expect(fixture.fetchedCount == 40)
            fixture.upstream.setFault(nil, path: "/jokes/search")
            #expect(await fixture.fetch().failure == nil)
            #expect(fixture.queries().last == "chuck?", "The failure cost the validators")
        }
    }

    @Test func anEmptyResultOfAnEmptyUpstreamIsNone() async throws {
        try await SourceFixture.run(jokes: []) { fixture in
            #expect(await fixture.fetch().added == 0)
            #expect(fixture.fetchedCount == 0)
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

    @Test func aTextThatIsThereAlreadyComesNoSecondTime() async throws {
        let builtin = try #require(StartingCollection.facts().first)
        let jokes = [
            FakeJoke(id: "same", value: builtin.text), FakeJoke(id: "doubled", value: "Chuck Norris quotes nobody."),
        ]
        try await SourceFixture.run(jokes: jokes) { fixture in
            let fortunes = try fixture.folder.write("Chuck Norris quotes nobody.\n%\nAnother one.\n", to: "fortunes")
            fixture.configuration.fortunes = [fortunes]
            fixture.store.readFortunes([fortunes])
            let count = fixture.store.catalogue.count
            #expect(await fixture.fetch().added == 2)
            #expect(fixture.store.catalogue.count == count, "The upstream's takes the place of the fortune")
            #expect(fixture.fact(id: "doubled") != nil)
            #expect(fixture.fact(id: "same") == nil)
            #expect(fixture.fact(id: builtin.id) != nil)

            fixture.upstream.setJokes([jokes[0], Self.news])
            // The store requests another reading of the fortune files.
            let isWanted = Atomic(false)
            fixture.store.onFortunesWanted { isWanted.store(true, ordering: .relaxed) }
            _ = await fixture.fetch()
            #expect(fixture.fact(id: "doubled") == nil)
            let wasWanted = isWanted.load(ordering: .relaxed)
            #expect(wasWanted)
            fixture.store.readFortunes([fortunes])
            #expect(fixture.store.catalogue.count == count + 1, "The fortune is back")
        }
    }

    @Test func aDiskThatTakesNothingIsAFailureThatPasses() async throws {
        try await SourceFixture.run { fixture in
            await fixture.databases.close()
            let failure = try #require(await fixture.fetch().failure)
            #expect(failure.message.contains("cannot be stored"))
            #expect(!failure.isRetryable)
        }
    }

    @Test func aRunThatIsCalledOffIsNoFailure() async throws {
        try await SourceFixture.run { fixture in
            let upstream = fixture.upstream
            let source = fixture.source
            upstream.setFault(.hang)
            let outcome = await withTaskGroup(of: FetchOutcome.self) { tasks in
                tasks.addTask { await source.fetch() }
                await upstream.waitForRequests(1)
                tasks.cancelAll()
                return await tasks.next()
            }
            #expect(outcome == .cancelled)
        }
    }

    // MARK: Categories

    @Test func categoriesTheUpstreamTellsOfAreKnown() async throws {
        try await SourceFixture.run { fixture in
            fixture.upstream.setFault(.json(#"["alpha","dev","No Such"]"#), path: "/jokes/categories")
            _ = await fixture.fetch()
            #expect(fixture.knownCategories.contains("alpha"))
            #expect(fixture.knownCategories.contains("travel"), "Known for years")
            #expect(!fixture.knownCategories.contains("No Such"))
            await #expect(fixture.records.fetch(of: "facts")?.categories == ["alpha", "dev"])
            _ = await fixture.fetch()
            #expect(fixture.queries().last == "chuck?")
            await #expect(fixture.records.fetch(of: "facts")?.categories == ["alpha", "dev"])
        }
    }

    @Test("A run does without the categories", arguments: ["503", "html", "reset"])
    func categoriesFail(_ name: String) async throws {
        try await SourceFixture.run { fixture in
            let faults: [String: FakeUpstream.Fault] = ["503": .status(503), "html": .html, "reset": .reset]
            fixture.upstream.setFault(faults[name], path: "/jokes/categories")
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
