package import NorrisProtocol
import NorrisText

/// The effect of a fetch on the posts of its source.
package struct PostChanges: Sendable, Equatable {
    package var added = 0
    /// The newest of the new posts, newest first, at most ``Event/Items/maximumNew``.
    package var newest: [Event.NewItem] = []
    /// The number of known posts with new content.
    package var changed = 0
    /// The number of expired posts.
    package var removed = 0
    /// The number of stored posts of the source.
    package var total = 0
}

/// Stores the posts of a fetch in a transaction.
///
/// A stored post that the fetch does not contain stays until it expires, because most sources contain only their latest
/// posts.
struct PostImport {
    /// The maximum number of posts of a source, in addition to the posts of the last fetch.
    static let maximumPosts = 100_000

    private let source: String
    private let now: Timestamp
    private let database: Database
    private var changes = PostChanges()
    /// The numbers of the posts and authors in the fetch.
    private var heldPosts: Set<SequenceNumber> = []
    private var heldAuthors: Set<SequenceNumber> = []
    /// The newest of the new posts.
    private var newest: [(sortAt: Timestamp, post: Post)] = []
    /// The former authors of posts with a new author.
    private var formerAuthors: Set<SequenceNumber> = []

    init(source: String, at now: Timestamp, _ database: Database) {
        self.source = source
        self.now = now
        self.database = database
    }

    /// The changes until now.
    var result: PostChanges {
        var result = changes
        result.newest = newest.sorted(by: PostImport.isNewer).map { Event.NewItem($0.post) }
        return result
    }

    /// Of several posts with one id the first counts; `authors` have precedence over the authors of posts.
    mutating func take(_ posts: [Post], authors: [Post.Author]) throws {
        for author in authors { _ = try number(of: author) }
        for post in posts { try take(post, author: try number(of: post.author)) }
    }

    private mutating func take(_ post: Post, author: SequenceNumber) throws {
        let content = content(post)
        let known = try database.first(
            "SELECT number, first_seen, held_at IS NULL, content = ?, author, sort_at FROM posts WHERE id = ?",
            [content, post.id]
        ) {
            (
                number: $0[0] as SequenceNumber, firstSeen: $0[1] as Timestamp, wasHeld: $0[2] as Bool,
                isSame: $0[3] as Bool, author: $0[4] as SequenceNumber, sortAt: $0[5] as Timestamp
            )
        }
        guard let known else {
            let sortAt = sortAt(post, firstSeen: now)
            try database.execute(
                """
                INSERT INTO posts (id, digest, source, author, content, first_seen, sort_at)
                VALUES (?, ?, ?, ?, ?, ?, ?)
                """, [post.id, PostKey(id: post.id), source, author, content, now, sortAt])
            let number = database.lastInsertedNumber
            try storeText(of: post, number)
            heldPosts.insert(number)
            changes.added += 1
            newest.append((sortAt, post))
            if newest.count > Event.Items.maximumNew {
                newest.sort(by: PostImport.isNewer)
                newest.removeLast()
            }
            return
        }
        guard heldPosts.insert(known.number).inserted else { return }
        let sortAt = sortAt(post, firstSeen: known.firstSeen)
        // A clock that is set back must not reorder posts.
        if known.wasHeld && known.isSame && (known.sortAt == sortAt || sortAt != post.publishedAt) { return }
        if known.author != author { formerAuthors.insert(known.author) }
        try database.execute(
            "UPDATE posts SET content = ?, author = ?, sort_at = ?, held_at = NULL WHERE number = ?",
            [content, author, sortAt, known.number])
        if !known.isSame {
            try storeText(of: post, known.number)
            changes.changed += 1
        }
    }

    /// The order of lists.
    private static func isNewer(
        _ first: (sortAt: Timestamp, post: Post), _ second: (sortAt: Timestamp, post: Post)
    ) -> Bool { (second.sortAt, first.post.id) < (first.sortAt, second.post.id) }

    /// Stores the text that searches read.
    private func storeText(of post: Post, _ number: SequenceNumber) throws {
        let text = SearchWords.storedText(post.searchedTexts)
        try database.execute("REPLACE INTO post_texts (number, text) VALUES (?, ?)", [number, text])
    }

    /// The stored form of a post, without members that have a separate column or table, so that it changes only with
    /// the post.
    private func content(_ post: Post) -> CheckedText {
        var post = post
        post.source = source
        post.author = Post.Author(id: post.author.id, name: "")
        post.isRead = false
        return CheckedText(post.jsonText)
    }

