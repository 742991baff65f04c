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

    @Test func textsThatDifferInCaseAndSurroundingSpaceAreOneList() async throws {
        for (text, same) in [
            ("cats", "  Cats"), ("cats", "CATS\t\n\u{A0}\u{3000}"), ("два слова", "ДВА СЛОВА "), ("", "   "),
            ("é", "É"),
        ] {
            let list = GifList.search(text, rating: "g")
            let other = GifList.search(same, rating: "g", lang: "")
            #expect(list == other && list.hashValue == other.hashValue)
            #expect(list.query.hasSameBytes(as: text))
            try await store.put(gifs(0..<2), in: list, offset: 0, nextOffset: nil, totalCount: 2)
            #expect(try await store.ids(of: other) == gifs(0..<2).map(\.id))
        }
    }

    @Test func listsOfOtherQuestionsAreOthers() async throws {
        let lists: [GifList] = [
            cats, .search("cat s", rating: "g"), .search("cats", rating: "pg"),
            .search("cats", rating: "g", lang: "de"), .search("cats", rating: "", lang: "g"),
            .search("", rating: "g"), .search("trending", rating: "g"), .trending(rating: "g"), .trending(rating: "pg"),
            // Canonically equivalent, but Giphy receives other bytes.
            .search("\u{E9}", rating: "g"), .search("e\u{301}", rating: "g"),
        ]
        for (number, list) in lists.enumerated() {
            try await store.put(gifs(number..<number + 1), in: list, offset: 0, nextOffset: nil, totalCount: 1)
        }
        for (number, list) in lists.enumerated() {
            #expect(lists.filter { $0 == list }.count == 1)
            #expect(try await store.ids(of: list) == gifs(number..<number + 1).map(\.id))
        }
        #expect(try await page(.search("dogs", rating: "g")) == nil)
    }

    @Test func pageTellsWhatItIs() async throws {
        let put = try await store.put(gifs(0..<5), in: cats, offset: 0, nextOffset: 5, totalCount: 70, at: .start + 9)
        #expect(put.added == 5 && put.page == nil)
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
        #expect(try await store.put(gifs(4..<8), in: cats, offset: 5, nextOffset: nil, totalCount: 70).added == 3)
        let again = try #require(try await page(cursor: third.next, limit: 3))
        #expect(again == GifListPage(items: gifs(5..<8), total: 8, next: nil, fetchedAt: .start + 9))
    }

    @Test func emptyListIsAnAnswer() async throws {
        try await store.put([], in: cats, offset: 0, nextOffset: nil, totalCount: 0, at: .start)
        #expect(try await page() == GifListPage(items: [], total: 0, fetchedAt: .start))
        // If no GIF of the first page is usable, the next page may contain usable GIFs.
        try await store.put([], in: cats, offset: 0, nextOffset: 25, totalCount: 30, at: .start)
        let page = try #require(try await page())
        #expect(page.needsUpstream == 25)
        try await store.put(gifs(0..<2), in: cats, offset: 25, nextOffset: nil, totalCount: 30)
        #expect(try await self.page(cursor: page.next)?.items == gifs(0..<2))
    }

    @Test func totalOfAnUnfinishedListIsGiphys() async throws {
        for (count, total) in [(999, 999), (1_000, 1_000), (1_001, nil), (3, 10), (nil, nil)] as [(Int?, Int?)] {
            try await store.put(gifs(0..<10), in: cats, offset: 0, nextOffset: 10, totalCount: count)
            #expect(try await page(limit: 1)?.total == total)
        }
    }

    @Test func aStoredPageIsReadForTheClientThatWaits() async throws {
        let first = try await store.put(
            gifs(0..<5), in: cats, offset: 0, nextOffset: 5, totalCount: nil, at: .start,
            replyingTo: PageRequest(limit: 3), notBefore: .start)
        #expect(try await first.page == page(limit: 3))
        let cursor = try #require(try await page(limit: 5)?.next)
        let second = try await store.put(
            gifs(5..<9), in: cats, offset: 5, nextOffset: nil, totalCount: nil, at: .start + 1,
            replyingTo: PageRequest(limit: 9, cursor: cursor), notBefore: .start)
        #expect(second.page?.items == gifs(5..<9))
        // The list was replaced since the client's last page.
        let third = try await store.put(
            gifs(0..<9), in: cats, offset: 0, nextOffset: nil, totalCount: nil, at: .start + 2,
            replyingTo: PageRequest(limit: 9, cursor: cursor), notBefore: .start)
        #expect(third.added == 0 && third.page == nil)
    }

    @Test("A page that does not begin exactly where the list ends changes nothing") func pagesElsewhere() async throws {
        #expect(try await store.put(gifs(0..<2), in: cats, offset: 25, nextOffset: nil, totalCount: 2).added == 0)
        #expect(try await page() == nil)
        try await store.put(gifs(0..<2), in: cats, offset: 0, nextOffset: 2, totalCount: nil, at: .start)
        for offset in [1, 3, 25, -1] {
            let put = try await store.put(gifs(2..<4), in: cats, offset: offset, nextOffset: 50, totalCount: 9)
            #expect(put.added == 0)
        }
        // Two requests for one page: the second reply is ignored.
        #expect(try await store.put(gifs(2..<4), in: cats, offset: 2, nextOffset: nil, totalCount: nil).added == 2)
        #expect(try await store.put(gifs(2..<4), in: cats, offset: 2, nextOffset: 4, totalCount: nil).added == 0)
        #expect(try await store.ids(of: cats) == gifs(0..<4).map(\.id))
        #expect(try await page()?.next == nil)
        #expect(await store.count(notBefore: .start) == 4)
    }

    @Test func listThatWouldStandStillEnds() async throws {
        try await store.put(gifs(0..<2), in: cats, offset: 0, nextOffset: 0, totalCount: nil)
        #expect(try await page()?.next == nil)
        try await store.put(gifs(0..<2), in: cats, offset: 0, nextOffset: 2, totalCount: nil)
        // A page without new GIFs.
        try await store.put(gifs(0..<2), in: cats, offset: 2, nextOffset: 4, totalCount: nil)
        #expect(try await page()?.next == nil)
    }

    @Test func listHasAtMostAsManyGIFsAsGiphyReturns() async throws {
        try await store.put(gifs(0..<5_001), in: cats, offset: 0, nextOffset: 5_001, totalCount: nil)
        let ids = try await store.databases.read(store.databases.cache) { database in
            try database.map("SELECT value FROM gif_lists, json_each(ids)") { try $0[0] as String }
        }
        #expect(ids == gifs(0..<5_000).map(\.id))
        #expect(try await page(limit: 1)?.total == nil)
    }

    @Test func listEndsWithWhatIsStoredForOneWhoAsksForNoMore() async throws {
        try await store.put(gifs(0..<3), in: cats, offset: 0, nextOffset: 3, totalCount: 90)
        func stored(_ cursor: String? = nil, limit: Int) async throws -> GifListPage? {
            try await store.page(
                of: cats, PageRequest(limit: limit, cursor: cursor), notBefore: .start, endsWithStored: true)
        }
        let first = try #require(try await stored(limit: 2))
        let second = try #require(try await stored(first.next, limit: 2))
        #expect(second.items == gifs(2..<3))
        #expect(second.next == nil && second.needsUpstream == nil)
        // The cursor is from a request that could continue at Giphy.
        let end = try #require(try await page(limit: 3)?.next)
        let rest = try #require(try await stored(end, limit: 2))
        #expect(rest.items == [] && rest.next == nil && rest.needsUpstream == nil)
    }

    @Test func firstPageReplacesTheList() async throws {
        try await store.put(gifs(0..<5), in: cats, offset: 0, nextOffset: 5, totalCount: 9, at: .start)
        let later = Array(gifs(3..<7).reversed())
        try await store.put(later, in: cats, offset: 0, nextOffset: nil, totalCount: nil, at: .start + 1)
        #expect(try await store.ids(of: cats) == ["gif-00006", "gif-00005", "gif-00004", "gif-00003"])
        #expect(try await page()?.fetchedAt == .start + 1)
        #expect(try await store.rows(of: "gif_lists") == 1)
        // GIFs that left the list remain stored.
        #expect(await store.gif(id: "gif-00000", notBefore: .start) == gifs(0..<1).first)
    }

    @Test func contentOfADoubleIsRenewed() async throws {
        try await store.put(gifs(0..<3), in: cats, offset: 0, nextOffset: 3, totalCount: nil, at: .start)
        let renewed = Gif.some("gif-00001", "New")
        let doubles = [renewed, renewed]
        let put = try await store.put(doubles, in: cats, offset: 3, nextOffset: nil, totalCount: nil, at: .start + 5)
        #expect(put.added == 0)
        #expect(try await page()?.items == [gifs(0..<1)[0], renewed, gifs(2..<3)[0]])
        #expect(await store.missing(ids: gifs(0..<3).map(\.id), notBefore: .start + 5) == ["gif-00000", "gif-00002"])
        #expect(await store.count(notBefore: .start) == 3)
    }

    /// Stronger ratings are left out. Unknown ratings are kept, because the request to Giphy limits the rating.
    @Test func listHoldsNothingStrongerThanItsRating() async throws {
        let items = ["g", "r", "pg", "pg-13", "", "y"].map { Gif.some("gif-\($0)", rating: $0) }
        try await store.put(items, in: cats, offset: 0, nextOffset: nil, totalCount: 6)
        #expect(try await store.ids(of: cats, limit: 1) == ["gif-g", "gif-", "gif-y"])
        #expect(try await page(limit: 1)?.total == 3)
        let mild = GifList.search("cats", rating: "pg-13")
        try await store.put(items, in: mild, offset: 0, nextOffset: nil, totalCount: 6)
        #expect(try await store.ids(of: mild) == ["gif-g", "gif-pg", "gif-pg-13", "gif-", "gif-y"])
    }
}

