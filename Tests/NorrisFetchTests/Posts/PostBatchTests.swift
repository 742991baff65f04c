import NorrisFetchProtocol
import NorrisProtocol
import Testing

@testable import NorrisFetch

struct PostBatchTests {
    private let ann = Post.Author(id: "1", name: "Ann")

    private func batch(_ posts: Post...) throws -> Fetched {
        var builder = PostBatchBuilder(source: "town")
        for post in posts { try builder.add(post) }
        return try builder.batch()
    }

    private func post(_ id: String, text: String? = nil, by author: Post.Author? = nil) -> Post {
        Post(id: id, source: "", author: author ?? ann, text: text ?? "Text of \(id)")
    }

    @Test func theSameAuthorIsFilledIn() throws {
        let full = Post.Author(
            id: "1", name: "Annie", handle: "@ann", avatarURL: "https://h/a.png", email: "ann@example.org")
        let other = Post.Author(id: "1", name: "X", handle: "@x", avatarURL: "https://h/x.png", email: "x@example.org")
        let merged = Post.Author(
            id: "town:1", name: "Ann", handle: "@ann", avatarURL: "https://h/a.png", email: "ann@example.org")
        let batch = try batch(post("a", by: ann), post("b", by: full), post("c", by: other))
        #expect(batch.posts.map(\.author) == [merged, merged, merged])
        #expect(batch.head.authors.isEmpty)
    }

    @Test func thereIsAnEndToThem() throws {
        var builder = PostBatchBuilder(source: "town")
        let post = post("a")
        for _ in 0..<PostBatchBuilder.maximumItems { try builder.add(post) }
        #expect(try builder.batch().posts.count == 1)
        #expect(throws: UpstreamError.self) { try builder.add(post) }
        #expect(throws: UpstreamError.self) { try builder.add(ann) }
        #expect(throws: UpstreamError.self) { try builder.add(nil) }
    }

    @Test func ofALongDocumentTheNewestAreKept() throws {
        var builder = PostBatchBuilder(source: "town")
        let count = PostBatchBuilder.maximumPosts
        try builder.add(post("undated"))
        for index in 0...count {
            var dated = post("\(index)")
            dated.publishedAt = Timestamp(seconds: Int64(index))
            try builder.add(dated)
        }
        let batch = try builder.batch()
        #expect(batch.posts.map(\.id) == ["town:undated"] + (2...count).map { "town:\($0)" })
    }
}
