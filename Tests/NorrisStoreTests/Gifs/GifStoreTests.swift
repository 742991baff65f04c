import NorrisProtocol
import NorrisTestSupport
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
        #expect(await store.gif(id: "-x_É", notBefore: .start)?.username == nil)
        #expect(try await store.search(text: "tür", rating: "r", cursor: nil, limit: 9, notBefore: .start).items == [])
        #expect(try await store.put([]) == 0)
    }

    @Test func ageIsThatOfTheLastFetch() async throws {
        try await store.put([.some("a"), .some("b")], at: .start)
        try await store.put([.some("b")], at: .start + 10)
        #expect(await store.gif(id: "a", notBefore: .start) != nil)
        #expect(await store.gif(id: "a", notBefore: .start + 1) == nil)
        #expect(await store.gif(id: "b", notBefore: .start + 10) != nil)
        #expect(await store.count(notBefore: .start) == 2)
        #expect(await store.count(notBefore: .start + 10) == 1)
        #expect(await store.missing(ids: ["c", "b", "a"], notBefore: .start) == ["c"])
        #expect(await store.missing(ids: ["c", "b", "a"], notBefore: .start + 10) == ["c", "a"])
        #expect(await store.missing(ids: [], notBefore: .start) == [])
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

    @Test("Many GIFs and lists are removed in several transactions") func removalInSteps() async throws {
        func fill() async throws {
            for number in 0..<20 {
                let (list, page) = (GifList.search("cats \(number)", rating: "g"), gifs(number * 20..<number * 20 + 20))
                try await store.put(page, in: list, offset: 0, nextOffset: nil, totalCount: nil, at: .start)
            }
            #expect(store.count == 400)
        }
        try await fill()
        #expect(try await store.clear() == 400)
        #expect(store.count == 0)
        try await fill()
        #expect(await store.purge(before: .start + 1, now: .start + 1) == 400)
        #expect(store.count == 0)
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

    /// A GIF that expires before its list leaves a gap, and the pages continue after the gap.
    @Test func purgedGifLeavesItsLists() async throws {
        try await store.put(gifs(0..<5), in: cats, offset: 0, nextOffset: nil, totalCount: nil, at: .start + 10)
        try await store.put(gifs(2..<3), at: .start)
        #expect(await store.purge(before: .start + 5, now: .start + 10) == 1)
        #expect(try await store.ids(of: cats, limit: 2) == ["gif-00000", "gif-00001", "gif-00003", "gif-00004"])
    }

    @Test func whatIsOfTheFutureIsPurgedInItsTimeAfterTheClockWasSetBack() async throws {
        try await store.put(gifs(0..<2), in: cats, offset: 0, nextOffset: nil, totalCount: nil, at: .start + 1_000_000)
        #expect(await store.purge(before: .start - 86_400, now: .start) == 0)
        #expect(try await store.page(of: cats, PageRequest(limit: 9), notBefore: .start)?.fetchedAt == .start)
        #expect(await store.count(notBefore: .start + 1) == 0)
        #expect(await store.purge(before: .start + 1, now: .start + 86_401) == 2)
        #expect(try await store.rows(of: "gif_lists") == 0)
    }

    @Test func clearingTakesEverythingWithTheRecord() async throws {
        let records = SourceRecords(databases: store.databases)
        let fetch = FetchRecord(settings: "s", fetchedAt: .start)
        try await store.databases.write(fetch, for: "facts")
        try await store.put(gifs(0..<3), in: cats, offset: 0, nextOffset: nil, totalCount: nil)
        try await store.put([.some("x")])
        #expect(try await store.finishRun(fetch, of: [cats]))
        #expect(try await store.clear() == 4)
        for table in ["gifs", "gif_lists"] { #expect(try await store.rows(of: table) == 0) }
        #expect(await records.fetch(of: GifStore.source) == nil)
        #expect(await records.fetch(of: "facts") == fetch)
        #expect(try await store.clear() == 0)
    }

    @Test func runIsFinishedOnlyWhereItsListsAreThere() async throws {
        let records = SourceRecords(databases: store.databases)
        let fetch = FetchRecord(settings: "s", fetchedAt: .start)
        let trending = GifList.trending(rating: "g")
        try await store.put(gifs(0..<3), in: cats, offset: 0, nextOffset: nil, totalCount: nil)
        #expect(try await !store.finishRun(fetch, of: [cats, trending]))
        #expect(await records.fetch(of: "gifs") == nil)
        try await store.put([], in: trending, offset: 0, nextOffset: nil, totalCount: nil)
        #expect(try await store.finishRun(fetch, of: [cats, trending]))
        #expect(await records.fetch(of: "gifs") == fetch)
    }

    @Test func contentIsThereAfterARestartAndGoneWithItsFile() async throws {
        let fixture = StoreFixture()
        try await fixture.withGifs { store in
            try await store.put(gifs(0..<3), in: cats, offset: 0, nextOffset: 3, totalCount: nil)
            try await store.put([.some("x")])
        }
        try await fixture.withGifs { store in
            #expect(store.count == 4)
            #expect(try await store.ids(of: cats) == gifs(0..<3).map(\.id))
            try fixture.folder.remove("cache/cache.db")
            await store.databases.heal()
            await store.recount()
            #expect(store.count == 0)
            #expect(try await store.ids(of: cats) == [])
        }
    }
}

extension Timestamp { fileprivate static func - (time: Timestamp, seconds: Int64) -> Timestamp { time + -seconds } }

/// Failed writes change nothing and are reported. Failed reads return nothing or throw.
struct GifFailingDiskTests {
    private let fixture = StoreFixture()
    private let cats = GifList.search("cats", rating: "g")

    @Test(arguments: ["gifs", "gif_lists"])
    func pageThatCannotBeWrittenChangesNothing(table: String) async throws {
        try await fixture.withGifs { store in
            try await store.put(gifs(0..<3), in: cats, offset: 0, nextOffset: 3, totalCount: nil, at: .start)
            let before = try await store.page(of: cats, PageRequest(limit: 9), notBefore: .start)
            try await store.databases.cache.refuseWrites(to: table)
            let error = await #expect(throws: StoreError.self) {
                try await store.put(gifs(2..<9), in: cats, offset: 0, nextOffset: nil, totalCount: nil, at: .start + 5)
            }
            #expect(error?.path == fixture.folder("cache/cache.db"))
            #expect(store.databases.faults.map { $0.hasPrefix("cache.db takes no writes: ") } == [true])
            #expect(try await store.page(of: cats, PageRequest(limit: 9), notBefore: .start) == before)
            #expect(store.count == 3)
            // A purge without changes does not prove that writes succeed.
            #expect(await store.purge(before: .start, now: .start) == 0)
            #expect(store.databases.isReadOnly)
            try await store.databases.cache.takeWritesAgain()
            let new = try await store.put(
                gifs(2..<9), in: cats, offset: 0, nextOffset: nil, totalCount: nil, at: .start
            ).added
            #expect(new == 6)
            #expect(store.databases.faults == [])
        }
    }

    @Test func cacheThatCannotBeReadIsAsEmptyOrAnError() async throws {
        try await fixture.withGifs { store in
            try await store.put(gifs(0..<3), in: cats, offset: 0, nextOffset: nil, totalCount: nil)
            try await store.databases.write(store.databases.cache) {
                try $0.execute("DROP TABLE gif_lists; DROP TABLE gifs")
            }
            let refusal = ResponseError.storage("The cache cannot be read now.", hint: "The daemon's log says why.")
            await #expect(throws: refusal) { try await store.page(of: cats, PageRequest(limit: 3), notBefore: .start) }
            await #expect(throws: refusal) {
                try await store.search(text: "a", rating: "g", cursor: nil, limit: 3, notBefore: .start)
            }
            #expect(await store.gif(id: "gif-00001", notBefore: .start) == nil)
            #expect(await store.random(text: nil, rating: "g", notBefore: .start) == nil)
            #expect(await store.missing(ids: ["gif-00001"], notBefore: .start) == [])
        }
    }
}
