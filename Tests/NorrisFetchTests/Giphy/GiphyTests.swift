import NorrisFetchProtocol
import NorrisProtocol
import NorrisTestSupport
import Testing

@testable import NorrisFetch

@Suite(.timeLimit(.minutes(20))) struct GiphyTests {
    private func run(_ body: (Fixture) async throws -> Void) async throws {
        let upstream = try await FakeUpstream.start()
        upstream.setGifs(FakeUpstream.gifs(count: 60))
        upstream.requireKey(Fixture.key)
        try await Fixture.run(upstream, body)
    }

    @Test func requestsAreAsGiphyWants() async throws {
        try await run { fixture in
            _ = await fixture.giphy(.gifSearch, "a b", offset: 5, limit: 10) { ($0.rating, $0.lang) = ("pg", "zh-CN") }
            _ = await fixture.giphy(.gifSearch, "a", offset: 0, limit: 25)
            _ = await fixture.giphy(.gifTrending, offset: 3, limit: 50)
            _ = await fixture.giphy(.gifRandom)
            _ = await fixture.giphy(.gifRandom, "x/y?")
            _ = await fixture.giphy(.gifs, "-x_Y9")
            _ = await fixture.giphy(.gifs, "a,b")
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

    @Test func nothingIsFetchedBeyondTheLastOffset() async throws {
        try await run { fixture in
            #expect(await fixture.giphy(.gifSearch, "chuck", offset: 5000, limit: 5).isEmpty)
            #expect(await fixture.giphy(.gifTrending, offset: 500, limit: 5).isEmpty)
            #expect(fixture.upstream.requests.isEmpty)
            #expect(await fixture.giphy(.gifSearch, "chuck", offset: 4999, limit: 5).head.totalCount == 60)
            #expect(await fixture.giphy(.gifTrending, offset: 499, limit: 5).head.totalCount == 60)
        }
    }

    @Test func anImpossibleIDIsNotFetched() async throws {
        try await run { fixture in
            let long = String(repeating: "i", count: 64)
            for id in ["../trending", "", long + "i", "random", "search", "translate", "categories", "Random"] {
                #expect(await fixture.giphy(.gifs, id).isEmpty)
                #expect(!Gif.isPossibleID(id))
            }
            #expect(await fixture.giphy(.gifs, ",a b,random").isEmpty)
            #expect(await fixture.giphy(.gifs).isEmpty)
            #expect(fixture.upstream.requests.isEmpty)
            #expect(Gif.isPossibleID(RecordedGif.id) && Gif.isPossibleID(long))
            _ = await fixture.giphy(.gifs, "a,search,b")
            #expect(fixture.upstream.requests.first?.parameter("ids") == "a,b")
        }
    }

    @Test func unknownIDsMayBeAnsweredWith404() async throws {
        try await run { fixture in
            fixture.upstream.setFault(.status(404))
            #expect(await fixture.giphy(.gifs, "a").isEmpty)
            #expect(await fixture.giphy(.gifs, "a,b").isEmpty)
            fixture.upstream.setFault(.status(410))
            #expect(await fixture.giphy(.gifs, "a").failure?.status == 410)
        }
    }
}
