import NorrisProtocol
import Testing

@testable import NorrisStore

struct GifListTests {
    private let store: GifStore
    private let cats = GifList.search("cats", rating: "g")

    init() async throws { store = try await GifStore.new() }

    private func page(
        _ list: GifList? = nil, cursor: String? = nil, limit: Int = 50, notBefore: Timestamp = .start
    ) async throws -> GifListPage? {
        try await store.page(of: list ?? cats, PageRequest(limit: limit, cursor: cursor), notBefore: notBefore)
    }

    @Test func pageTellsWhatItIs() async throws {
        let put = try await store.put(gifs(0..<5), in: cats, offset: 0, nextOffset: 5, totalCount: 70, at: .start + 9)
        #expect(put == 5)
        let first = try #require(try await page(limit: 3))
        #expect(first.items == gifs(0..<3))
        #expect(first.total == 70)
        #expect(first.fetchedAt == .start + 9)
        #expect(first.needsUpstream == nil)
        let second = try #require(try await page(cursor: first.next, limit: 3))
        #expect(second.items == gifs(3..<5))
        #expect(second.needsUpstream == nil)
        // The stored items end here, but Giphy has more. After the next page is stored, the same cursor continues.
        let third = try #require(try await page(cursor: second.next, limit: 3))
        #expect(third.items == [])
        #expect(third.needsUpstream == 5)
        #expect(third.next == second.next)
        #expect(try await store.put(gifs(4..<8), in: cats, offset: 5, nextOffset: nil, totalCount: 70) == 3)
        let again = try #require(try await page(cursor: third.next, limit: 3))
        #expect(again == GifListPage(items: gifs(5..<8), total: 8, next: nil, fetchedAt: .start + 9))
    }

    @Test func totalOfAnUnfinishedListIsGiphys() async throws {
        for (count, total) in [(999, 999), (1_000, 1_000), (1_001, nil), (3, 10), (nil, nil)] as [(Int?, Int?)] {
            try await store.put(gifs(0..<10), in: cats, offset: 0, nextOffset: 10, totalCount: count)
            #expect(try await page(limit: 1)?.total == total)
        }
    }

    @Test func emptyListIsAnAnswer() async throws {
        try await store.put([], in: cats, offset: 0, nextOffset: nil, totalCount: 0, at: .start)
        #expect(try await page() == GifListPage(items: [], total: 0, fetchedAt: .start))
        // If no GIF of the first page is usable, the next page may contain usable GIFs.
        try await store.put([], in: cats, offset: 0, nextOffset: 25, totalCount: 30, at: .start)
        #expect(try await page()?.needsUpstream == 25)
    }

    @Test func listThatWouldStandStillEnds() async throws {
        try await store.put(gifs(0..<2), in: cats, offset: 0, nextOffset: 0, totalCount: nil)
        #expect(try await page()?.next == nil)
        try await store.put(gifs(0..<2), in: cats, offset: 0, nextOffset: 2, totalCount: nil)
        // A page without new GIFs.
        try await store.put(gifs(0..<2), in: cats, offset: 2, nextOffset: 4, totalCount: nil)
        #expect(try await page()?.next == nil)
    }

    /// Stronger ratings are left out. Unknown ratings are kept, because the request to Giphy limits the rating.
    @Test func listHoldsNothingStrongerThanItsRating() async throws {
        let items = ["g", "r", "pg", "pg-13", "", "y"].map { Gif.some("gif-\($0)", rating: $0) }
        try await store.put(items, in: cats, offset: 0, nextOffset: nil, totalCount: 6)
        #expect(try await store.ids(of: cats) == ["gif-g", "gif-", "gif-y"])
        #expect(try await page(limit: 1)?.total == 3)
        let mild = GifList.search("cats", rating: "pg-13")
        try await store.put(items, in: mild, offset: 0, nextOffset: nil, totalCount: 6)
        #expect(try await store.ids(of: mild) == ["gif-g", "gif-pg", "gif-pg-13", "gif-", "gif-y"])
    }

    // MARK: Cursors

    private static let outdated = ResponseError.invalidParams(
        "The cursor has expired: the search was repeated.", parameter: "cursor", hint: "Start again without a cursor.")

    private func begin(_ list: GifList, _ store: GifStore, at time: Timestamp = .start) async throws -> String {
        try await store.put(gifs(0..<9), in: list, offset: 0, nextOffset: 9, totalCount: nil, at: time)
        let page = try await store.page(of: list, PageRequest(limit: 3), notBefore: .start)
        return try #require(page?.next)
    }

    private func expect(_ error: ResponseError, for cursor: String, in list: GifList, _ store: GifStore) async {
        await #expect(throws: error, "\(cursor.prefix(30))") {
            try await store.page(of: list, PageRequest(limit: 3, cursor: cursor), notBefore: .start)
        }
    }

    @Test func cursorOfAnotherListIsRefused() async throws {
        let cursor = try await begin(cats, store)
        let spelling = GifList.search(" CATS ", rating: "g", lang: "")
        #expect(
            try await store.page(of: spelling, PageRequest(limit: 3, cursor: cursor), notBefore: .start)?.items
                == gifs(3..<6))
        for list: GifList in [.search("cats", rating: "pg"), .trending(rating: "g")] {
            _ = try await begin(list, store)
            await expect(.foreignCursor, for: cursor, in: list, store)
        }
        let elsewhere = try await GifStore.new()
        _ = try await begin(cats, elsewhere)
        await expect(.foreignCursor, for: cursor, in: cats, elsewhere)
    }

    @Test func cursorOfAListThatIsGoneIsRefused() async throws {
        let first = try await begin(cats, store)
        try await store.clear()
        await expect(Self.outdated, for: first, in: cats, store)
        let second = try await begin(cats, store, at: .start + 1)
        await expect(Self.outdated, for: first, in: cats, store)
        #expect(
            try await store.page(of: cats, PageRequest(limit: 3, cursor: second), notBefore: .start)?.items
                == gifs(3..<6))
        await store.purge(before: .start + 2, now: .start + 2)
        await expect(Self.outdated, for: second, in: cats, store)
    }
}
