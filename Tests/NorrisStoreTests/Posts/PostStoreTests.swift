import NorrisProtocol
import NorrisTestSupport
import Testing

@testable import NorrisStore

struct PostStoreTests {
    @Test func postIsGivenAsItCame() async throws {
        let store = try await PostStore.new()
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

    @Test func clockThatIsSetBackAndRightAgainLosesNothing() async throws {
        let store = try await PostStore.new()
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

    @Test func ofTooManyPostsTheOldestThatAreNoLongerHeldGo() async throws {
        let store = try await PostStore.new()
        let held = [Post.sample("a:held", at: 1)]
        try await store.fetch(held + [.sample("a:old", at: 2), .sample("a:new", at: 9)], at: 10)
        try await store.fetch(held, at: 11)
        try await store.databases.write(store.databases.cache) { database in
            try database.execute(
                """
                WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 99997)
                INSERT INTO posts (id, digest, source, author, arrived_at, post, first_seen, sort_at, position, held_at)
                SELECT 'a:' || n, n, source, author, arrived_at, post, first_seen, 5, position, held_at
                FROM numbers JOIN posts ON id = 'a:old'
                """)
        }
        #expect(try await store.fetch(held, at: 12) == PostChanges(total: 100_000))
        var changes = try await store.fetch(held + [.sample("a:more", at: 1)], at: 13)
        #expect(changes.newest.map(\.id) == ["a:more"])
        changes.newest = []
        #expect(changes == PostChanges(added: 1, removed: 1, total: 100_000))
        #expect(try await store.post(id: "a:held", sources: ["a"], read: ReadPosts()) != nil)
        #expect(try await store.post(id: "a:old", sources: ["a"], read: ReadPosts()) == nil)
    }

    @Test("A reply without changes renews the posts of the last fetch and removes expired posts")
    func confirmation() async throws {
        let store = try await PostStore.new()
        let records = SourceRecords(databases: store.databases)
        var run = store.beginImport()
        func confirm(at now: Int64) async throws -> PostChanges {
            try await store.confirm(run, keep: .seconds(100), fetch: .sample(at: now), at: Timestamp(seconds: now))
        }
        try await store.fetch([.sample("a:1"), .sample("a:2")], at: 10)
        try await store.fetch([.sample("a:2")], at: 20)
        #expect(try await confirm(at: 100) == PostChanges(total: 2))
        #expect(await records.fetch(of: "a") == .sample(at: 100))
        #expect(try await confirm(at: 110) == PostChanges(removed: 1, total: 1))
        #expect(try await store.fetch([], at: 209) == PostChanges(total: 1))
        #expect(try await store.fetch([], at: 210) == PostChanges(removed: 1))
        try await store.clear(source: "a")
        await #expect(throws: Databases.contentGone) { try await confirm(at: 212) }
        #expect(await records.fetch(of: "a") == nil)
        run = store.beginImport()
        #expect(try await confirm(at: 213) == PostChanges())
    }

    /// The events that end the content of a source while one of its imports is stored.
    enum End: CaseIterable { case clearing, deletedFile, change }

    @Test("An import stores nothing after the end of its source's content", arguments: End.allCases)
    func imports(end: End) async throws {
        let fixture = StoreFixture()
        let databases = try await fixture.databases()
        let (store, marks) = (await PostStore(databases: databases), ReadMarks(databases: databases))
        let posts: [Post] = [.sample("a:dated", at: 5), .sample("a:undated")]
        try await store.fetch(posts, at: 10)
        try await marks.markAll(uid: 1, store.unread(sources: ["a"], read: ReadPosts()))
        let run = store.beginImport()
        switch end {
        case .clearing: try await store.clear(source: "a")
        // The first transaction of the import meets this damage, and is repeated on the new file.
        case .deletedFile: try fixture.folder.remove("cache/cache.db")
        case .change: SourceRecords(databases: databases).endImports(of: "a")
        }
        await #expect(throws: Databases.contentGone) {
            try await store.fetch(posts + [.sample("a:late", at: 6)], at: 20, in: run)
        }
        #expect(try await !store.listed().contains("a:late"))
        #expect(store.counts == (end == .change ? ["a": 2] : [:]))
        // The next run stores them as they were.
        try await store.fetch(posts, at: 30)
        let unread = try await store.unread(sources: ["a"], read: await marks.read(uid: 1))
        #expect(unread.counts == [:])
        await databases.close()
    }

    /// A daemon that is killed between two transactions of a first import.
    @Test func anImportThatWasCutIsStillTheFirst() async throws {
        let store = try await PostStore.new()
        let marks = ReadMarks(databases: store.databases)
        let posts = [Post.sample("a:1", at: 1), .sample("a:2", at: 2), .sample("a:3", at: 3)]
        try await store.fetch(posts, at: 10)
        try await marks.markAll(uid: 1, store.unread(sources: ["a"], read: ReadPosts()))
        try await store.clear(source: "a")
        try await store.fetch([posts[0]], at: 20)
        try await store.databases.write(store.databases.cache) { try FetchRecord.remove("a", $0) }
        try await store.fetch(posts, at: 30)
        #expect(try await store.unread(sources: ["a"], read: await marks.read(uid: 1)).counts == [:])
    }

    @Test func clearingTakesPostsAuthorsAndTheRecordOfOneSource() async throws {
        let store = try await PostStore.new()
        let records = SourceRecords(databases: store.databases)
        try await store.fetch([.sample("a:1"), .sample("a:2")], authors: [.sample("idle")], at: 10)
        try await store.fetch([.sample("b:1", source: "b")], source: "b", at: 10)
        #expect(try await store.clear(source: "a") == 2)
        #expect(try await store.clear(source: "a") == 0)
        #expect(store.counts == ["b": 1])
        #expect(await records.fetch(of: "a") == nil)
        #expect(await records.fetch(of: "b") != nil)
        #expect(try await store.listed(PostQuery(sources: ["a", "b"])) == ["b:1"])
        let authors = try await store.authors(sources: ["a", "b"], cursor: nil, limit: 10)
        #expect(authors.items.map(\.id) == ["b:ann"])
    }

    @Test func incompleteFetchIsTheLastThatContainedTheOtherPosts() async throws {
        let store = try await PostStore.new()
        try await store.fetch([.sample("a:1"), .sample("a:2")], at: 10)
        #expect(try await store.fetch([.sample("a:2")], isComplete: false, at: 200) == PostChanges(total: 2))
        #expect(try await store.fetch([.sample("a:2")], at: 299) == PostChanges(total: 2))
        #expect(try await store.fetch([.sample("a:2")], at: 300) == PostChanges(removed: 1, total: 1))
    }

    @Test func postsOfSourcesThatAreGoneAreHiddenAndLaterRemoved() async throws {
        let store = try await PostStore.new()
        let records = SourceRecords(databases: store.databases)
        for source in ["a", "b", "c"] {
            try await store.fetch([.sample("\(source):1", source: source)], source: source, at: source == "c" ? 20 : 10)
        }
        #expect(try await store.listed(PostQuery(sources: ["a"])) == ["a:1"])
        #expect(try await store.listed(PostQuery(sources: ["a"], PostList.Parameters(source: "b"))) == [])
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
        #expect(await records.fetch(of: "c") == nil)
        #expect(await records.fetch(of: "a") != nil)
    }

    @Test func postsAndNumbersAreThereAfterARestartAndGoWithTheCache() async throws {
        let fixture = StoreFixture()
        let first = await PostStore(databases: try await fixture.databases())
        try await first.fetch([.sample("a:1"), .sample("a:2")], at: 10)
        #expect(first.counts == ["a": 2])
        await first.databases.close()

        let databases = try await fixture.databases()
        let second = await PostStore(databases: databases)
        #expect(second.counts == ["a": 2])
        #expect(try await second.listed() == ["a:1", "a:2"])
        try fixture.folder.remove("cache/cache.db")
        await databases.heal()
        await second.reload()
        #expect(second.counts == [:])
        #expect(try await second.listed() == [])
        await databases.close()
    }

    /// A fetch that is not stored completely leaves the record of before.
    @Test(arguments: ["posts", "authors", "fetches"])
    func fetchThatCannotBeWrittenLosesNothing(table: String) async throws {
        let fixture = StoreFixture()
        let store = await PostStore(databases: try await fixture.databases())
        let records = SourceRecords(databases: store.databases)
        try await store.fetch([.sample("a:1"), .sample("a:2")], at: 10)
        try await store.databases.cache.refuseWrites(to: table)
        let error = await #expect(throws: StoreError.self) {
            try await store.fetch([.sample("a:3", by: "bob")], keep: .zero, at: 20)
        }
        #expect(error?.path == fixture.folder("cache/cache.db"))
        #expect(store.databases.faults.map { $0.hasPrefix("cache.db takes no writes: ") } == [true])
        #expect(try await store.listed().filter { $0 != "a:3" } == ["a:1", "a:2"])
        #expect(await records.fetch(of: "a") == .sample(at: 10))
        try await store.databases.cache.takeWritesAgain()
        try await store.fetch([.sample("a:3", by: "bob")], keep: .zero, at: 20)
        #expect(store.databases.faults == [])
        #expect(try await store.listed() == ["a:3"])
        #expect(store.counts == ["a": 1])
        await store.databases.close()
    }
}
