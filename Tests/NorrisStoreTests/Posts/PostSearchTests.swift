import NorrisProtocol
import Testing

@testable import NorrisStore

struct PostSearchTests {
    private let store: PostStore

    init() async throws { store = try await PostStore.new() }

    private func fetch() async throws {
        var kernel = Post.sample("a:1", "It boots\n\nwithout  a BOOT loader.", at: 4)
        (kernel.title, kernel.tags) = ("The Kernel", ["linux", "Straße"])
        var untitled = Post.sample("a:2", nil, by: "bob", at: 3)
        (untitled.text, untitled.tags) = (nil, ["kernel"])
        var posts = [kernel, untitled, .sample("a:3", "100% of a_b", at: 2), .sample("a:4", "Ünï", at: 1)]
        for index in [0, 2, 3] {
            posts[index].author = Post.Author(id: "a:ann", name: "Ann  Lee", handle: "@Ann@town.example")
        }
        try await store.fetch(posts, at: 10)
    }

    private func found(
        _ query: String, source: String? = nil, unread: Bool = false, read: ReadPosts = ReadPosts()
    ) async throws -> [String] {
        let request = PostList.Parameters(source: source, unread: unread)
        let query = PostQuery(sources: ["a"], request, search: try SearchWords(query))
        let page = try await store.page(query, read: read)
        #expect(page.total == page.items.count)
        return page.items.map(\.id)
    }

    @Test("Every word occurs in the title, the text, a tag, or a name of the author") func words() async throws {
        try await fetch()
        for (query, ids) in [
            ("kernel", ["a:1", "a:2"]), ("KERNEL boot", ["a:1"]), ("ern ooT", ["a:1"]),
            ("\"boots without a boot\"", ["a:1"]),
            ("strasse", ["a:1"]), ("ann", ["a:1", "a:3", "a:4"]), ("@ann@town", ["a:1", "a:3", "a:4"]),
            ("\"ann lee\" kernel", ["a:1"]), ("ann linux boot the", ["a:1"]), ("bob kernel", ["a:2"]),
            ("ann bob", []), ("100%", ["a:3"]), ("1%0", []), ("a_b", ["a:3"]), ("aXb", []), ("ÜNÏ", ["a:4"]),
            ("uni", []), ("kernelit", []), ("\"kernel it\"", []), ("a:1", []),
        ] as [(String, [String])] {
            #expect(try await found(query) == ids, "\(query)")
        }
    }

    @Test func filtersApplyAsInTheList() async throws {
        try await fetch()
        try await store.fetch([.sample("b:1", "kernel", by: "x", at: 9, source: "b")], source: "b", at: 10)
        #expect(try await found("kernel") == ["a:1", "a:2"], "b is not configured.")
        #expect(try await found("kernel", source: "a") == ["a:1", "a:2"])
        #expect(try await found("kernel", source: "b") == [])
        let read = ReadPosts(["a:1"])
        #expect(try await found("kernel", unread: true, read: read) == ["a:2"])
        #expect(try await found("kernel", read: read) == ["a:1", "a:2"])
    }

    @Test func changesAreFound() async throws {
        try await fetch()
        var post = Post.sample("a:1", "Rewritten.", by: "bob", at: 4)
        try await store.fetch([post], at: 20)
        #expect(try await found("kernel") == ["a:2"])
        #expect(try await found("rewritten bob") == ["a:1"])
        // A new name counts for the posts that come with it.
        post.author.name = "Rob"
        #expect(try await store.fetch([post], at: 21).changed == 1)
        #expect(try await found("rob") == ["a:1"])
        #expect(try await found("bob") == ["a:2"])
        try await store.clear(source: "a")
        #expect(try await store.databases.cache.count("post_texts") == 0)
    }

    @Test func pagesFollowTheListAndTotalsAreExactUpToAThousand() async throws {
        let posts = (0..<1_002).map { Post.sample("a:\($0)", $0 < 1_001 ? "word" : "other", at: Int64(2_000 - $0)) }
        try await store.fetch(posts, at: 5_000)
        let query = PostQuery(sources: ["a"], search: try SearchWords("word"))
        let first = try await store.page(query, limit: 2)
        #expect(first.items.map(\.id) == ["a:0", "a:1"] && first.total == nil)
        let second = try await store.page(query, cursor: first.next, limit: 2)
        #expect(second.items.map(\.id) == ["a:2", "a:3"] && second.total == nil)
        let rare = try await store.page(PostQuery(sources: ["a"], search: try SearchWords("other")), limit: 2)
        #expect(rare.items.map(\.id) == ["a:1001"] && rare.total == 1 && rare.next == nil)
        await #expect(throws: ResponseError.foreignCursor) {
            try await store.page(PostQuery(sources: ["a"], search: SearchWords("wor")), cursor: first.next)
        }
        await #expect(throws: ResponseError.foreignCursor) { try await store.page(cursor: first.next) }
    }
}
