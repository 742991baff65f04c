import NorrisProtocol
import Testing

@testable import NorrisStore

struct GifStoreTests {
    private let store: GifStore
    private let cats = GifList.search("cats", rating: "g")

    init() async throws { store = try await GifStore.new() }

    @Test func gifComesBackWhole() async throws {
        let gif = Gif(
            id: "-x_É", title: "Tür \"A\" \\ é e\u{301} 👩‍👩‍👧", rating: "PG",
            pageURL: "https://giphy.com/gifs/a?b=c&d=%20", username: "Somebody", altText: "A door.", isSticker: true,
            renditions: [
                "original": Gif.Rendition(
                    url: "https://media0.giphy.com/media/v1.Y2lk/x/giphy.gif?cid=1&rid=giphy.gif&ct=g",
                    mp4: "https://a.example/%E2%9C%93", webp: "https://a.example/é", width: 480, height: 229,
                    bytes: 976_265, frames: 20), "looping": Gif.Rendition(mp4: "https://a.example/loop.mp4"),
            ], importedAt: Timestamp(seconds: 1_600_000_000), trendingAt: Timestamp(seconds: 1_700_000_000))
        #expect(try await store.put([gif], at: .start) == 1)
        let stored = try #require(await store.gif(id: "-x_É", notBefore: .start))
        #expect(stored == gif)
        #expect(stored.jsonBytes == gif.jsonBytes)
        #expect(await store.gif(id: "-x_E\u{301}", notBefore: .start) == nil)
        #expect(try await store.put([.some("-x_É", "New"), .some("b")], at: .start + 1) == 1)
        #expect(await store.gif(id: "-x_É", notBefore: .start)?.title == "New")
        #expect(try await store.search(text: "tür", rating: "r", cursor: nil, limit: 9, notBefore: .start).items == [])
    }

    /// No call returns expired content, even if it is still stored.
    @Test func nothingOldIsServed() async throws {
        try await store.put(gifs(0..<3), in: cats, offset: 0, nextOffset: nil, totalCount: nil, at: .start)
        let limit = Timestamp.start + 1
        #expect(try await store.page(of: cats, PageRequest(limit: 9), notBefore: limit) == nil)
        let found = try await store.search(text: "title", rating: "r", cursor: nil, limit: 9, notBefore: limit)
        #expect(found == Page(items: [], total: 0))
        #expect(await store.random(text: nil, rating: "r", notBefore: limit) == nil)
        #expect(await store.random(text: "cats", rating: "r", notBefore: limit) == nil)
        #expect(await store.random(text: "title", rating: "r", notBefore: limit) == nil)
        // A renewed GIF has not expired, but its list has.
        try await store.put([.some("gif-00001", "Same")], at: limit)
        #expect(try await store.page(of: cats, PageRequest(limit: 9), notBefore: limit) == nil)
        #expect(await store.random(text: "cats", rating: "r", notBefore: limit) == nil)
        #expect(await store.random(text: "same", rating: "r", notBefore: limit)?.id == "gif-00001")
        // A GIF that is older than its list, after a clock rollback, is left out.
        try await store.put(gifs(0..<3), in: cats, offset: 0, nextOffset: nil, totalCount: nil, at: limit)
        try await store.put([.some("gif-00001")], at: .start)
        let page = try await store.page(of: cats, PageRequest(limit: 9), notBefore: limit)
        #expect(page?.items.map(\.id) == ["gif-00000", "gif-00002"])
    }

    @Test func purgeLeavesNothingOfWhatIsOld() async throws {
        try await store.put(gifs(0..<5), in: cats, offset: 0, nextOffset: nil, totalCount: nil, at: .start)
        let dogs = GifList.search("dogs", rating: "g")
        try await store.put(gifs(3..<8), in: dogs, offset: 0, nextOffset: nil, totalCount: nil, at: .start + 10)
        #expect(await store.purge(before: .start, now: .start + 10) == 0)
        #expect(try await store.ids(of: cats).count == 5)
        #expect(await store.purge(before: .start + 1, now: .start + 10) == 3)
        #expect(try await store.rows(of: "gifs") == 5)
        #expect(try await store.rows(of: "gif_lists") == 1)
        #expect(try await store.ids(of: dogs) == gifs(3..<8).map(\.id))
        #expect(await store.purge(before: .start + 11, now: .start + 11) == 5)
        for table in ["gifs", "gif_lists"] { #expect(try await store.rows(of: table) == 0) }
    }

    @Test func whatIsOfTheFutureIsPurgedInItsTimeAfterTheClockWasSetBack() async throws {
        try await store.put(gifs(0..<2), in: cats, offset: 0, nextOffset: nil, totalCount: nil, at: .start + 1_000_000)
        #expect(await store.purge(before: .start - 86_400, now: .start) == 0)
        #expect(try await store.page(of: cats, PageRequest(limit: 9), notBefore: .start)?.fetchedAt == .start)
        #expect(await store.gif(id: "gif-00000", notBefore: .start + 1) == nil)
        #expect(await store.purge(before: .start + 1, now: .start + 86_401) == 2)
        #expect(try await store.rows(of: "gif_lists") == 0)
    }

    @Test func clearingTakesEverythingWithTheRecord() async throws {
        let records = SourceRecords(databases: store.databases)
        let fetch = FetchRecord(settings: "s", fetchedAt: .start)
        try await store.put(gifs(0..<3), in: cats, offset: 0, nextOffset: nil, totalCount: nil)
        try await store.put([.some("x")])
        let run = records.beginImport(of: GifStore.source)
        try await run.store(fetch)
        #expect(try await store.clear() == 4)
        // A run from before that.
        await #expect(throws: Databases.contentGone) { try await run.store(fetch) }
        for table in ["gifs", "gif_lists"] { #expect(try await store.rows(of: table) == 0) }
        #expect(await records.fetch(of: GifStore.source) == nil)
        #expect(try await store.clear() == 0)
    }
}

extension Timestamp { fileprivate static func - (time: Timestamp, seconds: Int64) -> Timestamp { time + -seconds } }
