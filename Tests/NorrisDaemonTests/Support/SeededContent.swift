import NorrisProtocol
import NorrisStore

@testable import NorrisDaemon

/// A GIF and a post that the examples of PROTOCOL.md speak of, put into the stores as fetches would.
enum SeededContent {
    /// Of a daemon that fetches nothing else.
    static let configuration = """
        posts: {sources: {town: {kind: mastodon, url: 'https://town.example', enabled: false}}}

        """

    static func put(into stores: Stores, at now: Timestamp) async throws {
        let fetchedAt = Timestamp(seconds: now.seconds - 11 * 3600)
        let original = Gif.Rendition(
            url: "https://media3.giphy.com/media/ID/giphy.gif?cid=1&ct=g", width: 480, height: 229
        )
        let gif = Gif(
            id: "bq2Nk0o7bQhhseGATA", title: "Full House Angel GIF", rating: "g",
            pageURL: "https://giphy.com/gifs/bq2Nk0o7bQhhseGATA", renditions: ["original": original]
        )
        try await stores.gifs.put(
            [gif], in: .search("angel", rating: "g"), offset: 0, nextOffset: nil, totalCount: 1, at: fetchedAt
        )
        let post = Post(
            id: "town:1", source: "town", author: Post.Author(id: "town:7", name: "Ada", handle: "@ada@town.example"),
            publishedAt: Timestamp("2026-11-21T12:00:00Z"), text: "Counted to infinity today.", tags: ["maths"],
            stats: Post.Stats(likes: 12, comments: 1)
        )
        _ = try stores.posts.replace(
            source: "town", posts: [post], authors: [], isComplete: true, keep: .days(90),
            fetch: FetchRecord(settings: "older", fetchedAt: fetchedAt), at: now
        )
    }
}
