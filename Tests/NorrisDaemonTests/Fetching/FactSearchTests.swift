import NorrisProtocol
import NorrisStore
import NorrisTestSupport
import Testing

@testable import NorrisDaemon

/// Searches in facts never leave the machine.
@Suite(.timeLimit(.minutes(20))) struct FactSearchTests {
    private static let hidden = FakeJoke(id: "hidden", value: "Chuck Norris hides from Walker.")

    @Test func noSearchAsksTheUpstream() async throws {
        let jokes = FakeUpstream.jokes(count: 40) + [Self.hidden]
        try await FetchingDaemon.run(jokes: jokes, fetches: false) { daemon, upstream in
            let page = try daemon.search(text: "walker")
            #expect(page.items == [] && page.freshness?.origin == .some(.none) && page.freshness?.state == .empty)
            #expect(try daemon.search(text: "light").freshness?.origin == .builtin)
            #expect(daemon.refusal(FactSearch.self, #"{"query":"light","offline":true}"#)?.code == .invalidParams)
            #expect(upstream.requests.isEmpty)
        }
    }

    @Test func fetchedFactsAreFound() async throws {
        let rude = FakeJoke(id: "rude", value: "Walker and Chuck Norris swear.", categories: ["explicit"])
        let clock = ManualClock(.ofTests)
        try await FetchingDaemon.run(jokes: [Self.hidden, rude], clock: clock) { daemon, upstream in
            try daemon.watch.wait(for: .finished)
            let requests = upstream.requests.count
            let page = try daemon.search(text: "WALKER")
            #expect(page.items.map(\.id) == ["hidden"])
            // Nor is an explicit fact served by its id.
            let hidden = ResponseError.notFound(
                #"The fact "rude" is explicit."#, hint: "Show explicit facts: norrisctl fact --explicit",
                category: "explicit")
            #expect(daemon.refusal(FactGet.self, #"{"id":"rude"}"#) == hidden)
            #expect(daemon.refusal(FavoriteAdd.self, #"{"kind":"fact","id":"rude"}"#) == hidden)
            #expect(daemon.refusal(FactRandom.self, #"{"category":"explicit"}"#)?.detail("category") == "explicit")
            #expect(daemon.refusal(FactRandom.self, #"{"category":"exp"}"#)?.detail("category") == "exp")
            #expect(page.freshness?.origin == .cache && page.freshness?.state == .fresh)
            clock.advance(by: .hours(37))
            #expect(try daemon.search(text: "walker").freshness?.state == .stale)
            #expect(upstream.requests.count >= requests)
            #expect(!upstream.requests.contains { $0.query?.lowercased() == "walker" })
        }
    }
}

/// Tests of the searches that `fact.search` stores for `recent.list`, through a real socket.
@Suite(.timeLimit(.minutes(20))) struct RecentHandlersTests {
    private func queries(_ daemon: FetchingDaemon) throws -> [String] {
        try daemon.client().call(RecentList.self).items.map(\.query)
    }

    @Test("A search is noted whether or not it finds something, its later pages are not, and the last comes first")
    func searchesAreNoted() async throws {
        try await FetchingDaemon.run(facts: ", enabled: false", fetches: false) { (daemon, _) throws in
            let page = try daemon.search(#"{"query":"Chuck","limit":1}"#)
            _ = try daemon.search(text: "no such text")
            _ = try daemon.search(#"{"query":"kick","category":"sport"}"#)
            _ = try daemon.search(#"{"query":"Chuck","limit":1,"cursor":"\#(try #require(page.next))"}"#)
            #expect(try queries(daemon) == ["kick", "no such text", "chuck"])
        }
    }

    @Test func aRefusedSearchIsNotNoted() async throws {
        try await FetchingDaemon.run(facts: ", enabled: false", fetches: false) { (daemon, _) throws in
            for parameters in [
                #"{"query":"a\u0000b"}"#, #"{"query":"kick","category":"devs"}"#, #"{"query":"kick","limit":0}"#,
                #"{"query":"kick","category":"explicit"}"#,
            ] { #expect(daemon.refusal(FactSearch.self, parameters) != nil) }
            #expect(try queries(daemon) == [])
        }
    }
}

struct PersonalizedFactTests {
    @Test(arguments: [
        ("Chuck Norris", "Ada"), ("CHUCK norris's dog and chucK NorriS", "Ada's dog and Ada"),
        ("Chuchuck Norris, Chuck Norri", "ChuAda, Chuck Norri"), ("é Chuck Norris é", "é Ada é"),
        ("Chuck\nNorris", "Chuck\nNorris"), ("Chuck  Norris", "Chuck  Norris"), ("Norris", "Norris"), ("", ""),
    ]) func theWholeNameIsReplacedInAnyCase(text: String, expected: String) {
        #expect(personalized(text, for: "Ada").hasSameBytes(as: expected))
    }
}