struct GifCursorTests {
    private let store: GifStore
    private let cats = GifList.search("cats", rating: "g")

    init() async throws { store = try await GifStore.new() }

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
        for list: GifList in [
            .search("cat", rating: "g"), .search("cats", rating: "pg"), .search("cats", rating: "g", lang: "de"),
            .trending(rating: "g"),
        ] {
            await expect(.foreignCursor, for: cursor, in: list, store)
            _ = try await begin(list, store)
            await expect(.foreignCursor, for: cursor, in: list, store)
        }
        let elsewhere = try await GifStore.new()
        _ = try await begin(cats, elsewhere)
        await expect(.foreignCursor, for: cursor, in: cats, elsewhere)
    }

    @Test func cursorOfAnOlderAnswerIsRefused() async throws {
        let first = try await begin(cats, store)
        let second = try await begin(cats, store, at: .start + 1)
        await expect(Self.outdated, for: first, in: cats, store)
        func next() async throws -> [Gif]? {
            try await store.page(of: cats, PageRequest(limit: 3, cursor: second), notBefore: .start)?.items
        }
        #expect(try await next() == gifs(3..<6))
        try await store.put(gifs(9..<12), in: cats, offset: 9, nextOffset: nil, totalCount: nil)
        #expect(try await next() == gifs(3..<6))
    }

    @Test func cursorOfAListThatIsGoneIsRefused() async throws {
        let first = try await begin(cats, store)
        try await store.clear()
        await expect(Self.outdated, for: first, in: cats, store)
        let second = try await begin(cats, store, at: .start + 1)
        await expect(Self.outdated, for: first, in: cats, store)
        await store.purge(before: .start + 2, now: .start + 2)
        await expect(Self.outdated, for: second, in: cats, store)
        let third = try await begin(cats, store, at: .start + 5)
        await expect(Self.outdated, for: second, in: cats, store)
        await #expect(throws: Self.outdated) {
            try await store.page(of: cats, PageRequest(limit: 3, cursor: third), notBefore: .start + 6)
        }
        #expect(try await store.page(of: cats, PageRequest(limit: 3, cursor: third), notBefore: .start + 5) != nil)
    }
}