    /// The sort key of a post: its date, or the time of its first fetch if the date is missing or in the future.
    ///
    /// A date that has passed in the meantime counts at the next fetch of the post, for example after a start with a clock
    /// of 1970.
    private func sortAt(_ post: Post, firstSeen: Timestamp) -> Timestamp {
        guard let publishedAt = post.publishedAt, publishedAt <= now else { return firstSeen }
        return publishedAt
    }

    /// The number of an author, who is stored if new.
    private mutating func number(of author: Post.Author) throws -> SequenceNumber {
        let known = try database.first(
            """
            SELECT number, held AND name = ? AND handle IS ? AND avatar_url IS ? AND email IS ?
            FROM authors WHERE id = ?
            """, [author.name, author.handle, author.avatarURL, author.email, author.id]
        ) { (number: $0[0] as SequenceNumber, isSame: $0[1] as Bool) }
        if let known, !heldAuthors.insert(known.number).inserted || known.isSame { return known.number }
        try database.execute(
            """
            INSERT INTO authors (id, source, name, folded, searched, handle, avatar_url, email, digest, held)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 1)
            ON CONFLICT (id) DO UPDATE SET
                name = excluded.name, folded = excluded.folded, searched = excluded.searched, handle = excluded.handle,
                avatar_url = excluded.avatar_url, email = excluded.email, digest = excluded.digest, held = 1
            """,
            [
                author.id, source, author.name, caseFolded(author.name), SearchWords.storedText(author.searchedTexts),
                author.handle, author.avatarURL, author.email, author.digest,
            ])
        if let known { return known.number }
        heldAuthors.insert(database.lastInsertedNumber)
        return database.lastInsertedNumber
    }

    /// Records that this fetch did not contain the other stored posts.
    ///
    /// - Parameters:
    ///   - last: the time of the last fetch that contained them.
    ///   - isComplete: if false, authors without posts stay, unless this fetch moved their posts to other authors,
    ///     because the time of their removal is unknown.
    mutating func leaveOthers(last: Timestamp, isComplete: Bool) throws {
        let posts = try SequenceNumber.fetchAll(
            database, "SELECT number FROM posts WHERE source = ? AND held_at IS NULL", [source])
        for number in posts where !heldPosts.contains(number) {
            // After a clock rollback the last fetch may be before the first fetch of the post.
            try database.execute(
                "UPDATE posts SET held_at = iif(? < first_seen, ?, ?) WHERE number = ?", [last, now, last, number])
        }
        let authors = try SequenceNumber.fetchAll(
            database,
            """
            SELECT number FROM authors WHERE source = ? AND held
                AND (? OR EXISTS (SELECT 1 FROM posts WHERE posts.author = authors.number))
            """, [source, isComplete])
        for number in formerAuthors.union(authors) where !heldAuthors.contains(number) {
            try database.execute("UPDATE authors SET held = 0 WHERE number = ?", [number])
        }
    }

    /// Removes expired posts, the oldest posts above ``maximumPosts``, and authors without posts.
    ///
    /// - Parameter keep: the time that a post stays after the last fetch that contained it; nil for no limit.
    mutating func removeExpired(keep: Duration?) throws {
        if let keep {
            try database.execute(
                "DELETE FROM posts WHERE source = ? AND held_at <= ?", [source, now.seconds - keep.components.seconds])
            changes.removed = database.changesCount
        }
        let count = "SELECT count(*) FROM posts WHERE source = ?"
        changes.total = try Int.fetchOne(database, count, [source]) ?? 0
        if changes.total > PostImport.maximumPosts {
            try database.execute(
                """
                DELETE FROM posts WHERE number IN (
                    SELECT number FROM posts WHERE source = ? AND held_at IS NOT NULL
                    ORDER BY sort_at, id DESC LIMIT ?
                )
                """, [source, changes.total - PostImport.maximumPosts])
            changes.removed += database.changesCount
            changes.total -= database.changesCount
        }
        try database.execute(
            """
            DELETE FROM authors WHERE source = ? AND NOT held
                AND NOT EXISTS (SELECT 1 FROM posts WHERE posts.author = authors.number)
            """, [source])
    }
}

extension Post.Author {
    /// A checksum of the stored author.
    var digest: OpaqueInteger {
        let fields = [id, name, handle, avatarURL, email].map { $0 ?? "\0" }
        return OpaqueInteger(columnValue: Int64(bitPattern: SipHash.hash(ofTexts: fields)))
    }
}
