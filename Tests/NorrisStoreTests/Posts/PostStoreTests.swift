import NorrisProtocol
import NorrisTestSupport
import Testing

@testable import NorrisStore

struct PostStoreTests {
    @Test func postIsGivenAsItCame() async throws {
        let store = try PostStore.inMemory()
        let post = Post(
            id: "a:1", source: "a",
            author: Post.Author(
                id: "a:ann", name: "Ann", handle: "@ann", avatarURL: "https://a.example/ann.png", email: "ann@a.example"
            ), publishedAt: Timestamp(seconds: 5), title: "Title", text: "Two\nlines", isSensitive: true,
            tags: ["x", "y"], images: [Post.Image(url: "https://a.example/1.png", width: 1, height: 2, alt: "One")],
            stats: Post.Stats(likes: 1, comments: 0, shares: 2), url: "https://a.example/1")
        try await store.fetch([post], at: 10)
        #expect(try await store.page() == Page(items: [post], total: 1))
        var read = post
        read.isRead = true
        #expect(try await store.page(read: ReadPosts(["a:1"])).items == [read])
        #expect(try await store.post(id: "a:1", sources: ["a"], read: ReadPosts()) == post)
        #expect(try await store.post(id: "a:1", sources: ["a"], read: ReadPosts(["a:1"])) == read)
        #expect(try await store.post(id: "a:1", sources: ["b"], read: ReadPosts()) == nil)
        #expect(try await store.post(id: "a:2", sources: ["a"], read: ReadPosts()) == nil)
    }

    @Test("Newest first; without a date, or with one to come, by when it was first seen; then by id, byte for byte")
    func order() async throws {
        let store = try PostStore.inMemory()
        try await store.fetch(
            [
                .sample("a:past", at: 5), .sample("a:none"), .sample("a:future", at: 99), .sample("a:é", at: 5),
                .sample("a:e\u{301}", at: 5), .sample("a:Z", at: 5), .sample("a:now", at: 10),
            ], at: 10)
        let expected = ["a:future", "a:none", "a:now", "a:Z", "a:e\u{301}", "a:past", "a:é"]
        #expect(try await store.listed().map { Array($0.utf8) } == expected.map { Array($0.utf8) })
        // The time is past now, as after a start with a clock of 1970.
        try await store.fetch([.sample("a:future", at: 99), .sample("a:later", at: 50)], keep: .seconds(999), at: 200)
        #expect(try await store.listed() == ["a:future", "a:later"] + expected.dropFirst())
    }

    @Test func clockThatIsSetBackAndRightAgainLosesNothing() async throws {
        let store = try PostStore.inMemory()
        let posts = [Post.sample("a:undated"), .sample("a:dated", at: 1_999_990)]
        try await store.fetch([.sample("a:gone", at: 5)] + posts, at: 2_000_000)
        try await store.fetch(posts, at: 2_000_001)
        let before = try await store.page(read: ReadPosts(["a:undated", "a:gone"]))
        #expect(before.items.map(\.id) == ["a:undated", "a:dated", "a:gone"])
        // A post that left the source during the clock rollback is kept for the usual time.
        for (now, posts): (Int64, [Post]) in [(500, posts), (501, posts), (2_000_010, [posts[0]]), (2_000_050, [])] {
            #expect(try await store.fetch(posts, at: now) == PostChanges(total: 3))
            #expect(try await store.page(read: ReadPosts(["a:undated", "a:gone"])) == before)
        }
    }

    @Test func sourceThatIsAwayForLongKeepsItsPosts() async throws {
        let store = try PostStore.inMemory()
        try await store.fetch([.sample("a:1"), .sample("a:2")], at: 10)
        try await store.fetch([.sample("b:1", source: "b")], source: "b", at: 9_000)
        #expect(store.counts == ["a": 2, "b": 1])
        // The post that the source still contains stays. The other post was last fetched long ago.
        #expect(try await store.fetch([.sample("a:2")], at: 10_000) == PostChanges(removed: 1, total: 1))
    }

    @Test func ofTooManyPostsTheOldestThatAreNoLongerHeldGo() async throws {
        let store = try PostStore.inMemory()
        let held = [Post.sample("a:held", at: 1)]
        try await store.fetch(held + [.sample("a:old", at: 2), .sample("a:new", at: 9)], at: 10)
        try await store.fetch(held, at: 11)
        try await store.databases.cache(.posts).writer.write { database in
            try database.execute(
                """
                WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 99997)
                INSERT INTO posts (id, digest, source, author, content, first_seen, sort_at, held_at)
                SELECT 'a:' || n, n, source, author, content, first_seen, 5, held_at
                FROM numbers JOIN posts ON id = 'a:old'
                """)
        }
        #expect(try await store.fetch(held, at: 12) == PostChanges(total: 100_000))
        var changes = try await store.fetch(held + [.sample("a:more", at: 1)], at: 13)
        #expect(changes.newest.map(\.id) == ["a:more"])
        changes.newest = []
        #expect(changes == PostChanges(added: 1, removed: 1, total: 100_000))
        #expect(try await store.post(id: "a:held", sources: ["a"], read: ReadPosts()) != nil)
    }

