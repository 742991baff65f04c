import NorrisProtocol
import NorrisText
import Testing

@testable import NorrisStore

struct PostListTests {
    private let store: PostStore

    init() async throws { store = try await PostStore.new() }

    private func posts(_ numbers: Range<Int>, at seconds: Int64? = 1) -> [Post] {
        numbers.map { .sample("a:" + String(String(100_000 + $0).dropFirst()), at: seconds) }
    }

    @Test("Changes between two pages shift no post, even if the last post of the page is removed")
    func pagesHoldStill() async throws {
        try await store.fetch(posts(2..<8), at: 10)
        let first = try await store.page(limit: 3)
        #expect(first.items == posts(2..<5))
        try await store.fetch(
            [.sample("a:new", at: 15)] + posts(0..<2) + posts(2..<4) + posts(5..<8), keep: .zero, at: 20)
        let second = try await store.page(cursor: first.next, limit: 3)
        #expect(second.items == posts(5..<8))
        #expect(second.total == 8)
    }

    @Test func sourcesTellHowOftenTheyPublish() async throws {
        let week = Int64(7 * 86_400), now = 100 * week
        func fetch(_ source: String, _ times: [Int64]) async throws {
            let posts = times.enumerated().map { Post.sample("\(source):\($0)", at: $1, source: source) }
            try await store.fetch(posts, source: source, keep: nil, at: now)
        }
        try await fetch("daily", (0..<700).map { now - $0 * week / 7 })
        try await fetch("new", (0..<10).map { now - $0 * 3600 })
        try await fetch("silent", [week, 2 * week])
        try await fetch("future", [now + week, now - 2 * week, now - 2 * week + 1])
        let activity = try await store.activity(Timestamp(seconds: now))
        #expect(activity.mapValues(\.postsPerWeek) == ["daily": 7, "new": 10, "silent": 0, "future": 2])
        #expect(activity["silent"]?.newestAt == Timestamp(seconds: 2 * week))
        // A post of the future counts from the time of its fetch.
        #expect(activity["future"]?.newestAt == Timestamp(seconds: now))
    }

    @Test func aFetchNamesItsNewestPosts() async throws {
        let posts = ([3, 9, 1, 7, 5, 8, 2] as [Int64]).map { (at: Int64) in
            Post.sample("a:\(at)", "Text\n\(at)", at: at)
        }
        let first = try await store.fetch(posts, at: 10)
        #expect(first.newest.map(\.id) == ["a:9", "a:8", "a:7", "a:5", "a:3"])
        #expect(first.newest.first?.title == "Text 9")
        var changed = posts
        changed[1].text = "Changed"
        var new = Post.sample("a:4", at: 4)
        new.title = String(repeating: "功", count: 300)
        let second = try await store.fetch(changed + [new], at: 11)
        #expect(second.newest.map(\.id) == ["a:4"])
        #expect(second.newest.first.map { displayWidth(of: $0.title) } == 199)
        #expect(try await store.fetch(changed, at: 12).newest == [])
    }

    @Test("Newest first; without a date, or with one to come, by the time of the first fetch; then as in the document")
    func order() async throws {
        let posts: [Post] = [
            .sample("a:past", at: 5), .sample("a:none"), .sample("a:future", at: 99), .sample("a:b", at: 5),
            .sample("a:none too"), .sample("a:a", at: 5), .sample("a:now", at: 10),
        ]
        try await store.fetch(posts, at: 10)
        let expected = ["a:none", "a:future", "a:none too", "a:now", "a:past", "a:b", "a:a"]
        #expect(try await store.listed() == expected)
        // The date is past now, as after a start with a clock of 1970.
        try await store.fetch([.sample("a:future", at: 99), .sample("a:later", at: 50)], keep: .seconds(999), at: 200)
        #expect(try await store.listed() == ["a:future", "a:later", "a:none"] + expected.dropFirst(2))
    }

