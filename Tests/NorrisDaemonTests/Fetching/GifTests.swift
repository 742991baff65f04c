import Foundation
import NorrisPrefetch
import NorrisProtocol
import NorrisServer
import NorrisStore
import NorrisTestSupport
import SystemdIntegration
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

    @Test func whatIsOfflineLongOrNoQueryIsNotSentToGiphy() async throws {
        try await run { daemon, upstream in
            for parameters in [
                #"{"query":"cats","offline":true}"#, #"{"query":"\#(String(repeating: "x", count: 51))"}"#,
            ] {
                let page = try search(daemon, parameters)
                #expect(page.items.isEmpty && page.freshness?.state == .empty)
            }
            let (letters, words) = (String(repeating: "x", count: 1_001), String(repeating: "x ", count: 17))
            for query in [#"  \t"#, #"a\u0000b"#, letters, words] {
                let error = daemon.refusal(GifSearch.self, #"{"query":"\#(query)"}"#)
                #expect(error?.details["parameter"] == "query")
            }
            for id in ["random", "trending", "search", "not an id!", "../x"] {
                #expect(daemon.refusal(GifGet.self, #"{"id":"\#(id)"}"#)?.code == .notFound)
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
            let (list, page) = (GifList.search("cats", rating: "g"), PageRequest(limit: 25))
            let request = GifRequest.page(list, offset: 0, page)
            upstream.hold()
            let answers = await withTaskGroup(of: GifResult.self) { tasks in
                for _ in 0..<3 { tasks.addTask { await core.sources.askGiphy(request, for: 1000, mayFetch: true) } }
                await upstream.waitForRequests(1)
                upstream.release()
                return await tasks.reduce(into: []) { $0.append($1) }
            }
            #expect(answers == [.page, .page, .page])
            let stored = try await core.stores.gifs.page(of: list, page, notBefore: Timestamp(seconds: 0))
            #expect(stored?.items.count == 25)
            #expect(upstream.requests.count == 1)
        }
    }

    /// A search that waits for another search gets the failure of that search, and sends no request.
    @Test func theFailureOfASearchIsThatOfThoseThatWaitForIt() async throws {
        try await run { daemon, upstream in
            upstream.hold()
            let clients = try (0..<3).map { _ in try daemon.client() }
            for (number, client) in clients.enumerated() {
                try client.send(
                    line: #"{"jsonrpc":"2.0","id":1,"method":"gif.search","params":{"query":"q\#(number)"}}"#)
            }
            await upstream.waitForRequests(1)
            upstream.setFault(.status(503))
            upstream.release()
            for client in clients {
                let reply = try Response(parsing: Array((try client.receiveLine() ?? "").utf8))
                let error = #expect(throws: ResponseError.self) { try reply.outcome.get() }
                let failure = try error?.details["last_error"].map { try SourceFailure(json: $0) }
                #expect(failure?.kind == .http)
            }
            #expect(upstream.requests.count == 1)
        }
    }

    @Test("A run ends although a list is too long for Giphy, or expires during the run", arguments: [true, false])
    func runsEnd(isTooLong: Bool) async throws {
        try await run(queries: "[cats, dogs]", settings: ", keep: 1s") { daemon, upstream in
            if isTooLong { upstream.setFault(.status(414), path: "/v1/gifs/search") }
            upstream.hold()
            let sources = daemon.core.sources
            let source = try #require(sources.current["gifs"])
            async let outcome = sources.fetch(source)
            await upstream.waitForRequests(1)
            upstream.release()
            await upstream.waitForRequests(2)
            if !isTooLong { daemon.clock.advance(by: .seconds(60)) }
            #expect(await outcome.added != nil)
            #expect(await daemon.core.stores.records.fetch(of: "gifs") != nil)
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

struct GiphyKeyTests {
    private let folder = TemporaryFolder()

    private func key(file: String? = nil, credentials: String? = nil) -> GiphyKey {
        var configuration = Configuration.Gifs()
        configuration.apiKeyFile = file
        return GiphyKey(configuration, Credentials(directory: credentials), now: .ofTests)
    }

    @Test func comesFromTheFileThatIsNamedOrElseFromTheCredential() throws {
        _ = try folder.write("def", to: "giphy-api-key")
        let named = key(file: try folder.write("abc\n", to: "key"), credentials: folder.path)
        #expect(named.secret?.value == "abc")
        #expect(named.failure == nil)
        #expect(key(credentials: folder.path).secret?.value == "def")
    }

    @Test("Invalid keys", arguments: ["two words", "a\u{7F}", "schlüssel", String(repeating: "x", count: 257)])
    func isNoKey(_ text: String) throws {
        let key = key(file: try folder.write(text, to: "key"))
        #expect(key.secret == nil)
        #expect(key.failure?.kind == .credentials && key.failure?.message.contains(text) == false)
    }
}
