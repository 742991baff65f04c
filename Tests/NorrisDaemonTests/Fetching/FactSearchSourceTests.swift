import NorrisPrefetch
import NorrisProtocol
import NorrisStore
import NorrisTestSupport
import Testing

@testable import NorrisDaemon

/// What a search at the upstream brings into the store.
@Suite(.timeLimit(.minutes(20)))
struct FactSearchSourceTests {
    @Test func whatIsFoundIsStoredAndStays() async throws {
        let found = FakeJoke(id: "found", value: "Nobody finds Walker.")
        try await SourceFixture.run(jokes: FakeUpstream.jokes(count: 5) + [found]) { (fixture) throws in
            #expect(try await fixture.find("walker"))
            #expect(try await fixture.store.fact(id: "found") != nil)
            #expect(await fixture.fetch() == .fetched(added: 5, notBefore: .zero))
            fixture.upstream.setJokes(FakeUpstream.jokes(count: 4))
            _ = await fixture.fetch()
            #expect(try await fixture.store.fact(id: "found") != nil, "No query of the configuration finds it")
            #expect(fixture.fetchedCount == 5)
        }
    }

    @Test("A wildcard of the upstream is a character like any other", arguments: ["%%%", "___", "c_unt", "count%to"])
    func wildcards(_ text: String) async throws {
        let literal = FakeJoke(id: "literal", value: "Chuck Norris types \(text) by hand.")
        try await SourceFixture.run(jokes: FakeUpstream.jokes(count: 5) + [literal]) { (fixture) throws in
            #expect(try await fixture.find(text))
            #expect(fixture.queries() == [text])
            #expect(fixture.fetchedCount == 1)
            #expect(try await fixture.store.fact(id: "literal") != nil)
        }
    }

    @Test func aQueryThatTheUpstreamRefusesIsNoFailure() async throws {
        try await SourceFixture.run { (fixture) throws in
            fixture.upstream.setFault(.status(400))
            #expect(try await !fixture.find("light"))
        }
    }

    @Test func anyOtherStatusIs() async throws {
        try await SourceFixture.run { fixture in
            fixture.upstream.setFault(.status(404))
            let source = fixture.source
            let failure = await #expect(throws: FetchFailure.self) {
                try await source.search(FactQuery(text: "light"), within: .seconds(30))
            }
            #expect(failure?.kind == .http)
            #expect(fixture.fetchedCount == 0)
        }
    }

    @Test func explicitFactsAreStoredAndNotShown() async throws {
        let jokes = [
            FakeJoke(id: "one", value: "Chuck Norris says it loud.", categories: ["explicit"]),
            FakeJoke(id: "two", value: "Chuck Norris says it aloud."),
        ]
        try await SourceFixture.run(jokes: jokes) { fixture in
            #expect(try await fixture.find("loud"))
            #expect(try await fixture.store.fact(id: "one")?.isExplicit == true)
            let page = try await fixture.store.search(FactQuery(text: "loud"), cursor: nil, limit: 10)
            #expect(page.items.map(\.id).contains("two"))
            #expect(!page.items.map(\.id).contains("one"))
        }
    }

    @Test func nothingThatIsFoundIsAnAnswerToo() async throws {
        try await SourceFixture.run { (fixture) throws in
            #expect(try await fixture.find("no such text"))
            #expect(fixture.fetchedCount == 0)
        }
    }
}
