import Foundation
import NorrisPrefetch
import NorrisProtocol
import NorrisServer
import NorrisStore
import NorrisTestSupport
import Synchronization
import Testing

@testable import NorrisDaemon

@Suite(.timeLimit(.minutes(20))) struct GifTests {
    private static let key = "a-key-of-these-tests"

    /// Runs a daemon that fetches only on request, unless `fetches` is true.
    private func run(
        gifs: [FakeGif] = FakeUpstream.gifs(count: 60), queries: String = "[cats]", settings: String = "",
        fetches: Bool = false, in folder: TemporaryFolder = TemporaryFolder(),
        _ body: (FetchingDaemon, FakeUpstream) async throws -> Void
    ) async throws {
        let file = try folder.write(Self.key, to: "key")
        try await FakeUpstream.run { upstream in
            upstream.requireKey(Self.key)
            upstream.setGifs(gifs, query: "cats")
            let keys = "base_url: '\(upstream.baseURL)', api_key_file: '\(file)', queries: \(queries)\(settings)"
            try await FetchingDaemon.run(
                upstream, in: folder, facts: ", enabled: false", others: "gifs: {\(keys)}\n", fetches: fetches
            ) { try await body($0, upstream) }
        }
    }

    private func search(_ daemon: FetchingDaemon, _ parameters: String) throws -> GifSearch.Result {
        try daemon.client().call(GifSearch.self, parameters)
    }

    private func gifs(_ daemon: FetchingDaemon) throws -> SourceStatus {
        let status: ServerStatus.Result = try daemon.client().call(ServerStatus.self)
        return try #require(status.sources.first { $0.name == "gifs" })
    }

    @Test func aSearchIsSentOnceUntilItIsOld() async throws {
        try await run { daemon, upstream in
            let first = try search(daemon, #"{"query":"cats"}"#)
            #expect(first.items.count == 25)
            #expect(first.total == 60)
            #expect(first.freshness?.origin == .upstream)
            let request = try #require(upstream.requests.first)
            #expect(request.parameter("q") == "cats")
            #expect(request.parameter("rating") == "g")
            #expect(request.parameter("limit") == "25")
            let second = try search(daemon, #"{"query":" CATS "}"#)
            #expect(second.items == first.items)
            #expect(second.freshness?.origin == .cache)
            #expect(upstream.requests.count == 1)
            _ = try search(daemon, #"{"query":"cats","rating":"pg"}"#)
            _ = try search(daemon, #"{"query":"cats","lang":"de"}"#)
            #expect(upstream.requests.map { $0.parameter("rating") } == ["g", "pg", "g"])
            #expect(upstream.requests.map { $0.parameter("lang") } == [nil, nil, "de"])

            await daemon.advance(by: .hours(7))
            #expect(try search(daemon, #"{"query":"cats"}"#).freshness?.origin == .upstream)
            #expect(upstream.requests.count == 4)
        }
    }

    @Test func numbersContinueFromPageToPage() async throws {
        try await run { daemon, upstream in
            let client = try daemon.client()
            func id(_ number: Int) throws -> String {
                try client.call(RecentServed.self, #"{"kind":"gif","index":\#(number)}"#).id
            }
            let first = try client.call(GifSearch.self, #"{"query":"cats","limit":4,"numbered":true}"#)
            let next = try #require(first.next)
            let second = try client.call(
                GifSearch.self, #"{"query":"cats","limit":4,"numbered":true,"cursor":"\#(next)"}"#)
            #expect(try id(4) == first.items[3].id && id(5) == second.items[0].id && id(8) == second.items[3].id)
            // A list without numbers changes none.
            _ = try client.call(GifSearch.self, #"{"query":"cats","limit":2}"#)
            #expect(try id(8) == second.items[3].id)
            #expect(daemon.refusal(RecentServed.self, #"{"kind":"gif","index":9}"#)?.code == .notFound)
            #expect(daemon.refusal(RecentServed.self, #"{"kind":"fact","index":1}"#)?.code == .notFound)
            let facts = try client.call(FactSearch.self, #"{"query":"chuck","limit":2,"numbered":true}"#)
            #expect(try client.call(RecentServed.self, #"{"kind":"any","index":2}"#).id == facts.items[1].id)
            #expect(try client.call(RecentServed.self, #"{"kind":"any"}"#).kind == .fact)
        }
    }

    @Test func pagesGoOnWhereTheStoredOnesEnd() async throws {
        try await run { daemon, upstream in
            upstream.repeatGifsAcrossPages()
            var ids: [String] = []
            var cursor: String?
            repeat {
                let page = try search(
                    daemon, #"{"query":"cats","limit":10\#(cursor.map { #","cursor":"\#($0)""# } ?? "")}"#)
                ids += page.items.map(\.id)
                cursor = page.next
            } while cursor != nil
            #expect(ids == FakeUpstream.gifs(count: 60).map(\.id))
            #expect(upstream.requests.map { $0.parameter("offset") ?? "0" } == ["0", "25", "50"])
            let recents: RecentList.Result = try daemon.client().call(RecentList.self)
            #expect(recents.items.map(\.query) == ["cats"])
            #expect(recents.items.map(\.kind) == [.gif])
        }
    }

    @Test func aFailingPageIsAnErrorAndTheOneBeforeStays() async throws {
        try await run { daemon, upstream in
            let first = try search(daemon, #"{"query":"cats"}"#)
            let cursor = try #require(first.next)
            upstream.setFault(.status(500))
            let error = daemon.refusal(GifSearch.self, #"{"query":"cats","cursor":"\#(cursor)"}"#)
            #expect(error?.code == .nothingCached)
            #expect(error?.details["source"] == "gifs")
            let again = try search(daemon, #"{"query":"cats"}"#)
            #expect(again.items == first.items)
            #expect(again.freshness?.error?.kind == .http)
            #expect(upstream.requests.count == 2)
            upstream.setFault(nil)
            await daemon.advance(by: .seconds(61))
            #expect(try search(daemon, #"{"query":"cats","cursor":"\#(cursor)"}"#).items.count == 25)
        }
    }

    @Test(
        "Queries that are not sent to Giphy",
        arguments: [(#"{"query":"cats","offline":true}"#), (#"{"query":"\#(String(repeating: "x", count: 51))"}"#)])
    func staysInTheCache(_ parameters: String) async throws {
        try await run { daemon, upstream in
            let page = try search(daemon, parameters)
            #expect(page.items.isEmpty)
            #expect(page.freshness?.state == .empty)
            #expect(upstream.requests.isEmpty)
        }
    }

    @Test func aQueryWithoutAWordOrWithTooMuchIsRefused() async throws {
        try await run { daemon, upstream in
            let (letters, words) = (String(repeating: "x", count: 1_001), String(repeating: "x ", count: 17))
            for query in [#"{"query":"  \t"}"#, #"{"query":"a\u0000b"}"#]
                + [letters, words].map({ #"{"query":"\#($0)"}"# })
            {
                let error = daemon.refusal(GifSearch.self, query)
                #expect(error?.details["parameter"] == "query")
            }
            #expect(upstream.requests.isEmpty)
        }
    }

    @Test func offlineFindsWhatOtherSearchesBrought() async throws {
        try await run { daemon, upstream in
            _ = try search(daemon, #"{"query":"cats"}"#)
            let found = try search(daemon, #"{"query":"NUMBER 1","offline":true,"limit":3}"#)
            #expect(found.items.count == 3)
            #expect(found.items.allSatisfy { $0.title.contains("Number 1") })
            let cursor = try #require(found.next)
            let more = try search(daemon, #"{"query":"NUMBER 1","offline":true,"cursor":"\#(cursor)"}"#)
            #expect(Set(more.items.map(\.id)).isDisjoint(with: found.items.map(\.id)))
            #expect(upstream.requests.count == 1)
        }
    }

    @Test func randomAndGetFetchOnlyWhatIsNotStored() async throws {
        try await run { daemon, upstream in
            let client = try daemon.client()
            let asked: GifRandom.Result = try client.call(GifRandom.self, #"{"tag":"cats"}"#)
            #expect(asked.freshness.origin == .upstream)
            let stored: GifRandom.Result = try client.call(GifRandom.self)
            #expect(stored.gif == asked.gif)
            #expect(stored.freshness.origin == .cache)
            #expect(upstream.requests.count == 1)
            let got: GifGet.Result = try client.call(GifGet.self, #"{"id":"\#(asked.gif.id)"}"#)
            #expect(got.gif == asked.gif)
            let other = try #require(FakeUpstream.gifs(count: 60).first { $0.id != asked.gif.id })
            _ = try client.call(GifGet.self, #"{"id":"\#(other.id)"}"#)
            #expect(upstream.requests.count == 2)
            #expect(daemon.refusal(GifRandom.self, #"{"tag":"nothing of the kind"}"#)?.code == .notFound)
            #expect(daemon.refusal(GifGet.self, #"{"id":"unknown"}"#)?.code == .notFound)
            #expect(upstream.requests.count == 4)
        }
    }

    @Test func equalRequestsAtOnceAreOne() async throws {
        try await run { daemon, upstream in
            let core = daemon.core
            let request = GifRequest.page(.search("cats", rating: "g"), offset: 0, PageRequest(limit: 25))
            upstream.hold()
            let answers = await withTaskGroup(of: GifResult.self) { tasks in
                for _ in 0..<3 { tasks.addTask { await core.sources.askGiphy(request, for: 1000, mayFetch: true) } }
                await upstream.waitForRequests(1)
                upstream.release()
                return await tasks.reduce(into: []) { $0.append($1) }
            }
            #expect(answers.count == 3)
            #expect(answers.allSatisfy { $0 == answers[0] })
            guard case .page(let page?) = answers[0] else {
                Issue.record("\(answers[0])")
                return
            }
            #expect(page.items.count == 25)
            #expect(upstream.requests.count == 1)
        }
    }

    @Test func theQuotaEndsAndComesBack() async throws {
        try await run(settings: ", hourly_quota: 2") { daemon, upstream in
            _ = try search(daemon, #"{"query":"cats"}"#)
            _ = try search(daemon, #"{"query":"number"}"#)
            let error = daemon.refusal(GifSearch.self, #"{"query":"something else"}"#)
            #expect(error?.code == .nothingCached)
            let failure = try error?.details["last_error"].map { try SourceFailure(json: $0) }
            #expect(failure?.kind == .quota)
            #expect(failure?.retryAt == daemon.clock.now.advanced(by: .seconds(3_600)))
            let quota = try #require(try gifs(daemon).quota)
            #expect(quota.limit == 2 && quota.used == 2)
            #expect(try search(daemon, #"{"query":"cats"}"#).items.count == 25)
            await daemon.advance(by: .seconds(3_600))
            _ = try search(daemon, #"{"query":"something else"}"#)
            #expect(upstream.requests.count == 3)
        }
    }

    @Test("A 429 without a time holds until the next full hour") func aRateLimitHolds() async throws {
        try await run { daemon, upstream in
            upstream.setFault(.status(429))
            #expect(daemon.refusal(GifSearch.self, #"{"query":"cats"}"#) != nil)
            let retryAt = try #require(try gifs(daemon).freshness.error?.retryAt)
            #expect(retryAt.seconds % 3_600 == 0)
            #expect(retryAt > daemon.clock.now && retryAt <= daemon.clock.now.advanced(by: .seconds(3_600)))
            upstream.setFault(nil)
            await daemon.advance(by: daemon.clock.now.duration(to: retryAt) - .seconds(1))
            #expect(daemon.refusal(GifSearch.self, #"{"query":"cats"}"#) != nil)
            #expect(daemon.refusal(SourceRefresh.self, #"{"source":"gifs"}"#)?.code == .busy)
            #expect(upstream.requests.count == 1)
        }
    }

    @Test func aRunFetchesListsAndFavorites() async throws {
        let gifs = FakeUpstream.gifs(count: 60)
        try await run(gifs: gifs, fetches: true) { (daemon, upstream) throws in
            try daemon.watch.wait(for: .finished)
            #expect(upstream.requests.map(\.path) == ["/v1/gifs/trending", "/v1/gifs/search"])
            #expect(try self.gifs(daemon).items == 50)
            let page = try search(daemon, #"{"query":"cats","limit":50}"#)
            #expect(page.items.count == 50)
            #expect(upstream.requests.count == 2)
            // A GIF that is in no list is fetched again by its id.
            let kept = gifs[59].id
            let added: FavoriteAdd.Result = try daemon.client().call(
                FavoriteAdd.self, #"{"kind":"gif","id":"\#(kept)"}"#)
            #expect(added.added)
            #expect(upstream.requests.last?.path == "/v1/gifs/\(kept)")
            await daemon.advance(by: .hours(7))
            try daemon.watch.wait(for: .finished)
            #expect(upstream.requests.last?.path.split(separator: "/").last.map(String.init) == kept)
            let list: FavoriteList.Result = try daemon.client().call(FavoriteList.self)
            #expect(list.items.first?.gif?.id == kept)
        }
    }

    @Test func aRunThatTheQuotaCutsShortContinuesWhereItWas() async throws {
        try await run(queries: "[a, b, c, d]", settings: ", hourly_quota: 4", fetches: true) {
            (daemon, upstream) throws in
            // A run may use three of the four requests.
            #expect(try daemon.watch.wait(for: .failed).error?.kind == .quota)
            #expect(upstream.requests.count == 3)
            let refused = daemon.refusal(SourceRefresh.self, #"{"source":"gifs"}"#)
            #expect(refused?.code == .busy, "A refresh does not go through a used-up budget")
            #expect(refused?.message == "The requests of this hour to the upstream of gifs are used up.")
            await daemon.advance(by: .seconds(3_601))
            try daemon.watch.wait(for: .finished)
            let asked = upstream.requests.map { $0.parameter("q") ?? $0.path }
            #expect(asked == ["/v1/gifs/trending", "a", "b", "c", "d"])
        }
    }

    @Test func aRunThatWaitsBehindASearchHearsOfA429() async throws {
        try await run(fetches: true) { daemon, upstream in
            try daemon.watch.wait(for: .finished)
            let before = upstream.requests.count
            upstream.setFault(.status(429, retryAfter: "1800"))
            upstream.hold()
            let core = daemon.core
            let answer = await withTaskGroup(of: GifResult.self) { tasks in
                let request = GifRequest.page(.search("dogs", rating: "g"), offset: 0, PageRequest(limit: 25))
                tasks.addTask { await core.sources.askGiphy(request, for: 1000, mayFetch: true) }
                await upstream.waitForRequests(before + 1)
                _ = try? daemon.refresh(#"{"source":"gifs"}"#)
                // The run has begun and waits for its turn.
                await eventually { core.prefetcher.schedule(of: "gifs")?.isRunning == true }
                upstream.release()
                return await tasks.next()
            }
            guard case .unavailable(let failure?)? = answer else {
                Issue.record("\(String(describing: answer))")
                return
            }
            #expect(failure.kind == .quota)
            #expect(failure.retryAt == daemon.clock.now.advanced(by: .seconds(1_800)))
            let failed = try daemon.watch.wait(for: .failed)
            #expect(failed.error?.kind == .quota)
            #expect(upstream.requests.count == before + 1)
            #expect(try gifs(daemon).freshness.error?.kind == .quota)
        }
    }

    @Test func aFavoriteThatGiphyDoesNotKnowIsNoFailure() async throws {
        try await run(fetches: true) { (daemon, upstream) throws in
            let items = #"{"items":[{"kind":"gif","id":"gone1","title":"t","added_at":"2026-11-21T12:00:00Z"}]}"#
            _ = try daemon.client().call(FavoriteImport.self, items)
            upstream.setFault(.status(404), path: "/v1/gifs")
            try daemon.watch.wait(for: .finished)
            #expect(try gifs(daemon).freshness.error == nil)
            #expect(try gifs(daemon).freshness.fetchedAt != nil)
        }
    }

    @Test(
        "An id that can be none, and a word that is a path of the API, cost no request",
        arguments: [
            "random", "trending", "search", "not an id!", "../x",
        ])
    func noRequestForWhatIsNoID(_ id: String) async throws {
        try await run { (daemon, upstream) throws in
            #expect(daemon.refusal(GifGet.self, #"{"id":"\#(id)"}"#)?.code == .notFound)
            #expect(upstream.requests.isEmpty)
        }
    }

    @Test func aDisabledSourceSaysSo() async throws {
        try await run(settings: ", enabled: false") { (daemon, upstream) throws in
            let error = daemon.refusal(GifSearch.self, #"{"query":"cats"}"#)
            #expect(error?.code == .nothingCached)
            #expect(error?.hint?.contains("gifs.enabled") == true)
            #expect(try gifs(daemon).freshness.error == nil)
            #expect(upstream.requests.isEmpty)
        }
    }

    @Test func aQueryThatGiphyRefusesIsNoFailure() async throws {
        try await run { (daemon, upstream) throws in
            upstream.setFault(.status(414))
            #expect(try search(daemon, #"{"query":"cats"}"#).items.isEmpty)
            #expect(try gifs(daemon).freshness.error == nil)
        }
    }

    @Test func withoutAKeyTheSourceIsDisabledUntilAReload() async throws {
        let folder = TemporaryFolder()
        try await run(settings: ", enabled: true", fetches: true, in: folder) { daemon, upstream in
            try daemon.watch.wait(for: .finished)
            unlink(folder("key"))
            try await daemon.core.reloader.reload()
            let status = try gifs(daemon)
            #expect(status.nextRunAt == nil)
            #expect(status.freshness.error?.kind == .credentials)
            #expect(status.freshness.error?.message.contains(folder("key")) == true)
            let page = try search(daemon, #"{"query":"cats"}"#)
            #expect(page.items.count == 25)
            #expect(page.freshness?.error?.kind == .credentials)
            #expect(daemon.refusal(GifSearch.self, #"{"query":"dogs"}"#)?.code == .nothingCached)
            #expect(daemon.refusal(SourceRefresh.self, #"{"source":"gifs"}"#) != nil)
            let before = upstream.requests.count
            _ = try folder.write("another-key", to: "key")
            upstream.requireKey("another-key")
            try await daemon.core.reloader.reload()
            try daemon.watch.wait(for: .finished)
            #expect(upstream.requests.dropFirst(before).allSatisfy { $0.parameter("api_key") == "another-key" })
            #expect(try gifs(daemon).freshness.error == nil)
        }
    }

    @Test func aWrongKeyIsReportedAndNotTriedAgain() async throws {
        let folder = TemporaryFolder()
        try await run(in: folder) { daemon, upstream in
            upstream.requireKey("the right one")
            let error = daemon.refusal(GifSearch.self, #"{"query":"cats"}"#)
            let failure = try error?.details["last_error"].map { try SourceFailure(json: $0) }
            #expect(failure?.kind == .credentials)
            #expect(failure?.message.contains(Self.key) == false)
            #expect(daemon.refusal(GifSearch.self, #"{"query":"dogs"}"#) != nil)
            #expect(upstream.requests.count == 1)
        }
    }
}
