import NorrisProtocol
import NorrisText

/// What a fetch of a source brought, on its way into the cache, inside a transaction.
///
/// A post that is not among the new ones stays until it was kept long enough: most sources show only their latest.
struct PostImport {
    let source: String
    let now: Timestamp
    let isCancelled: () -> Bool
    let database: Database
    private(set) var changes = PostChanges()
    /// The numbers of the posts and authors that the fetch held.
    private var heldPosts: Set<Int64> = []
    private var heldAuthors: Set<Int64> = []
    private var steps = 0

    init(source: String, at now: Timestamp, isCancelled: @escaping () -> Bool, _ database: Database) {
        self.source = source
        self.now = now
        self.isCancelled = isCancelled
        self.database = database
    }

    /// Of several with one id the first counts; the authors given by themselves count before those of the posts.
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
        let content = PostRecord.content(post, source: source)
        let known = try Row.fetchOne(
            database.cachedStatement(
                sql: "SELECT number, first_seen, held_at IS NULL, content = ? FROM posts WHERE id = ?"
            ),
            arguments: [content, post.id]
        )
        guard let known else {
            try add(post, content, author)
            changes.added += 1
            return
        }
        let number: Int64 = known[0]
        guard heldPosts.insert(number).inserted else { return }
        let (wasHeld, isSame): (Bool, Bool) = (known[2], known[3])
        if wasHeld && isSame { return }
        try database.cachedStatement(
            sql: "UPDATE posts SET content = ?, author = ?, sort_at = ?, held_at = NULL WHERE number = ?"
        ).execute(arguments: [content, author, sortAt(post, firstSeen: known[1]), number])
        if !isSame { changes.changed += 1 }
    }

    private func sortAt(_ post: Post, firstSeen: Int64) -> Int64 {
        PostRecord.sortAt(post.publishedAt, firstSeen: firstSeen, now: now)
    }

    private mutating func add(_ post: Post, _ content: String, _ author: Int64) throws {
        try database.cachedStatement(
            sql: """
                INSERT INTO posts (id, digest, source, author, content, first_seen, sort_at)
                VALUES (?, ?, ?, ?, ?, ?, ?)
                """
        ).execute(arguments: [
            post.id, PostKey(id: post.id).digest, source, author, content, now.seconds,
            sortAt(post, firstSeen: now.seconds),
        ])
        heldPosts.insert(database.lastInsertedRowID)
    }

    /// The number of an author, who is stored as given where that is new.
    private mutating func number(of author: Post.Author) throws -> Int64 {
        let known = try Row.fetchOne(
            database.cachedStatement(
                sql: """
                    SELECT number, held AND name = ? AND handle IS ? AND avatar_url IS ? AND email IS ?
                    FROM authors WHERE id = ?
                    """
            ),
            arguments: [author.name, author.handle, author.avatarURL, author.email, author.id]
        )
        if let known {
            let number: Int64 = known[0]
            if !heldAuthors.insert(number).inserted || known[1] { return number }
        }
        try database.cachedStatement(
            sql: """
                INSERT INTO authors (id, source, name, folded, handle, avatar_url, email, held)
                VALUES (?, ?, ?, ?, ?, ?, ?, 1)
                ON CONFLICT (id) DO UPDATE SET
                    name = excluded.name, folded = excluded.folded, handle = excluded.handle,
                    avatar_url = excluded.avatar_url, email = excluded.email, held = 1
                """
        ).execute(arguments: [
            author.id, source, author.name, caseFolded(author.name), author.handle, author.avatarURL, author.email,
        ])
        if let known { return known[0] }
        heldAuthors.insert(database.lastInsertedRowID)
        return database.lastInsertedRowID
    }

    /// Notes of what is stored and was not taken that this fetch no longer held it.
    ///
    /// - Parameters:
    ///   - last: the fetch that counts as the last that held them.
    ///   - isComplete: else authors without posts stay as they are: nothing tells when they have been away for long.
    mutating func leaveOthers(last: Timestamp, isComplete: Bool) throws {
        let posts = try Int64.fetchAll(
            database, sql: "SELECT number FROM posts WHERE source = ? AND held_at IS NULL", arguments: [source]
        )
        for number in posts where !heldPosts.contains(number) {
            try step()
            // A fetch from before the post was seen is one by a clock that was behind.
            try database.cachedStatement(sql: "UPDATE posts SET held_at = iif(? < first_seen, ?, ?) WHERE number = ?")
                .execute(arguments: [last.seconds, now.seconds, last.seconds, number])
        }
        let authors = try Int64.fetchAll(
            database,
            sql: """
                SELECT number FROM authors WHERE source = ? AND held
                    AND (? OR EXISTS (SELECT 1 FROM posts WHERE posts.author = authors.number))
                """,
            arguments: [source, isComplete]
        )
        for number in authors where !heldAuthors.contains(number) {
            try step()
            try database.cachedStatement(sql: "UPDATE authors SET held = 0 WHERE number = ?")
                .execute(arguments: [number])
        }
    }

    /// How many posts of a source stay, as far as the last fetch no longer held them.
    static let maximumPosts = 100_000

    /// Takes out what no fetch has held for so long, the oldest of what is too many, and authors of whom nothing is
    /// left.
    ///
    /// - Parameter keep: nil for any time.
    mutating func removeExpired(keep: Duration?) throws {
        if let keep {
            changes.removed = try String.fetchAll(
                database,
                sql: "DELETE FROM posts WHERE source = ? AND held_at <= ? RETURNING id",
                arguments: [source, now.seconds - keep.components.seconds]
            )
        }
        let count = try Int.fetchOne(
            database, sql: "SELECT count(*) FROM posts WHERE source = ?", arguments: [source]
        ) ?? 0
        if count > PostImport.maximumPosts {
            changes.removed += try String.fetchAll(
                database,
                sql: """
                    DELETE FROM posts WHERE number IN (
                        SELECT number FROM posts WHERE source = ? AND held_at IS NOT NULL
                        ORDER BY sort_at, id DESC LIMIT ?
                    ) RETURNING id
                    """,
                arguments: [source, count - PostImport.maximumPosts]
            )
        }
        if keep == nil { return }
        try database.execute(
            sql: """
                DELETE FROM authors WHERE source = ? AND NOT held
                    AND NOT EXISTS (SELECT 1 FROM posts WHERE posts.author = authors.number)
                """,
            arguments: [source]
        )
    }

    /// Ends an import that nobody waits for any more.
    private mutating func step() throws {
        steps += 1
        if steps.isMultiple(of: 256), isCancelled() { throw CancellationError() }
    }
}
