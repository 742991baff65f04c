import NorrisProtocol
import Testing

@testable import NorrisStore

/// Posts where the disk fails or nobody waits: all or nothing, and it is said.
struct PostFailingDiskTests {
    private let fixture = StoreFixture()

    private func withStore(_ body: (PostStore) async throws -> Void) async throws {
        let store = PostStore(databases: try fixture.databases(), logger: .silent)
        try await body(store)
        store.databases.close()
    }

    @Test(arguments: ["posts", "authors", "fetches"])
    func fetchThatCannotBeWrittenChangesNothing(table: String) async throws {
        try await withStore { store in
            let records = FetchRecords(databases: store.databases, logger: .silent)
            try store.fetch([.sample("a:1"), .sample("a:2")], at: 10)
            try await store.databases.cache.opened.refuseWrites(to: table)
            let error = #expect(throws: StoreError.self) {
                try store.fetch([.sample("a:2", "New."), .sample("a:3", by: "bob")], keep: .zero, at: 20)
            }
            #expect(error?.path == fixture.folder["cache/cache.db"])
            #expect(error?.description.contains("refused by the test") == true)
            #expect(store.databases.faults.map { $0.hasPrefix("The cache takes no writes: ") } == [true])
            #expect(try await store.page().items == [.sample("a:1"), .sample("a:2")])
            #expect(store.counts == ["a": 2])
            #expect(records.record(of: "a") == .sample(at: 10))
            try await store.databases.cache.opened.takeWritesAgain()
            try store.fetch([.sample("a:3", by: "bob")], keep: .zero, at: 20)
            #expect(store.databases.faults == [])
            #expect(try await store.listed() == ["a:3"])
        }
    }

    @Test func clearingThatFailsClearsNothing() async throws {
        try await withStore { store in
            try store.fetch([.sample("a:1")], at: 10)
            try await store.databases.cache.opened.refuse("DELETE", on: "fetches")
            #expect(throws: StoreError.self) { try store.clear(source: "a") }
            #expect(throws: StoreError.self) { try store.purgeSources(keeping: [], before: Timestamp(seconds: 99)) }
            #expect(store.counts == ["a": 1])
            #expect(try await store.listed() == ["a:1"])
            #expect(store.databases.isReadOnly)
        }
    }

    @Test("An answer without news that cannot be written down costs no fetch")
    func confirmationOnAFailingDisk() async throws {
        try await withStore { store in
            try store.fetch([.sample("a:1"), .sample("a:2")], at: 10)
            try store.fetch([.sample("a:2")], at: 20)
            try await store.databases.cache.opened.refuseWrites(to: "fetches")
            let changes = store.confirm(
                source: "a", keep: .zero, fetch: .sample(at: 30), at: Timestamp(seconds: 30)
            )
            #expect(changes == PostChanges(total: 2))
            #expect(try await store.listed() == ["a:1", "a:2"])
            #expect(store.databases.isReadOnly)
        }
    }

    /// Given up among the authors, the posts, and those that leave.
    @Test(arguments: [1, 2, 3, 4])
    func cancelledFetchChangesNothing(look: Int) async throws {
        try await withStore { store in
            let posts = (0..<600).map { Post.sample("a:\($0)", by: "\($0)") }
            try store.fetch(posts, at: 10)
            var looks = 0
            let error = #expect(throws: StoreError.self) {
                try store.fetch(Array(posts.prefix(300)), authors: posts.prefix(300).map(\.author), at: 20) {
                    looks += 1
                    return looks == look
                }
            }
            #expect(error == StoreError(path: fixture.folder["cache/cache.db"], .cancelled))
            #expect(store.counts == ["a": 600])
            #expect(store.databases.faults == [])
            // None has left: they are held anew without a change.
            #expect(try store.fetch([], keep: .seconds(10), at: 19) == PostChanges(total: 600))
        }
    }

    @Test func cancellationOfTheTaskIsLookedAt() async throws {
        let store = try PostStore.inMemory()
        await withTaskGroup(of: Void.self) { group in
            group.cancelAll()
            group.addTask {
                let posts = (0..<300).map { Post.sample("a:\($0)") }
                let error = #expect(throws: StoreError.self) {
                    try store.replace(
                        source: "a", posts: posts, isComplete: true, keep: .zero, fetch: .sample(at: 1)
                    )
                }
                #expect(error?.reason == .cancelled)
            }
        }
        #expect(store.counts == [:])
    }

    @Test func cacheThatCannotBeReadIsAnError() async throws {
        try await withStore { store in
            try store.fetch([.sample("a:1")], at: 10)
            try await store.databases.cache.writer.write { try $0.execute("DROP TABLE posts") }
            let error = ResponseError.storage(
                "The cache cannot be read now.", hint: "The daemon's log says why."
            )
            await #expect(throws: error) { try await store.page() }
            await #expect(throws: error) { try await store.post(id: "a:1", sources: ["a"], read: ReadPosts()) }
            await #expect(throws: error) { try await store.ids(sources: ["a"]) }
            await #expect(throws: error) { try await store.stored(["a:1"], sources: ["a"]) }
            await #expect(throws: error) { try await store.authors(sources: ["a"], cursor: nil, limit: 1) }
            // The last that was known.
            store.reload()
            #expect(store.counts == ["a": 1])
        }
    }

    @Test func rowThatCannotBeReadCostsItsListNoMore() async throws {
        try await withStore { store in
            try store.fetch((1...4).map { .sample("a:\($0)") }, at: 10)
            try await store.databases.cache.writer.write { database in
                try database.execute("UPDATE posts SET content = '{' WHERE id IN ('a:2', 'a:4')")
            }
            let first = try await store.page(limit: 2)
            #expect(first.items == [.sample("a:1")])
            #expect(try await store.page(cursor: first.next, limit: 2).items == [.sample("a:3")])
            #expect(try await store.post(id: "a:2", sources: ["a"], read: ReadPosts()) == nil)
        }
    }

    @Test func postsThatCannotBeWrittenForFactsAreNoTroubleOfFacts() async throws {
        try await withStore { store in
            let facts = FactStore(databases: store.databases, logger: .silent)
            try await store.databases.cache.opened.refuseWrites(to: "posts")
            #expect(throws: StoreError.self) { try store.fetch([.sample("a:1")], at: 10) }
            try facts.replaceUpstream([.upstream("f")])
            #expect(store.databases.isReadOnly)
            try await store.databases.cache.opened.takeWritesAgain()
            try store.fetch([.sample("a:1")], at: 20)
            #expect(!store.databases.isReadOnly)
        }
    }
}
