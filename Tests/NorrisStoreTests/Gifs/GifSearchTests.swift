import NorrisProtocol
import Testing

@testable import NorrisStore

struct GifSearchTests {
    private let store: GifStore

    init() throws {
        store = try GifStore.inMemory()
    }

    private func stored(_ titles: [String]) async throws {
        try await store.put(titles.enumerated().map { .some("\($0.offset)", $0.element) }, at: .start)
    }

    private func page(
        _ text: String, rating: String = "r", cursor: String? = nil, limit: Int = 50
    ) async throws -> Page<Gif> {
        try await store.search(text: text, rating: rating, cursor: cursor, limit: limit, notBefore: .start)
    }

    private func found(_ text: String) async throws -> Set<String> {
        let page = try await page(text)
        #expect(page.total == page.items.count)
        return Set(page.items.map(\.title))
    }

    @Test(arguments: [
        "%", "_", "\"", "*", "'", "\\", "?", "[", ":text", "50%", "a_b", "ab*", "it's", "\"\"", "'; --", "   ", "日",
        "AND", "(ab)", "👩‍👩‍👧",
    ])
    func queryIsLiteral(query: String) async throws {
        let text = "before \(query) after"
        try await stored([text, "50 x", "axb", "ab", "abc its", "x", "beforeafter"])
        #expect(try await found(query).contains(text))
        #expect(try await found(query).allSatisfy { $0.lowercased().contains(query.lowercased()) })
    }

    @Test(arguments: [
        ("éclair", "ÉCLAIR"), ("ÉCL", "éclair"), ("straße", "STRASSE"), ("ß", "Masse ss"), ("İst", "İSTANBUL"),
        ("ΣΊΣΥΦΟΣ", "σίσυφος"), ("привет", "ПРИВЕТ"), ("CHUCK", "chuck"),
    ])
    func caseDoesNotMatter(query: String, title: String) async throws {
        try await stored(["<\(title)>", "other"])
        #expect(try await found(query) == ["<\(title)>"])
        #expect(await store.random(text: query, rating: "r", notBefore: .start)?.title == "<\(title)>")
    }

    @Test func titleDescriptionAndUserNameAreSearchedEachForItself() async throws {
        var described = Gif.some("b", "Two")
        described.altText = "A Needle in hay"
        var named = Gif.some("c", "Three")
        named.username = "NeedleWorks"
        var split = Gif.some("d", "nee")
        split.altText = "dle"
        try await store.put([.some("a", "One needle"), described, named, split, .some("e", "")])
        #expect(try await found("needle") == ["One needle", "Two", "Three"])
        #expect(try await page("").total == 5)
    }

    @Test func newestStoredComesFirstThenById() async throws {
        try await store.put(["b", "a", "Z", "c"].map { .some($0) }, at: .start)
        try await store.put(["e", "c", "B", "d", "é"].map { .some($0) }, at: .start)
        #expect(try await page("title").items.map(\.id) == ["B", "d", "e", "é", "Z", "a", "b", "c"])
    }

    @Test(arguments: [999, 1_000, 1_001])
    func totalIsExactUpToAThousandAndAbsentAbove(count: Int) async throws {
        try await store.put(gifs(0..<count) + [.some("x", "nothing of the kind")], at: .start)
        #expect(try await page("title of", limit: 1).total == (count > 1_000 ? nil : count))
    }

    @Test(arguments: [1, 7, 25, 50])
    func pagesHoldEverythingOnceWhileOthersComeAndGo(limit: Int) async throws {
        try await store.put(gifs(0..<60), at: .start)
        var ids: [String] = []
        var cursor: String?
        var born = 100
        repeat {
            let page = try await page("title", cursor: cursor, limit: limit)
            #expect(page.items.count == min(limit, 60 - ids.count))
            ids += page.items.map(\.id)
            cursor = page.next
            try await store.put(gifs(born..<born + 2), at: .start)
            born += 2
        } while cursor != nil
        #expect(ids == gifs(0..<60).map(\.id))
    }