    @Test func filtersByAuthor() async throws {
        try await store.fetch(
            [.sample("a:1", by: "ann", at: 3), .sample("a:2", by: "bob", at: 2), .sample("a:3", by: "cy", at: 1)],
            authors: [
                Post.Author(id: "a:ann", name: "Same"), Post.Author(id: "a:bob", name: "Bob", handle: "Same"),
                Post.Author(id: "a:cy", name: "é"),
            ], at: 10)
        func listed(_ author: String, source: String? = nil) async throws -> [String] {
            try await store.listed(PostQuery(sources: ["a"], PostList.Parameters(source: source, author: author)))
        }
        #expect(try await listed("Same") == ["a:1", "a:2"])
        #expect(try await listed("a:bob") == ["a:2"])
        #expect(try await listed("Bob", source: "a") == ["a:2"])
        #expect(try await listed("Bob", source: "b") == [])
        #expect(try await listed("AM") == ["a:1", "a:2"])
        #expect(try await listed("É") == ["a:3"])
        #expect(try await listed("a:b") == [])
        #expect(try await listed("%") == [])
    }

    @Test func everyFilterSelectsPosts() async throws {
        try await store.fetch([.sample("a:1", by: "ann", at: 3), .sample("a:2", by: "bob", at: 2)], at: 10)
        try await store.fetch([.sample("b:3", source: "b")], source: "b", at: 11)
        // A request for each filter that selects the first post alone, and a part of all posts.
        let filters: [String: (PostList.Parameters, [String])] = [
            "source": (PostList.Parameters(source: "b"), ["b:3"]),
            "author": (PostList.Parameters(author: "bob"), ["a:2"]),
            "unread": (PostList.Parameters(unread: true), ["a:1", "a:2"]),
            "muted": (PostList.Parameters(muted: true), []),
            "since": (PostList.Parameters(since: Timestamp(seconds: 11)), ["b:3"]),
        ]
        guard case .object(let members) = PostList.Parameters.schema else {
            Issue.record("The parameters are no object.")
            return
        }
        #expect(
            Set(members.map(\.name)) == Set(filters.keys).union(["limit", "cursor", "numbered", "tag", "order"]),
            "Add the filter here; its condition is in PostQuery (Sources/NorrisStore/Posts/PostStore.swift).")
        var read = ReadPosts()
        read.until["b"] = Timestamp(seconds: 99)
        for (name, (filter, ids)) in filters {
            #expect(try await store.listed(PostQuery(sources: ["a", "b"], filter), read: read) == ids, "\(name)")
        }
    }

    @Test func cursorsOfOtherListsAreRefused() async throws {
        try await store.fetch(posts(0..<6), authors: [.sample("bob")], at: 10)
        let cursor = try #require(try await store.page(limit: 2).next)
        for query in [PostQuery(sources: ["a"], PostList.Parameters(author: "a")), .unread] {
            await #expect(throws: ResponseError.foreignCursor) { try await store.page(query, cursor: cursor) }
        }
        await #expect(throws: ResponseError.foreignCursor) {
            try await store.authors(sources: ["a"], cursor: cursor, limit: 1)
        }
        // A reload that adds a source keeps cursors valid.
        #expect(try await store.page(PostQuery(sources: ["a", "b"]), cursor: cursor).items == posts(2..<6))
    }

    @Test("By name without regard to case, then by id; with the number of posts") func authors() async throws {
        try await store.fetch(
            [.sample("a:1", by: "1"), .sample("a:2", by: "1"), .sample("a:3", by: "2")],
            authors: [
                .sample("1", named: "bob"), .sample("2", named: "Bob"), .sample("0", named: "BOB"),
                Post.Author(id: "a:3", name: "Zoë", handle: "@z", avatarURL: "https://z", email: "z@z"),
                .sample("4", named: "ann"), .sample("5", named: "b"), .sample("6", named: "Élan"),
            ], at: 10)
        try await store.fetch([.sample("b:1", by: "amy", source: "b")], source: "b", at: 10)
        let first = try await store.authors(sources: ["a", "b"], cursor: nil, limit: 3)
        let rest = try await store.authors(sources: ["a", "b"], cursor: first.next, limit: 9)
        let items = first.items + rest.items
        #expect(first.total == 8 && rest.total == 8 && rest.next == nil)
        #expect(items.map(\.id) == ["b:amy", "a:4", "a:5", "a:0", "a:1", "a:2", "a:3", "a:6"])
        #expect(items.map(\.postCount) == [1, 0, 0, 0, 2, 1, 0, 0])
        #expect(items[6] == .init(id: "a:3", name: "Zoë", handle: "@z", avatarURL: "https://z", postCount: 0))
        #expect(try await store.authors(source: "b", sources: ["a", "b"], cursor: nil, limit: 9).items.count == 1)
        #expect(try await store.authors(source: "b", sources: ["a"], cursor: nil, limit: 9).items.count == 0)
    }
}