    @Test("A reply without changes renews the posts of the last fetch and removes expired posts")
    func confirmation() async throws {
        let store = try PostStore.inMemory()
        let records = FetchRecords(databases: store.databases)
        func confirm(at now: Int64) async -> PostChanges? {
            await store.confirm(source: "a", keep: .seconds(100), fetch: .sample(at: now), at: Timestamp(seconds: now))
        }
        await #expect(confirm(at: 5) == nil)
        try await store.fetch([.sample("a:1"), .sample("a:2")], at: 10)
        try await store.fetch([.sample("a:2")], at: 20)
        await #expect(confirm(at: 100) == PostChanges(total: 2))
        await #expect(records.record(of: "a") == .sample(at: 100))
        await #expect(confirm(at: 110) == PostChanges(removed: 1, total: 1))
        #expect(try await store.fetch([], at: 209) == PostChanges(total: 1))
        #expect(try await store.fetch([], at: 210) == PostChanges(removed: 1))
        await #expect(confirm(at: 211) == PostChanges())
        try await store.clear(source: "a")
        await #expect(confirm(at: 212) == nil)
        await #expect(records.record(of: "a") == nil)
    }

    @Test func unchangedPostsAreNotWritten() async throws {
        let store = try PostStore.inMemory()
        let posts = (0..<5).map { Post.sample("a:\($0)", at: 3) }
        try await store.fetch(posts, at: 10)
        for table in ["posts", "authors"] {
            try await store.databases.cache(.posts).opened.refuse("UPDATE", on: table)
            try await store.fetch(posts, at: 20)
            _ = await store.confirm(source: "a", keep: .seconds(100), fetch: .sample(at: 30))
            try await store.databases.cache(.posts).opened.takeWritesAgain()
        }
        #expect(store.databases.faults.allSatisfy { !$0.contains("takes no writes") })
    }

    @Test func clearingTakesPostsAuthorsAndTheRecordOfOneSource() async throws {
        let store = try PostStore.inMemory()
        let records = FetchRecords(databases: store.databases)
        try await store.fetch([.sample("a:1"), .sample("a:2")], authors: [.sample("idle")], at: 10)
        try await store.fetch([.sample("b:1", source: "b")], source: "b", at: 10)
        #expect(try await store.clear(source: "a") == 2)
        #expect(try await store.clear(source: "a") == 0)
        #expect(store.counts == ["b": 1])
        #expect(store.count(source: "a") == 0)
        await #expect(records.record(of: "a") == nil)
        await #expect(records.record(of: "b") != nil)
        #expect(try await store.listed(PostQuery(sources: ["a", "b"])) == ["b:1"])
        let authors = try await store.authors(sources: ["a", "b"], cursor: nil, limit: 10)
        #expect(authors.items.map(\.id) == ["b:ann"])
    }

    /// An example is a repaired feed: its fetches are incomplete and remove no posts.
    @Test func authorsWithoutPostsGoAlsoWhereNoPostDoes() async throws {
        let store = try PostStore.inMemory()
        func fetch(_ posts: Post..., at now: Int64) async throws -> [String] {
            try await store.fetch(posts, isComplete: false, keep: nil, at: now)
            return try await store.authors(sources: ["a"], cursor: nil, limit: 10).items.map(\.id)
        }
        #expect(try await fetch(.sample("a:1", by: "ann"), at: 10) == ["a:ann"])
        #expect(try await fetch(.sample("a:1", by: "bob"), at: 20) == ["a:bob"])
        // An author who was not stored before.
        #expect(try await fetch(.sample("a:2", by: "cy"), at: 30) == ["a:bob", "a:cy"])
        #expect(try await fetch(.sample("a:1", by: "cy"), at: 40) == ["a:cy"])
        #expect(store.count(source: "a") == 2)
    }

