import NorrisFetchProtocol
import NorrisProtocol
import Testing

@testable import NorrisStore

/// Posts that are stored when their articles were fetched.
struct WaitingPostTests {
    private let fixture = StoreFixture()

    private func posts(_ numbers: ClosedRange<Int>) -> [Post] {
        numbers.map { number in
            var post = Post.sample("a:\(number)", at: Int64(number))
            post.url = "https://a.example/\(number)"
            return post
        }
    }

    private func fetch(
        _ store: PostStore, _ numbers: ClosedRange<Int>, at now: Int64, _ run: SourceImport? = nil, limit: Int = 2
    ) async throws -> [WaitingPost] {
        var record = FetchRecord.sample(at: now)
        record.parts = ["posts": PartRecord(etag: "e", checkedAt: Timestamp(seconds: now))]
        let changes = try await store.replace(
            run ?? store.beginImport(), posts: posts(numbers).map { FetchedPost($0) }, isComplete: true,
            keep: .seconds(1_000), fetch: record, articles: limit, at: Timestamp(seconds: now))
        return changes.waiting
    }

    private func hasValidators(_ databases: Databases) async -> Bool {
        await SourceRecords(databases: databases).fetch(of: "a")?.parts["posts"]?.etag != nil
    }

    @Test("Posts are fetched again if norrisd ends before they are stored, and wait once otherwise")
    func crash() async throws {
        var databases = try await fixture.databases()
        var store = await PostStore(databases: databases)
        #expect(try await fetch(store, 1...3, at: 10).map(\.item.post.id) == ["a:1", "a:2"])
        #expect(try await store.listed() == ["a:3"])
        #expect(await !hasValidators(databases))
        // The next fetch does not hand them out again, nor count them as new ones.
        #expect(try await fetch(store, 1...4, at: 20, limit: 3).map(\.item.post.id) == ["a:4"])
        // Posts that wait count.
        #expect(try await fetch(store, 1...5, at: 25, limit: 3).isEmpty)
        #expect(try await store.listed() == ["a:5", "a:3"])
        await databases.close()

        databases = try await fixture.databases()
        store = await PostStore(databases: databases)
        let run = store.beginImport()
        let waiting = try await fetch(store, 1...4, at: 30, run)
        #expect(waiting.map(\.item.post.id) == ["a:1", "a:2"])
        #expect(try await store.listed() == ["a:5", "a:4", "a:3"])
        for post in waiting {
            let changes = try await store.publish(post, run, with: nil, at: Timestamp(seconds: 40))
            #expect(changes.added == 1)
        }
        #expect(try await store.listed() == ["a:5", "a:4", "a:3", "a:2", "a:1"] && store.count(source: "a") == 5)
        #expect(try await fetch(store, 1...4, at: 50).isEmpty)
        #expect(await hasValidators(databases))
        await databases.close()
    }

    @Test func clearedPostsAreNotPublishedAndWaitAgain() async throws {
        let databases = try await fixture.databases()
        let store = await PostStore(databases: databases)
        let run = store.beginImport()
        let waiting = try #require(try await fetch(store, 1...2, at: 10, run).first)
        try await store.clear(source: "a")
        #expect(try await fetch(store, 1...2, at: 20).count == 2)
        await #expect(throws: StoreError.self) { try await store.publish(waiting, run, with: nil) }
        #expect(try await store.listed() == [])
        await databases.close()
    }
}
