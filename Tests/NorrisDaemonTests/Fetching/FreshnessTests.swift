import NorrisProtocol
import NorrisStore
import NorrisTestSupport
import Testing

@testable import NorrisDaemon

/// Tests of `freshness` in replies: origin and age of the items, and the state of their source.
@Suite(.timeLimit(.minutes(20))) struct FreshnessTests {
    /// Calls a body with a daemon whose source was fetched `age` ago.
    private func fetched(
        _ age: Duration, fault: FakeUpstream.Fault? = nil, _ body: (FetchingDaemon) throws -> Void
    ) async throws {
        try await FakeUpstream.run { upstream in
            let (folder, clock) = (TemporaryFolder(), ManualClock(.ofTests))
            try await FetchingDaemon.run(upstream, in: folder, clock: clock) { daemon in
                try daemon.watch.wait(for: .finished)
                guard let fault else { return }
                upstream.setFault(fault)
                _ = try daemon.refresh()
                try daemon.watch.wait(for: .failed)
            }
            clock.advance(by: age)
            try await FetchingDaemon.run(upstream, in: folder, clock: clock, fetches: false, body)
        }
    }

    private func random(_ daemon: FetchingDaemon, _ parameters: String = "{}") throws -> Freshness? {
        try daemon.client().call(FactRandom.self, parameters).freshness
    }

    @Test func builtinFactsOfASourceThatWasNeverFetched() async throws {
        try await FetchingDaemon.run(fetches: false) { (daemon, upstream) throws in
            let expected = Freshness(origin: .builtin, state: .stale)
            #expect(try random(daemon) == expected)
            #expect(try daemon.source().freshness == expected)
            #expect(try daemon.client().call(FactToday.self).freshness == expected)
            let categories: FactCategories.Result = try daemon.client().call(FactCategories.self)
            #expect(categories.freshness == expected)
            let nothing = Freshness(origin: .none, state: .empty)
            #expect(try random(daemon, #"{"category":"political"}"#) == nothing)
            #expect(try daemon.search(#"{"query":"no such text"}"#).freshness == nothing)
            #expect(upstream.requests.isEmpty)
        }
    }

    @Test("Facts are stale from one and a half intervals on", arguments: [(35, "fresh"), (37, "stale")])
    func ages(_ hours: Int, _ state: String) async throws {
        try await fetched(.hours(Int64(hours))) { (daemon) throws in
            #expect(try random(daemon, #"{"count":100}"#)?.state.rawValue == state)
            #expect(try daemon.source().freshness.state.rawValue == state)
        }
    }

    @Test(
        "Content is as old as the copy of a cache, also after a restart and a reply without changes",
        arguments: [
            (["Age": "7200"], 7_200, Freshness.State.fresh), (["Age": "172800"], 172_800, .stale),
            (["Warning": "110 - \"Response is Stale\""], 0, .stale),
        ])
    func copiesOfACache(headers: [String: String], age: Int, state: Freshness.State) async throws {
        try await FakeUpstream.run { upstream in
            upstream.setHeaders(headers.map { ($0.key, $0.value) })
            let (folder, clock) = (TemporaryFolder(), ManualClock(.ofTests))
            let expected = Freshness(
                origin: .cache, state: state, fetchedAt: clock.now.advanced(by: .seconds(-age)), ageSeconds: age)
            try await FetchingDaemon.run(upstream, in: folder, clock: clock) { daemon in
                try daemon.watch.wait(for: .finished)
                #expect(try daemon.source().freshness == expected)
                _ = try daemon.refresh()
                try daemon.watch.wait(for: .finished)
                #expect(try daemon.source().freshness == expected)
            }
            try await FetchingDaemon.run(upstream, in: folder, clock: clock, fetches: false) { (daemon) throws in
                #expect(try daemon.source().freshness == expected)
                #expect(try random(daemon, #"{"category":"dev"}"#)?.state == state)
            }
        }
    }

    @Test func contentAndAFailureComeTogether() async throws {
        try await fetched(.hours(1), fault: .status(503)) { daemon in
            let source = try daemon.source()
            let failure = try #require(source.freshness.error)
            #expect(failure.kind == .http)
            #expect(failure.message.contains("503"))
            #expect(failure.retryAt == source.nextRunAt)
            #expect(source.freshness.state == .fresh)
            #expect(source.freshness.origin == .cache)
            #expect(try random(daemon, #"{"count":100}"#)?.error == failure)
            #expect(try daemon.search(text: "counted").freshness?.error == failure)
            let today: FactToday.Result = try daemon.client().call(FactToday.self)
            #expect(today.freshness.error == failure)
        }
    }
}