    @Test func postsOfSourcesThatAreGoneAreHiddenAndLaterRemoved() async throws {
        let store = try PostStore.inMemory()
        for source in ["a", "b", "c"] {
            try await store.fetch([.sample("\(source):1", source: source)], source: source, at: source == "c" ? 20 : 10)
        }
        #expect(try await store.listed(PostQuery(sources: ["a"])) == ["a:1"])
        #expect(try await store.listed(PostQuery(sources: ["a"], source: "b")) == [])
        #expect(try await store.listed(PostQuery(sources: [])) == [])
        #expect(try await store.stored(["a:1", "a:1"], sources: ["a"]).map(\.source) == ["a"])
        for id in ["b:1", "x"] {
            await #expect(throws: ResponseError.notFound("There is no post with the id \"\(id)\".")) {
                try await store.stored(["a:1", id], sources: ["a"])
            }
        }
        #expect(try await store.purgeSources(keeping: ["a"], before: Timestamp(seconds: 10)) == 0)
        #expect(try await store.purgeSources(keeping: ["a"], before: Timestamp(seconds: 20)) == 1)
        #expect(store.counts == ["a": 1, "c": 1])
        #expect(try await store.purgeSources(keeping: ["a"], before: Timestamp(seconds: 21)) == 1)
        await #expect(FetchRecords(databases: store.databases).record(of: "c") == nil)
        await #expect(FetchRecords(databases: store.databases).record(of: "a") != nil)
    }

    @Test func postsAndNumbersAreThereAfterARestartAndGoWithTheCache() async throws {
        let fixture = StoreFixture()
        let first = PostStore(databases: try fixture.databases())
        try await first.fetch([.sample("a:1"), .sample("a:2")], at: 10)
        #expect(first.counts == ["a": 2])
        first.databases.close()

        let databases = try fixture.databases()
        let second = PostStore(databases: databases)
        #expect(second.counts == ["a": 2])
        #expect(try await second.listed() == ["a:1", "a:2"])
        for name in try fixture.folder.names("cache") { try fixture.folder.remove("cache/" + name) }
        #expect(databases.recreateLostCache())
        second.reload()
        #expect(second.counts == [:])
        #expect(try await second.listed() == [])
        try await second.fetch([.sample("a:3")], at: 20)
        #expect(second.counts == ["a": 1])
        databases.close()
    }
}

/// Posts on a failing disk or after a cancellation: a fetch is atomic, and failures are reported.
struct PostFailingDiskTests {
    private let fixture = StoreFixture()

    private func withStore(_ body: (PostStore) async throws -> Void) async throws {
        let store = PostStore(databases: try fixture.databases())
        try await body(store)
        store.databases.close()
    }

    @Test(arguments: ["posts", "authors", "fetches"])
    func fetchThatCannotBeWrittenChangesNothing(table: String) async throws {
        try await withStore { store in
            let records = FetchRecords(databases: store.databases)
            try await store.fetch([.sample("a:1"), .sample("a:2")], at: 10)
            try await store.databases.cache(.posts).opened.refuseWrites(to: table)
            let error = await #expect(throws: StoreError.self) {
                try await store.fetch([.sample("a:2", "New."), .sample("a:3", by: "bob")], keep: .zero, at: 20)
            }
            #expect(error?.path == fixture.folder("cache/cache.db-posts"))
            #expect(error?.description.contains("refused by the test") == true)
            #expect(store.databases.faults.map { $0.hasPrefix("The cache takes no writes: ") } == [true])
            #expect(try await store.page().items == [.sample("a:1"), .sample("a:2")])
            #expect(store.counts == ["a": 2])
            await #expect(records.record(of: "a") == .sample(at: 10))
            try await store.databases.cache(.posts).opened.takeWritesAgain()
            try await store.fetch([.sample("a:3", by: "bob")], keep: .zero, at: 20)
            #expect(store.databases.faults == [])
            #expect(try await store.listed() == ["a:3"])
        }
    }

    @Test("An answer without news that cannot be written down costs no fetch")
    func confirmationOnAFailingDisk() async throws {
        try await withStore { store in
            try await store.fetch([.sample("a:1"), .sample("a:2")], at: 10)
            try await store.fetch([.sample("a:2")], at: 20)
            try await store.databases.cache(.posts).opened.refuseWrites(to: "fetches")
            let changes = await store.confirm(
                source: "a", keep: .zero, fetch: .sample(at: 30), at: Timestamp(seconds: 30))
            #expect(changes == PostChanges(total: 2))
            #expect(try await store.listed() == ["a:1", "a:2"])
            #expect(store.databases.isReadOnly)
        }
    }

    @Test func cancelledFetchChangesNothing() async throws {
        try await withStore { store in
            let posts = (0..<600).map { Post.sample("a:\($0)", by: "\($0)") }
            try await store.fetch(posts, at: 10)
            let cancelled = StoreError(path: fixture.folder("cache/cache.db-posts"), .cancelled)
            await #expect(throws: cancelled) {
                try await withThrowingTaskGroup { tasks in
                    tasks.addTask { _ = try await store.fetch(Array(posts.prefix(300)), at: 20) }
                    tasks.cancelAll()
                    try await tasks.next()
                }
            }
            #expect(store.counts == ["a": 600])
            #expect(store.databases.faults == [])
            // All posts are still part of the source, without a change.
            #expect(try await store.fetch([], keep: .seconds(10), at: 19) == PostChanges(total: 600))
        }
    }

    @Test func rowThatCannotBeReadCostsItsListNoMore() async throws {
        try await withStore { store in
            try await store.fetch((1...4).map { .sample("a:\($0)") }, at: 10)
            try await store.databases.cache(.posts).writer.write { database in
                // Valid rows whose content this version cannot decode.
                try database.execute("UPDATE posts SET content = ? WHERE id IN ('a:2', 'a:4')", [CheckedText("{")])
            }
            let first = try await store.page(limit: 2)
            #expect(first.items == [.sample("a:1")])
            #expect(try await store.page(cursor: first.next, limit: 2).items == [.sample("a:3")])
            #expect(try await store.post(id: "a:2", sources: ["a"], read: ReadPosts()) == nil)
        }
    }
}
