import CSQLite
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

    @Test func sourceThatIsAwayForLongKeepsItsPosts() async throws {
        let store = try await PostStore.new()
        try await store.fetch([.sample("a:1"), .sample("a:2")], at: 10)
        try await store.fetch([.sample("b:1", source: "b")], source: "b", at: 9_000)
        #expect(store.counts == ["a": 2, "b": 1])
        // The post that the source still contains stays. The other post was last fetched long ago.
        #expect(try await store.fetch([.sample("a:2")], at: 10_000) == PostChanges(removed: 1, total: 1))
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
                INSERT INTO posts (id, digest, source, author, post, first_seen, sort_at, position, held_at)
                SELECT 'a:' || n, n, source, author, post, first_seen, 5, position, held_at
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

    @Test("A post that comes into an empty source counts as seen since its date, so that it stays read")
    func readPostsStayReadAfterTheCacheIsGone() async throws {
        let store = try await PostStore.new()
        let marks = ReadMarks(databases: store.databases)
        let posts = [Post.sample("a:dated", at: 5), .sample("a:undated")]
        func unread(uid: UInt32) async throws -> UnreadPosts {
            try await store.unread(sources: ["a"], read: await marks.read(uid: uid))
        }
        func unreadIDs(uid: UInt32) async throws -> [String] {
            let query = PostQuery(sources: ["a"], isUnreadOnly: true)
            return try await store.listed(query, read: await marks.read(uid: uid))
        }
        try await store.fetch(posts, at: 10)
        try await marks.markAll(uid: 1, try await unread(uid: 1))
        try await marks.markAll(uid: 2, .sample(["a"], until: 7))
        try await store.clear(source: "a")
        try await store.fetch([.sample("a:new", at: 15)] + posts, at: 20)
        for uid: UInt32 in [1, 2] { #expect(try await unreadIDs(uid: uid) == ["a:new"]) }
        #expect(try await unread(uid: 1).counts == ["a": 1])
        #expect(try await store.listed() == ["a:new", "a:undated", "a:dated"])
        // The source is no longer empty.
        try await store.fetch([.sample("a:old", at: 6), .sample("a:late")] + posts, at: 30)
        #expect(try await unreadIDs(uid: 1) == ["a:late", "a:new", "a:old"])
    }

    @Test("A reply without changes renews the posts of the last fetch and removes expired posts")
    func confirmation() async throws {
        let store = try await PostStore.new()
        let records = SourceRecords(databases: store.databases)
        func confirm(at now: Int64) async -> PostChanges? {
            await store.confirm(source: "a", keep: .seconds(100), fetch: .sample(at: now), at: Timestamp(seconds: now))
        }
        #expect(await confirm(at: 5) == nil)
        try await store.fetch([.sample("a:1"), .sample("a:2")], at: 10)
        try await store.fetch([.sample("a:2")], at: 20)
        #expect(await confirm(at: 100) == PostChanges(total: 2))
        #expect(await records.fetch(of: "a") == .sample(at: 100))
        #expect(await confirm(at: 110) == PostChanges(removed: 1, total: 1))
        #expect(try await store.fetch([], at: 209) == PostChanges(total: 1))
        #expect(try await store.fetch([], at: 210) == PostChanges(removed: 1))
        #expect(await confirm(at: 211) == PostChanges())
        try await store.clear(source: "a")
        #expect(await confirm(at: 212) == nil)
        #expect(await records.fetch(of: "a") == nil)
    }

    @Test func unchangedPostsAreNotWritten() async throws {
        let store = try await PostStore.new()
        let posts = (0..<5).map { Post.sample("a:\($0)", at: 3) }
        try await store.fetch(posts, at: 10)
        for table in ["posts", "authors"] {
            try await store.databases.cache.refuse("UPDATE", on: table)
            try await store.fetch(posts, at: 20)
            #expect(await store.confirm(source: "a", keep: .seconds(100), fetch: .sample(at: 30)) != nil)
            #expect(store.databases.faults == [])
            try await store.databases.cache.takeWritesAgain()
        }
    }

    @Test func clearingTakesPostsAuthorsAndTheRecordOfOneSource() async throws {
        let store = try await PostStore.new()
        let records = SourceRecords(databases: store.databases)
        try await store.fetch([.sample("a:1"), .sample("a:2")], authors: [.sample("idle")], at: 10)
        try await store.fetch([.sample("b:1", source: "b")], source: "b", at: 10)
        #expect(try await store.clear(source: "a") == 2)
        #expect(try await store.clear(source: "a") == 0)
        #expect(store.counts == ["b": 1])
        #expect(store.count(source: "a") == 0)
        #expect(await records.fetch(of: "a") == nil)
        #expect(await records.fetch(of: "b") != nil)
        #expect(try await store.listed(PostQuery(sources: ["a", "b"])) == ["b:1"])
        let authors = try await store.authors(sources: ["a", "b"], cursor: nil, limit: 10)
        #expect(authors.items.map(\.id) == ["b:ann"])
    }

    /// An example of an incomplete fetch is a repaired feed.
    @Test func authorsWithoutPostsGoWithACompleteFetch() async throws {
        let store = try await PostStore.new()
        func fetch(by author: String, isComplete: Bool, at now: Int64) async throws -> [String] {
            try await store.fetch([.sample("a:1", by: author)], isComplete: isComplete, keep: nil, at: now)
            return try await store.authors(sources: ["a"], cursor: nil, limit: 10).items.map(\.id)
        }
        #expect(try await fetch(by: "ann", isComplete: false, at: 10) == ["a:ann"])
        #expect(try await fetch(by: "bob", isComplete: false, at: 20) == ["a:ann", "a:bob"])
        #expect(try await fetch(by: "bob", isComplete: true, at: 30) == ["a:bob"])
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

    @Test func clearWhileAFetchIsStoredLeavesNoRecord() async throws {
        let store = try await PostStore.new()
        let databases = store.databases
        let records = SourceRecords(databases: databases)
        // SQLite calls the hook in the first transaction of the fetch, after the fetch has begun.
        try await databases.write(databases.cache) { database in
            _ = sqlite3_update_hook(
                database.handle,
                { databases, _, _, _, _ in
                    guard let databases else { return }
                    Unmanaged<Databases>.fromOpaque(databases).takeUnretainedValue().noteCleared("a")
                }, Unmanaged.passUnretained(databases).toOpaque())
        }
        await #expect(throws: Databases.contentGone) { try await store.fetch([.sample("a:1")], at: 10) }
        #expect(await records.fetch(of: "a") == nil)
        // Another source is not affected.
        try await store.fetch([.sample("b:1", source: "b")], source: "b", at: 10)
        try await databases.write(databases.cache) { _ = sqlite3_update_hook($0.handle, nil, nil) }
        try await store.fetch([.sample("a:1")], at: 20)
        #expect(await records.fetch(of: "a") == .sample(at: 20))
        let generation = databases.generation(of: "a")
        try await store.clear(source: "a")
        #expect(databases.generation(of: "a") != generation)
    }
}

/// Posts on a failing disk or after a cancellation: a fetch that is not stored completely leaves the record of before,
/// and failures are reported.
struct PostFailingDiskTests {
    private let fixture = StoreFixture()

    private func withStore(_ body: (PostStore) async throws -> Void) async throws {
        let store = await PostStore(databases: try await fixture.databases())
        try await body(store)
        await store.databases.close()
    }

    @Test(arguments: ["posts", "authors", "fetches"])
    func fetchThatCannotBeWrittenLosesNothing(table: String) async throws {
        try await withStore { store in
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
        }
    }

    @Test("A reply without changes whose record cannot be written costs no fetch")
    func confirmationOnAFailingDisk() async throws {
        try await withStore { store in
            try await store.fetch([.sample("a:1"), .sample("a:2")], at: 10)
            try await store.fetch([.sample("a:2")], at: 20)
            try await store.databases.cache.refuseWrites(to: "fetches")
            let changes = await store.confirm(
                source: "a", keep: .zero, fetch: .sample(at: 30), at: Timestamp(seconds: 30))
            #expect(changes == PostChanges(total: 2))
            #expect(try await store.listed() == ["a:1", "a:2"])
            #expect(store.databases.isReadOnly)
        }
    }

    @Test func cancelledFetchChangesNothing() async throws {
        try await withStore { store in
            let posts = (0..<3).map { Post.sample("a:\($0)", by: "\($0)") }
            try await store.fetch(posts, at: 10)
            let cancelled = StoreError(path: fixture.folder("cache/cache.db"), .cancelled)
            await #expect(throws: cancelled) {
                try await withThrowingTaskGroup(of: Void.self) { tasks in
                    tasks.addTask {
                        withUnsafeCurrentTask { $0?.cancel() }
                        try await store.fetch([posts[0]], at: 20)
                    }
                    try await tasks.waitForAll()
                }
            }
            #expect(store.counts == ["a": 3])
            #expect(store.databases.faults == [])
            // All posts were part of the source until the fetch before.
            #expect(try await store.fetch([], keep: .seconds(10), at: 19) == PostChanges(total: 3))
        }
    }
}
