import NorrisProtocol
import NorrisText

/// The rows of `posts`, to and from a post.
enum PostRecord {
    /// Of a post joined with its author, for ``post(_:read:)``.
    static let columns = """
        posts.content, posts.digest, authors.id, authors.name, authors.handle, authors.avatar_url, authors.email
        """

    /// - Parameter row: begins with ``columns``.
    /// - Returns: nil for a row that cannot be read: it costs its list one post, not the page.
    static func post(_ row: Row, read: ReadPosts) -> Post? {
        guard var post = try? Post(json: JSON.parse(row[0] as String)) else { return nil }
        post.isRead = read.contains(PostKey(digest: row[1]))
        post.author = Post.Author(id: row[2], name: row[3], handle: row[4], avatarURL: row[5], email: row[6])
        return post
    }

    /// A post as it is stored: nothing that has a place of its own, so that it changes only when the post does.
    static func content(_ post: Post, source: String) -> String {
        var post = post
        post.source = source
        post.author = Post.Author(id: post.author.id, name: "")
        post.isRead = false
        return post.jsonText
    }

    /// By what a post is sorted: its date, unless it has none or one that is still to come, at the fetch that takes it.
    ///
    /// A date that has come since counts when a fetch brings the post changed or anew; no fetch writes to a post for
    /// that alone.
    static func sortAt(_ publishedAt: Timestamp?, firstSeen: Int64, now: Timestamp) -> Int64 {
        guard let publishedAt, publishedAt <= now else { return firstSeen }
        return publishedAt.seconds
    }

    /// How many posts each source has.
    static func counts(_ database: Database) throws -> [String: Int] {
        var counts: [String: Int] = [:]
        let rows = try Rows(database.statement("SELECT source, count(*) FROM posts GROUP BY source"))
        while try rows.next() { counts[rows[0]] = rows[1] }
        return counts
    }
}
