import Foundation
import NorrisFetchProtocol
import NorrisProtocol
import Testing

@testable import NorrisStore

/// The list of posts in the order of arrival.
struct ArrivalTests {
    @Test("A list without a cursor begins with what arrives later, and each page has a next one")
    func beginsAtItsEnd() async throws {
        let store = try await PostStore.new()
        let empty = try await store.arrivals(nil)
        #expect(empty.items.isEmpty && empty.next != nil && empty.total == nil)
        try await store.fetch([.sample("a:1", at: 5)], at: 10)
        let start = try await store.arrivals(nil)
        #expect(start.items.isEmpty)
        // In the order of arrival, whatever the dates and the documents are.
        try await store.fetch([.sample("a:2", at: 9), .sample("a:3", at: 1), .sample("a:1", at: 5)], at: 11)
        try await store.fetch([.sample("a:4", at: 8)], at: 12)
        var (cursor, found): (String?, [String]) = (start.next, [])
        for ids in [["a:2", "a:3"], ["a:4"], []] {
            let page = try await store.arrivals(cursor, limit: 2)
            #expect(page.items.map(\.id) == ids)
            (cursor, found) = (page.next, found + page.items.map(\.id))
        }
        #expect(try await store.arrivals(empty.next).items.map(\.id) == ["a:1", "a:2", "a:3", "a:4"])
        #expect(try await store.arrivals(cursor).next == cursor)
    }

    @Test func editsExpiriesAndAClearedSourceRepeatNothingAndLoseNothing() async throws {
        let store = try await PostStore.new()
        let start = try await store.arrivals(nil).next
        try await store.fetch([.sample("a:1", "First"), .sample("a:2")], at: 10)
        let next = try await store.arrivals(start).next
        try await store.fetch([.sample("a:1", "Edited"), .sample("a:3")], at: 20)
        #expect(try await store.arrivals(next).items.map(\.id) == ["a:3"])
        // The last post expires, and its number is not used again.
        try await store.fetch([], at: 30)
        try await store.fetch([], at: 300)
        #expect(try await store.listed() == [])
        try await store.fetch([.sample("a:4")], at: 310)
        #expect(try await store.arrivals(next).items.map(\.id) == ["a:4"])
        // After clearing, posts arrive again.
        let last = try await store.arrivals(next).next
        try await store.clear(source: "a")
        try await store.fetch([.sample("a:4"), .sample("a:5")], at: 320)
        #expect(try await store.arrivals(last).items.map(\.id) == ["a:4", "a:5"])
    }

    @Test func aCursorOfADeletedCacheListsWhatIsStoredAfterwards() async throws {
        let fixture = StoreFixture()
        var databases = try await fixture.databases()
        var store = await PostStore(databases: databases)
        try await store.fetch((1...9).map { .sample("a:\($0)") }, at: 10)
        let cursor = try await store.arrivals(nil).next
        await databases.close()
        try FileManager.default.removeItem(atPath: fixture.cacheFolder)
        databases = try await fixture.databases()
        store = await PostStore(databases: databases)
        let empty = try await store.arrivals(cursor)
        #expect(empty.items == [])
        try await store.fetch([.sample("a:9"), .sample("a:10")], at: 20)
        for cursor in [cursor, empty.next] {
            let page = try await store.arrivals(cursor)
            #expect(page.items.map(\.id) == ["a:9", "a:10"])
            #expect(try await store.arrivals(page.next).items == [])
        }
        await databases.close()
    }

    @Test("After a loss of power a cursor of lost posts lists what is stored afterwards", arguments: [[], ["a:1"]])
    func futureCursor(kept: [String]) async throws {
        let fixture = StoreFixture()
        let databases = try await fixture.databases()
        var store = await PostStore(databases: databases)
        if !kept.isEmpty { try await store.fetch(kept.map { .sample($0) }, at: 10) }
        let before = try fixture.killed()
        try await store.fetch([.sample("a:2"), .sample("a:3")], at: 20)
        let cursor = try await store.arrivals(nil).next
        await databases.close()
        let restored = try await before.databases()
        store = await PostStore(databases: restored)
        #expect(try await store.arrivals(cursor).items == [])
        try await store.fetch([.sample("a:3"), .sample("a:4")], at: 30)
        #expect(try await store.arrivals(cursor).items.map(\.id) == ["a:3", "a:4"])
        await restored.close()
    }

    @Test func theListWaitsForASourceThatIsBeingAdded() async throws {
        let store = try await PostStore.new()
        let start = try await store.arrivals(nil).next
        try await store.fetch([.sample("a:1")], at: 10)
        try await store.fetch([.sample("b:1", source: "b")], source: "b", at: 11)
        try await store.fetch([.sample("a:1"), .sample("a:2")], at: 12)
        let page = try await store.arrivals(start, sources: ["a"], pending: ["b"])
        #expect(page.items.map(\.id) == ["a:1"])
        #expect(try await store.arrivals(page.next).items.map(\.id) == ["b:1", "a:2"])
        // A source that is not shown does not hold the list.
        let other = try await store.arrivals(start, sources: ["a"])
        #expect(other.items.map(\.id) == ["a:1", "a:2"])
        #expect(try await store.arrivals(other.next).items == [])
    }

