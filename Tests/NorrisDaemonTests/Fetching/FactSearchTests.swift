import NorrisProtocol
import NorrisStore
import NorrisTestSupport
import Synchronization
import Testing

@testable import NorrisDaemon

/// Tests of the searches that norrisd forwards to the upstream.
@Suite(.timeLimit(.minutes(20))) struct FactSearchTests {
    private static let hidden = FakeJoke(id: "hidden", value: "Nobody hides from Walker.")

    /// Runs a daemon without scheduled runs, so that the facts are stale and only searches send requests.
    private func stale(
        jokes: [FakeJoke] = FakeUpstream.jokes(count: 40) + [hidden], facts: String = "",
        searchTime: Duration = .seconds(300), _ body: (FetchingDaemon, FakeUpstream) async throws -> Void
    ) async throws {
        try await FetchingDaemon.run(jokes: jokes, facts: facts, fetches: false, searchTime: searchTime, body)
    }

    @Test func aStaleSourceIsAskedAndItsAnswerStored() async throws {
        try await stale { daemon, upstream in
            let page = try daemon.search(text: "WALKER")
            #expect(page.items.map(\.id) == ["hidden"])
            #expect(page.freshness?.origin == .upstream)
            #expect(page.freshness?.state == .fresh)
            #expect(page.freshness?.ageSeconds == 0)
            #expect(upstream.requests.map(\.query) == ["WALKER"])
            let none = try daemon.search(text: "no such text")
            #expect(none.freshness?.origin == .upstream)
            #expect(none.freshness?.state == .empty)
            #expect(try daemon.search(#"{"query":"walker","offline":true}"#).items.map(\.id) == ["hidden"])
            #expect(try daemon.source().freshness.fetchedAt == nil, "A search is no fetch")
        }
    }

    @Test(arguments: [("Age", "999999"), ("Warning", "110 - \"Response is Stale\"")])
    func anOldCopyOfACacheIsNoAnswerOfTheUpstream(header: (String, String)) async throws {
        try await stale { daemon, upstream in
            upstream.setHeaders([header])
            let page = try daemon.search(text: "WALKER")
            #expect(page.items.map(\.id) == ["hidden"])
            #expect(page.freshness?.origin == .cache)
            #expect(page.freshness?.state == .stale)
        }
    }

    @Test func aFreshSourceIsNotAsked() async throws {
        try await FakeUpstream.run(jokes: FakeUpstream.jokes(count: 40) + [Self.hidden]) { upstream in
            let (folder, clock) = (TemporaryFolder(), ManualClock(.ofTests))
            try await FetchingDaemon.run(upstream, in: folder, clock: clock) { try $0.watch.wait(for: .finished) }
            try await FetchingDaemon.run(upstream, in: folder, clock: clock, fetches: false) { daemon in
                let page = try daemon.search(text: "walker")
                #expect(page.items == [])
                #expect(page.freshness?.origin == .cache)
                #expect(page.freshness?.state == .empty)
                #expect(upstream.requests.count == 3)
                await daemon.advance(by: .hours(37))
                #expect(try daemon.search(text: "walker").items.count == 1)
                #expect(upstream.requests.count == 4)
            }
        }
    }

    @Test(
        "The upstream takes 3 to 120 UTF-16 units",
        arguments: [
            ("ab", false), ("abc", true), ("😀", false), ("😀a", true), (" a ", true),
            (String(repeating: "😀", count: 60), true), (String(repeating: "😀", count: 60) + "a", false),
            (String(repeating: "x", count: 120), true), (String(repeating: "x", count: 121), false),
        ])
    func lengths(_ text: String, _ isAsked: Bool) async throws {
        try await stale { daemon, upstream in
            let page = try daemon.search(text: text)
            #expect(upstream.requests.map(\.query) == (isAsked ? [text] : []))
            #expect((page.freshness?.origin == .upstream) == isAsked)
        }
    }

    @Test func neitherOfflineNorALaterPageAsks() async throws {
        try await stale { daemon, upstream in
            _ = try daemon.search(#"{"query":"light","offline":true}"#)
            let first = try daemon.search(#"{"query":"the","limit":1,"offline":true}"#)
            let cursor = try #require(first.next)
            let second = try daemon.search(#"{"query":"the","limit":1,"cursor":"\#(cursor)"}"#)
            #expect(second.items.count == 1)
            #expect(second.freshness?.origin == .builtin)
            #expect(second.freshness?.state == .stale)
            #expect(upstream.requests.isEmpty)
        }
    }

    @Test func aSourceThatIsSwitchedOffIsNotAsked() async throws {
        try await stale(facts: ", enabled: false") { (daemon, upstream) throws in
            #expect(try daemon.search(text: "walker").items == [])
            #expect(upstream.requests.isEmpty)
        }
    }

    @Test func anUpstreamThatHangsIsWaitedForOnce() async throws {
        #expect(FetchingEnvironment(machine: "m", clock: ManualClock()).searchTime == .seconds(2))
        try await stale(searchTime: .milliseconds(300)) { daemon, upstream in
            upstream.setFault(.hang)
            let page = try daemon.search(text: "light")
            #expect(!page.items.isEmpty)
            #expect(page.freshness?.origin == .builtin)
            let failure = try #require(page.freshness?.error)
            #expect(failure.kind == .timeout)
            #expect(failure.retryAt != nil)
            #expect(try daemon.search(text: "walker").freshness?.error == failure)
            await daemon.advance(by: .seconds(59))
            #expect(try daemon.search(text: "walker").freshness?.error == failure)
            // On a busy machine even the first request may not have arrived.
            #expect(upstream.requests.count <= 1)
        }
    }

    @Test func aRefusedQueryIsNoFailureOfTheSource() async throws {
        try await stale { daemon, upstream in
            upstream.setFault(.status(400))
            let page = try daemon.search(text: "light")
            #expect(page.freshness?.origin == .builtin)
            #expect(page.freshness?.error == nil)
            upstream.setFault(nil)
            #expect(try daemon.search(text: "walker").freshness?.origin == .upstream)
        }
    }

    @Test func explicitFactsThatAreFoundAreNotShown() async throws {
        let joke = FakeJoke(id: "rude", value: "Walker swears.", categories: ["explicit"])
        try await stale(jokes: [joke]) { daemon, upstream in
            let page = try daemon.search(text: "walker")
            #expect(page.items == [])
            #expect(page.freshness?.state == .empty)
            #expect(try await daemon.store.fact(id: "rude")?.isExplicit == true)
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
            _ = try daemon.search(#"{"query":"kick","offline":true,"category":"sport"}"#)
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
