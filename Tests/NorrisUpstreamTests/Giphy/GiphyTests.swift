import NorrisProtocol
import NorrisTestSupport
import Testing

@testable import NorrisUpstream

@Suite(.timeLimit(.minutes(20))) struct GiphyTests {
    private func run(
        _ gifs: [FakeGif] = FakeUpstream.gifs(count: 60), prefix: String = "", _ body: (Fixture) async throws -> Void
    ) async throws {
        let upstream = try await FakeUpstream.start(prefix: prefix)
        upstream.setGifs(gifs)
        upstream.requireKey(Fixture.key)
        try await Fixture.run(upstream, body)
    }

    // MARK: Requests

    @Test func requestsAreAsGiphyWants() async throws {
        try await run { fixture in
            let giphy = fixture.giphy()
            _ = try await giphy.search("a b", offset: 5, limit: 10, rating: "pg", lang: "zh-CN")
            _ = try await giphy.search("a", offset: 0, limit: 25)
            _ = try await giphy.trending(offset: 3, limit: 50)
            _ = try await giphy.random()
            _ = try await giphy.random(tag: "x/y?")
            _ = try await giphy.gif(id: "-x_Y9")
            _ = try await giphy.gifs(ids: ["a", "b"])
            let common = "?api_key=\(Fixture.key)&rating="
            #expect(
                fixture.upstream.requests.map(\.target) == [
                    "/v1/gifs/search\(common)pg&q=a%20b&lang=zh-CN&offset=5&limit=10",
                    "/v1/gifs/search\(common)g&q=a&offset=0&limit=25", "/v1/gifs/trending\(common)g&offset=3&limit=50",
                    "/v1/gifs/random\(common)g", "/v1/gifs/random\(common)g&tag=x%2Fy%3F", "/v1/gifs/-x_Y9\(common)g",
                    "/v1/gifs\(common)g&ids=a%2Cb",
                ])
            #expect(fixture.upstream.requests.allSatisfy { $0.header("Accept") == "application/json" })
            // Giphy's terms forbid shared caches.
            #expect(fixture.upstream.requests.allSatisfy { $0.header("Cache-Control") == "no-store" })
        }
    }

    @Test func aBaseURLMayHaveAPath() async throws {
        try await run(prefix: "/x/y") { fixture async throws in
            #expect(try await fixture.giphy("//").trending(offset: 0, limit: 2).gifs.count == 2)
            #expect(fixture.upstream.requests.first?.path == "/x/y/v1/gifs/trending")
        }
    }

    @Test func nothingIsFetchedBeyondTheLastOffset() async throws {
        try await run { fixture async throws in
            let giphy = fixture.giphy()
            #expect(try await giphy.search("chuck", offset: 5000, limit: 5) == GifPage())
            #expect(try await giphy.trending(offset: 500, limit: 5) == GifPage())
            #expect(fixture.upstream.requests.isEmpty)
            #expect(try await giphy.search("chuck", offset: 4999, limit: 5).totalCount == 60)
            #expect(try await giphy.trending(offset: 499, limit: 5).totalCount == 60)
        }
    }

    @Test func anImpossibleIDIsNotFetched() async throws {
        try await run { fixture async throws in
            let giphy = fixture.giphy()
            let long = String(repeating: "i", count: 64)
            for id in ["../trending", "", long + "i", "random", "search", "translate", "categories", "Random"] {
                #expect(try await giphy.gif(id: id) == nil)
                #expect(!Giphy.isPossibleID(id))
            }
            #expect(try await giphy.gifs(ids: ["", "a b", "random"]) == GifPage())
            #expect(try await giphy.gifs(ids: []) == GifPage())
            #expect(fixture.upstream.requests.isEmpty)
            #expect(Giphy.isPossibleID(RecordedGif.id) && Giphy.isPossibleID(long))
            _ = try await giphy.gifs(ids: ["a", "search", "b"])
            #expect(fixture.upstream.requests.first?.parameter("ids") == "a,b")
        }
    }

    @Test func unknownIDsMayBeAnsweredWith404() async throws {
        try await run { fixture async throws in
            fixture.upstream.setFault(.status(404))
            #expect(try await fixture.giphy().gifs(ids: ["a"]) == GifPage())
            fixture.upstream.setFault(.status(410))
            #expect(await failure { _ = try await fixture.giphy().gifs(ids: ["a"]) }?.kind == .http(status: 410))
        }
    }

    // MARK: Responses

    @Test func aSearchFindsGifs() async throws {
        let gifs = FakeUpstream.gifs(count: 3)
        try await run(gifs) { fixture in
            let page = try await fixture.giphy().search("NORRIS", offset: 0, limit: 25)
            #expect(page == GifPage(gifs: page.gifs, totalCount: 3))
            #expect(page.gifs.map(\.id) == gifs.map(\.id))
            #expect(page.gifs.map(\.title) == gifs.map(\.title))
            #expect(page.gifs.allSatisfy { $0.renditions.count == 4 && $0.trendingAt == nil && $0.importedAt != nil })
            #expect(page.gifs[0].renditions["original"]?.url == gifs[0].media("giphy.gif"))
        }
    }

    @Test func allPagesTogetherAreTheList() async throws {
        let gifs = FakeUpstream.gifs(count: 60)
        try await run(gifs) { fixture in
            var ids: [String] = []
            var next: Int? = 0
            while let offset = next {
                let page = try await fixture.giphy().search("chuck norris", offset: offset, limit: 25)
                #expect(page.totalCount == 60)
                ids += page.gifs.map(\.id)
                next = page.nextOffset
            }
            #expect(ids == gifs.map(\.id))
            #expect(fixture.upstream.requests.map { $0.parameter("offset") } == ["0", "25", "50"])
        }
    }

    @Test func gifsComeByID() async throws {
        let gifs = FakeUpstream.gifs(count: 120)
        try await run(gifs) { fixture in
            let giphy = fixture.giphy()
            #expect(try await giphy.gif(id: gifs[7].id)?.title == gifs[7].title)
            #expect(try await giphy.gif(id: "unknown") == nil)
            let ids = gifs.prefix(Giphy.maximumIDs - 1).map(\.id)
            let page = try await giphy.gifs(ids: ids + ["unknown"])
            #expect(page.gifs.map(\.id) == ids)
            #expect((page.skipped, page.nextOffset) == (0, nil))
        }
    }
}