    @Test func sinceIsTheTimeOfArrival() async throws {
        let store = try await PostStore.new()
        // The first fetch of a source lets dated posts count as seen at their date.
        try await store.fetch([.sample("a:1", at: 5)], at: 100)
        try await store.fetch([.sample("a:2", at: 1), .sample("a:1", "Edited", at: 5)], at: 200)
        // A clock that was set back.
        try await store.fetch([.sample("a:3")], at: 50)
        func since(_ time: Int64, _ order: PostOrder? = nil) async throws -> [String] {
            let request = PostList.Parameters(since: Timestamp(seconds: time), order: order)
            let end = order == .arrived ? try await store.lastArrival() : nil
            let page = try await store.page(PostQuery(sources: ["a"], request, end: end))
            #expect(order != nil || page.total == page.items.count)
            return page.items.map(\.id)
        }
        #expect(try await since(100) == ["a:1", "a:2"])
        #expect(try await since(101) == ["a:2"])
        #expect(try await since(50, .arrived) == ["a:1", "a:2", "a:3"])
        #expect(try await since(201, .arrived) == [])
    }

    @Test func cursorsOfOtherListsAreRefused() async throws {
        let store = try await PostStore.new()
        try await store.fetch([.sample("a:1"), .sample("a:2")], at: 10)
        let newest = try await store.page(limit: 1).next
        await #expect(throws: ResponseError.foreignCursor) { try await store.arrivals(newest) }
        let arrivals = try await store.arrivals(nil).next
        await #expect(throws: ResponseError.foreignCursor) { try await store.page(cursor: arrivals) }
        await #expect(throws: ResponseError.foreignCursor) { try await store.arrivals(arrivals.map { $0 + "1" }) }
        // The newest first is also the order without the parameter.
        let query = PostQuery(sources: ["a"], PostList.Parameters(order: .newest))
        #expect(try await store.page(query, cursor: newest).items.count == 1)
    }

    /// Imports that stop between two transactions, kills, edits, expiries, cleared marks and clocks that jump, while a
    /// reader follows with its last cursor.
    @Test("Each post is listed once, and none is left out", arguments: 0..<50 as Range<UInt64>)
    func simulation(seed: UInt64) async throws {
        var random = Seeded(state: seed)
        var fixture = StoreFixture()
        var databases = try await fixture.databases()
        var store = await PostStore(databases: databases, postsAtOnce: 3)
        var (now, nextID, kills) = (Int64(1_000_000), 0, 0)
        var document: [Post] = []
        var (cursor, listed): (String?, [String]) = (try await store.arrivals(nil).next, [])
        var stored: Set<String> = []
        func read(limit: Int) async throws -> Bool {
            let page = try await store.arrivals(cursor, limit: limit)
            listed += page.items.map(\.id)
            cursor = page.next
            return !page.items.isEmpty
        }
        for _ in 0..<24 {
            now += Int64.random(in: -200...2_000, using: &random)
            switch Int.random(in: 0..<8, using: &random) {
            case 0...3:
                for _ in 0..<Int.random(in: 0..<9, using: &random) {
                    nextID += 1
                    document.append(.sample("a:\(nextID)", at: Bool.random(using: &random) ? now - 5_000 : nil))
                }
                document.shuffle(using: &random)
                document = Array(document.prefix(12))
                if !document.isEmpty { document[0].text = "Edited at \(now)" }
                // Another transaction fails, as if the daemon was killed before it.
                let last = Bool.random(using: &random) ? document.randomElement(using: &random)?.id : nil
                if let last {
                    try await databases.cache.write { database in
                        try database.execute(
                            """
                            CREATE TEMP TRIGGER stopped BEFORE INSERT ON main.posts WHEN new.id = '\(last)'
                            BEGIN SELECT RAISE(ABORT, 'stopped by the test'); END
                            """)
                    }
                }
                let posts = document
                _ = try? await store.fetch(posts, keep: .seconds(100_000), at: now)
                if last != nil { try await databases.cache.write { try $0.execute("DROP TRIGGER stopped") } }
            case 4: while try await read(limit: Int.random(in: 1...4, using: &random)) {}
            case 5: _ = try await read(limit: 1)
            case 6:
                kills += 1
                let killed = try fixture.killed()
                await databases.close()
                fixture = killed
                databases = try await fixture.databases()
                store = await PostStore(databases: databases, postsAtOnce: 3)
            default:
                // The reader has seen what expires.
                while try await read(limit: 9) {}
                now += 200_000
                try await store.fetch([], keep: .seconds(100), at: now)
                document = []
            }
            stored.formUnion(try await store.listed())
        }
        try await store.fetch(document, keep: .seconds(100_000), at: now)
        stored.formUnion(try await store.listed())
        while try await read(limit: 5) {}
        #expect(Set(listed).count == listed.count, "seed \(seed), \(kills) kills")
        #expect(Set(listed) == stored, "seed \(seed), \(kills) kills")
        await databases.close()
    }
}

extension PostStore {
    func arrivals(
        _ cursor: String?, sources: [String] = ["a", "b"], pending: [String] = [], uid: UInt32? = nil, limit: Int = 100
    ) async throws -> Page<Post> {
        let query = PostQuery(
            sources: sources, PostList.Parameters(order: .arrived), end: try await lastArrival(), pending: pending)
        return try await page(query, read: ReadPosts(uid: uid), cursor: cursor, limit: limit)
    }
}

/// SplitMix64 (https://prng.di.unimi.it/splitmix64.c).
private struct Seeded: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
        return value ^ value >> 31
    }
}
