import NorrisProtocol
import NorrisTestSupport
import Testing

@testable import NorrisUpstream

@Suite(.timeLimit(.minutes(20)))
struct GiphyTests {
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
                    "/v1/gifs/search\(common)g&q=a&offset=0&limit=25",
                    "/v1/gifs/trending\(common)g&offset=3&limit=50",
                    "/v1/gifs/random\(common)g",
                    "/v1/gifs/random\(common)g&tag=x%2Fy%3F",
                    "/v1/gifs/-x_Y9\(common)g",
                    "/v1/gifs\(common)g&ids=a%2Cb",
                ]
            )
            #expect(fixture.upstream.requests.allSatisfy { $0.header("Accept") == "application/json" })
        }
    }

    @Test(arguments: ["a&api_key=b", "100%", "tööt☃", "a+b", "#", "@someone sticker", "a\r\nb"])
    func queriesArriveUnchanged(query: String) async throws {
        try await run { fixture in
            _ = try await fixture.giphy().search(query, offset: 0, limit: 5)
            let request = try #require(fixture.upstream.requests.first)
            #expect(request.parameter("q")?.hasSameBytes(as: query) == true)
            #expect(request.parameter("api_key") == Fixture.key)
        }
    }

    @Test func aKeyOfAnyLettersArrives() async throws {
        let key = "a&b=c %41+é/?#"
        try await Fixture.run(FakeUpstream.start()) { fixture in
            fixture.upstream.setGifs(FakeUpstream.gifs(count: 1))
            fixture.upstream.requireKey(key)
            let page = try await fixture.giphy(key: key).trending(offset: 0, limit: 1)
            #expect(page.gifs.count == 1)
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
            #expect(try await giphy.gif(id: "../trending") == nil)
            #expect(try await giphy.gif(id: "") == nil)
            #expect(try await giphy.gif(id: String(repeating: "i", count: 65)) == nil)
            for id in ["random", "search", "trending", "translate", "related", "categories", "Random"] {
                #expect(try await giphy.gif(id: id) == nil)
                #expect(!Giphy.isPossibleID(id))
            }
            #expect(try await giphy.gifs(ids: ["", "a b", "random"]) == GifPage())
            #expect(try await giphy.gifs(ids: []) == GifPage())
            #expect(fixture.upstream.requests.isEmpty)
        }
    }

    @Test func possibleIDsAreFetched() async throws {
        #expect(Giphy.isPossibleID(RecordedGif.id))
        #expect(Giphy.isPossibleID(String(repeating: "i", count: 64)))
        try await run { fixture in
            _ = try await fixture.giphy().gifs(ids: ["a", "search", "b"])
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

    @Test func itsOwnTimeoutWins() async throws {
        try await run { fixture in
            fixture.upstream.setFault(.hang)
            let giphy = fixture.giphy()
            let short = Duration.milliseconds(100)
            let errors = [
                await failure { _ = try await giphy.search("x", offset: 0, limit: 1, timeout: short) },
                await failure { _ = try await giphy.trending(offset: 0, limit: 1, timeout: short) },
                await failure { _ = try await giphy.random(timeout: short) },
                await failure { _ = try await giphy.gif(id: "x", timeout: short) },
                await failure { _ = try await giphy.gifs(ids: ["x"], timeout: short) },
            ]
            #expect(errors.map(\.?.kind) == [.timeout, .timeout, .timeout, .timeout, .timeout])
        }
    }

    // MARK: Responses

    @Test func aSearchFindsGifs() async throws {
        var gifs = FakeUpstream.gifs(count: 3)
        gifs[2].isSticker = true
        try await run(gifs) { fixture in
            let page = try await fixture.giphy().search("NORRIS", offset: 0, limit: 25)
            #expect(page == GifPage(gifs: page.gifs, totalCount: 3))
            #expect(page.gifs.map(\.id) == gifs.map(\.id))
            #expect(page.gifs.map(\.title) == gifs.map(\.title))
            #expect(page.gifs.map(\.username) == [nil, "someone1", nil])
            #expect(page.gifs.map(\.altText) == ["A man nods 0 times.", nil, nil])
            #expect(page.gifs.map(\.isSticker) == [false, false, true])
            #expect(page.gifs.allSatisfy { $0.renditions.count == 22 && $0.trendingAt == nil && $0.importedAt != nil })
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

    @Test func aLaterPageMayRepeatAGif() async throws {
        try await run { fixture in
            fixture.upstream.setGiphyQuirks([.repeatsAcrossPages])
            let first = try await fixture.giphy().trending(offset: 0, limit: 10)
            let second = try await fixture.giphy().trending(offset: 10, limit: 10)
            #expect(first.gifs.last == second.gifs.first)
            #expect(second.nextOffset == 20)
        }
    }

    @Test func withoutPaginationAShortPageIsTheLast() async throws {
        try await run(FakeUpstream.gifs(count: 12)) { fixture in
            fixture.upstream.setGiphyQuirks([.noPagination])
            let first = try await fixture.giphy().trending(offset: 0, limit: 10)
            #expect((first.totalCount, first.nextOffset) == (nil, 10))
            #expect(try await fixture.giphy().trending(offset: 10, limit: 10).nextOffset == nil)
        }
    }

    @Test("A query that is empty finds nothing, and that is no error")
    func noQuery() async throws {
        try await run { fixture in
            let page = try await fixture.giphy().search("", offset: 0, limit: 5)
            #expect(page == GifPage(totalCount: 0))
        }
    }

    @Test func theRatingKeepsStrongerOnesOut() async throws {
        let gifs = ["y", "g", "pg", "pg-13", "r"].map { FakeGif(id: $0, title: "chuck", rating: $0) }
        try await run(gifs) { fixture in
            #expect(try await fixture.giphy().trending(offset: 0, limit: 9).gifs.map(\.rating) == ["y", "g"])
            #expect(try await fixture.giphy(rating: "pg").gifs(ids: ["r", "pg"]).gifs.map(\.id) == ["pg"])
            let page = try await fixture.giphy().search("chuck", offset: 0, limit: 9, rating: "pg-13")
            #expect(page.gifs.map(\.rating) == ["y", "g", "pg", "pg-13"])
        }
    }

    @Test(arguments: [[], [FakeUpstream.GiphyQuirk.nothingIsAnObject]])
    func aTagMayFindNothing(quirks: Set<FakeUpstream.GiphyQuirk>) async throws {
        let gifs = FakeUpstream.gifs(count: 3)
        try await run(gifs) { fixture async throws in
            fixture.upstream.setGiphyQuirks(quirks)
            #expect(try await fixture.giphy().random(tag: "nothing") == nil)
            #expect(try await fixture.giphy().random(tag: "number 2")?.id == gifs[2].id)
            #expect(try await fixture.giphy().random()?.id == gifs[0].id)
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

    @Test func compressedResponsesAreRead() async throws {
        try await Fixture.run(FakeUpstream.start(gzip: true)) { fixture in
            fixture.upstream.setGifs(FakeUpstream.gifs(count: 25))
            let page = try await fixture.giphy().trending(offset: 0, limit: 25)
            #expect(page.gifs.count == 25)
        }
    }
}
