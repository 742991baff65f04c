import NorrisProtocol
import NorrisText

/// What a fetch of a source did to its posts.
package struct PostChanges: Sendable, Equatable {
    package var added = 0
    /// How many known posts have another content.
    package var changed = 0
    /// The ids of expired posts; their read marks may be removed too.
    package var removed: [String] = []
    /// How many posts of the source are stored now.
    package var total = 0
}

/// Stores what a fetch of a source brought, inside a transaction.
///
/// A stored post that the fetch does not hold stays until it expires: most sources show only their latest.
struct PostImport {
    /// How many posts of a source stay, apart from those that the last fetch held.
    static let maximumPosts = 100_000

    private let source: String
    private let now: Timestamp
    private let isCancelled: () -> Bool
    private let database: Database
    private(set) var changes = PostChanges()
    /// The numbers of the posts and authors that the fetch held.
    private var heldPosts: Set<Int64> = []
    private var heldAuthors: Set<Int64> = []
    /// The authors of posts that now have another one.
    private var formerAuthors: Set<Int64> = []
    private var steps = 0

    init(source: String, at now: Timestamp, isCancelled: @escaping () -> Bool, _ database: Database) {
        self.source = source
        self.now = now
        self.isCancelled = isCancelled
        self.database = database
    }

    /// Of several posts with one id the first counts; `authors` count before the authors of the posts.
    mutating func take(_ posts: [Post], authors: [Post.Author]) throws {
        for author in authors {
            try step()
            _ = try number(of: author)
        }
        for post in posts {
            try step()
            try take(post, author: try number(of: post.author))
        }
    }

    private mutating func take(_ post: Post, author: Int64) throws {
        let content = content(post)
        let known = try database.first(
            "SELECT number, first_seen, held_at IS NULL, content = ?, author FROM posts WHERE id = ?",
            [content, post.id]
        ) {
            (
                number: $0[0] as Int64, firstSeen: $0[1] as Int64, wasHeld: $0[2] as Bool, isSame: $0[3] as Bool,
                author: $0[4] as Int64
            )
        }
        guard let known else {
            try database.execute(
                """
                INSERT INTO posts (id, digest, source, author, content, first_seen, sort_at)
                VALUES (?, ?, ?, ?, ?, ?, ?)
                """,
                [
                    post.id, PostKey(id: post.id).digest, source, author, content, now.seconds,
                    sortAt(post, firstSeen: now.seconds),
                ]
            )
            heldPosts.insert(database.lastInsertedRowID)
            changes.added += 1
            return
        }
        guard heldPosts.insert(known.number).inserted else { return }
        if known.wasHeld && known.isSame { return }
        if known.author != author { formerAuthors.insert(known.author) }
        try database.execute(
            "UPDATE posts SET content = ?, author = ?, sort_at = ?, held_at = NULL WHERE number = ?",
            [content, author, sortAt(post, firstSeen: known.firstSeen), known.number]
        )
        if !known.isSame { changes.changed += 1 }
    }

    /// A post as it is stored: without what has a column or table of its own, so that it changes only when the post
    /// does.
    private func content(_ post: Post) -> String {
        var post = post
        post.source = source
        post.author = Post.Author(id: post.author.id, name: "")
        post.isRead = false
        return post.jsonText
    }

    /// By what a post is sorted: its date, or when it was first seen, if it has none or one in the future.
    ///
    /// A date that has passed since counts when a fetch brings the post changed or again; nothing is written for that
    /// alone.
    private func sortAt(_ post: Post, firstSeen: Int64) -> Int64 {
        guard let publishedAt = post.publishedAt, publishedAt <= now else { return firstSeen }
        return publishedAt.seconds
    }

    /// The number of an author, who is stored where that is new.
    private mutating func number(of author: Post.Author) throws -> Int64 {
        let known = try database.first(
            """
            SELECT number, held AND name = ? AND handle IS ? AND avatar_url IS ? AND email IS ?
            FROM authors WHERE id = ?
            """,
            [author.name, author.handle, author.avatarURL, author.email, author.id]
        ) { (number: $0[0] as Int64, isSame: $0[1] as Bool) }
        if let known, !heldAuthors.insert(known.number).inserted || known.isSame { return known.number }
        try database.execute(
            """
            INSERT INTO authors (id, source, name, folded, handle, avatar_url, email, held)
            VALUES (?, ?, ?, ?, ?, ?, ?, 1)
            ON CONFLICT (id) DO UPDATE SET
                name = excluded.name, folded = excluded.folded, handle = excluded.handle,
                avatar_url = excluded.avatar_url, email = excluded.email, held = 1
            """,
            [author.id, source, author.name, caseFolded(author.name), author.handle, author.avatarURL, author.email]
        )
        if let known { return known.number }
        heldAuthors.insert(database.lastInsertedRowID)
        return database.lastInsertedRowID
    }

    /// Notes that this fetch did not hold the other stored posts.
    ///
    /// - Parameters:
    ///   - last: the fetch that counts as the last that held them.
    ///   - isComplete: else authors without posts stay, unless this fetch gave their posts to others: it is not known
    ///     how long they have been missing.
    mutating func leaveOthers(last: Timestamp, isComplete: Bool) throws {
        let posts = try Int64.fetchAll(
            database, "SELECT number FROM posts WHERE source = ? AND held_at IS NULL", [source]
        )
        for number in posts where !heldPosts.contains(number) {
            try step()
            // After a clock rollback the last fetch may be before the post was first seen.
            try database.execute(
                "UPDATE posts SET held_at = iif(? < first_seen, ?, ?) WHERE number = ?",
                [last.seconds, now.seconds, last.seconds, number]
            )
        }
        let authors = try Int64.fetchAll(
            database,
            """
            SELECT number FROM authors WHERE source = ? AND held
                AND (? OR EXISTS (SELECT 1 FROM posts WHERE posts.author = authors.number))
            """,
            [source, isComplete]
        )
        for number in formerAuthors.union(authors) where !heldAuthors.contains(number) {
            try step()
            try database.execute("UPDATE authors SET held = 0 WHERE number = ?", [number])
        }
    }

    /// Removes expired posts, the oldest beyond ``maximumPosts``, and authors without posts.
    ///
    /// - Parameter keep: how long a post stays after the last fetch that held it; nil for any time.
    mutating func removeExpired(keep: Duration?) throws {
        if let keep {
            changes.removed = try String.fetchAll(
                database, "DELETE FROM posts WHERE source = ? AND held_at <= ? RETURNING id",
                [source, now.seconds - keep.components.seconds]
            )
        }
        let count = "SELECT count(*) FROM posts WHERE source = ?"
        changes.total = try Int.fetchOne(database, count, [source]) ?? 0
        if changes.total > PostImport.maximumPosts {
            let removed = try String.fetchAll(
                database,
                """
                DELETE FROM posts WHERE number IN (
                    SELECT number FROM posts WHERE source = ? AND held_at IS NOT NULL
                    ORDER BY sort_at, id DESC LIMIT ?
                ) RETURNING id
                """,
                [source, changes.total - PostImport.maximumPosts]
            )
            changes.removed += removed
            changes.total -= removed.count
        }
        try database.execute(
            """
            DELETE FROM authors WHERE source = ? AND NOT held
                AND NOT EXISTS (SELECT 1 FROM posts WHERE posts.author = authors.number)
            """,
            [source]
        )
    }

    /// Ends an import that was cancelled.
    private mutating func step() throws {
        steps += 1
        if steps.isMultiple(of: 256), isCancelled() { throw CancellationError() }
    }
}