    @Test func foreignCursorIsRefused() async throws {
        try await store.put(gifs(0..<20), at: .start)
        let list = GifList.search("title", rating: "g")
        try await store.put(gifs(0..<20), in: list, offset: 0, nextOffset: 20, totalCount: nil, at: .start)
        let cursor = try #require(try await page("title", rating: "g", limit: 5).next)
        #expect(try await page("TITLE", rating: "g", cursor: cursor, limit: 5).items == gifs(5..<10))
        let ofList = try #require(try await store.page(of: list, cursor: nil, limit: 5, notBefore: .start)?.next)
        let refused: [(String, String, String)] = [
            ("title", "pg", cursor), ("titl", "g", cursor), ("title", "g", "0" + cursor), ("title", "g", ""),
            ("title", "g", cursor + "."), ("title", "g", ofList), ("title", "g", "1." + cursor),
            ("title", "g", "zz" + cursor.drop { $0 != "." }),
        ]
        for (text, rating, cursor) in refused {
            let error = await #expect(throws: ResponseError.self, "\(text) \(rating) \(cursor)") {
                try await page(text, rating: rating, cursor: cursor)
            }
            #expect(error?.code == .invalidParams)
            #expect(error?.message == "The cursor is not of this list.")
        }
    }

    @Test(arguments: [
        ("g", ["g", "G", "y"]), ("pg", ["g", "G", "y", "pg"]), ("pg-13", ["g", "G", "y", "pg", "pg-13"]),
        ("r", ["g", "G", "y", "pg", "pg-13", "r", "", "nc-17", "not-rated"]), ("unknown", ["g", "G", "y"]),
    ] as [(String, Set<String>)])
    func nothingStrongerThanAllowedComes(allowed: String, words: Set<String>) async throws {
        let all = ["g", "G", "y", "pg", "pg-13", "r", "", "nc-17", "not-rated"]
        try await store.put(all.map { .some("id-\($0)", rating: $0) }, at: .start)
        let page = try await page("title", rating: allowed)
        #expect(Set(page.items.map(\.rating)) == words)
        #expect(page.total == words.count)
        for text in [nil, "title"] {
            for _ in 0..<40 {
                let gif = try #require(await store.random(text: text, rating: allowed, notBefore: .start))
                #expect(words.contains(gif.rating))
            }
        }
    }

    @Test func anyGifIsAsLikelyAsTheOthers() async throws {
        try await store.put(gifs(0..<4), at: .start)
        var counts: [String: Int] = [:]
        for _ in 0..<400 {
            let gif = try #require(await store.random(text: nil, rating: "g", notBefore: .start))
            counts[gif.id, default: 0] += 1
        }
        // Ten standard deviations: what is not uniform fails, chance does not.
        #expect(counts.count == 4 && counts.values.allSatisfy { (14...186).contains($0) })
    }

    @Test func anyGifForATextIsOfItsListOrHoldsIt() async throws {
        let dogs = GifList.search("Dogs", rating: "pg", lang: "de")
        let listed: [Gif] = [.some("listed"), .some("strong", rating: "r")]
        try await store.put(listed, in: dogs, offset: 0, nextOffset: nil, totalCount: nil)
        try await store.put([.some("other")], in: .trending(rating: "pg"), offset: 0, nextOffset: nil, totalCount: nil)
        var named = Gif.some("named")
        named.username = "dogs"
        var described = Gif.some("described")
        described.altText = "Two DOGS"
        try await store.put([.some("titled", "Hotdogs"), described, named])
        var ids: Set<String> = []
        for _ in 0..<200 {
            let gif = await store.random(text: "  dOgs ", rating: "pg", notBefore: .start)
            ids.insert(try #require(gif).id)
        }
        #expect(ids == ["listed", "titled", "described"])
        #expect(await store.random(text: "hamster", rating: "r", notBefore: .start) == nil)
    }
}
