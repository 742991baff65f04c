import NorrisProtocol
import Testing

@testable import NorrisStore

struct GifSearchTests {
    private let store: GifStore

    init() async throws { store = try await GifStore.new() }

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

    @Test func noCharacterOfAQueryIsSpecial() async throws {
        let queries = [
            "%", "_", "\"", "*", "'", "\\", "50%", "a_b", "ab*", "'; --", "日", "AND",
        ]
        let titles = queries.map { "before \($0) after" } + ["50 x", "axb", "ab", "abc its", "x", "beforeafter"]
        try await stored(titles)
        for query in queries { #expect(try await found(query) == Set(titles.filter { $0.contains(query) })) }
    }

    @Test func titleDescriptionAndUserNameAreSearchedSeparately() async throws {
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

    @Test func newestComesFirstThenByIDOnAllPages() async throws {
        try await store.put(["b", "a", "Z", "c"].map { .some($0) }, at: .start)
        try await store.put(["e", "c", "B", "d", "é"].map { .some($0) }, at: .start + 1)
        let first = try await page("title", limit: 3)
        let rest = try await page("TITLE", cursor: first.next)
        #expect((first.items + rest.items).map(\.id) == ["B", "c", "d", "e", "é", "Z", "a", "b"])
        #expect(first.total == 8 && rest.total == 8 && rest.next == nil)
        await #expect(throws: ResponseError.foreignCursor) { try await page("titles", cursor: first.next) }
        await #expect(throws: ResponseError.foreignCursor) {
            try await page("title", rating: "g", cursor: first.next)
        }
    }

    @Test(
        arguments: [
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
            for _ in 0..<20 {
                let gif = try #require(await store.random(text: text, rating: allowed, notBefore: .start))
                #expect(words.contains(gif.rating))
            }
        }
    }

    @Test func randomGifForATextIsInItsListOrContainsIt() async throws {
        let dogs = GifList.search("Dogs", rating: "pg", lang: "de")
        let listed: [Gif] = [.some("listed"), .some("strong", rating: "r")]
        try await store.put(listed, in: dogs, offset: 0, nextOffset: nil, totalCount: nil)
        try await store.put([.some("other")], in: .trending(rating: "pg"), offset: 0, nextOffset: nil, totalCount: nil)
        var described = Gif.some("described")
        described.altText = "Two DOGS"
        try await store.put([.some("titled", "Hotdogs"), described])
        var ids: Set<String> = []
        for _ in 0..<200 {
            let gif = await store.random(text: "  dOgs ", rating: "pg", notBefore: .start)
            ids.insert(try #require(gif).id)
        }
        #expect(ids == ["listed", "titled", "described"])
        #expect(await store.random(text: "hamster", rating: "r", notBefore: .start) == nil)
    }
}
