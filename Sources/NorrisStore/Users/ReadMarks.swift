package import NorrisProtocol

/// The posts that one user has read: of each source all posts that were first seen until a time, except for the posts
/// with a separate mark.
package struct ReadPosts: Sendable {
    /// Whether a post is read, by ``StoredPost/key``.
    var marks: [UInt64: Bool] = [:]
    var until: [String: Timestamp] = [:]

    package func contains(_ post: StoredPost) -> Bool {
        marks[post.key] ?? until[post.source].map { post.firstSeen <= $0 } ?? false
    }
}

/// The posts that each user has read. Changes are on disk when a call returns.
///
/// Marks of deleted posts stay, so each user has at most ``maximumPosts`` marks, and the oldest are deleted.
package struct ReadMarks: Sendable {
    /// The maximum number of marks of single posts of one user.
    static let maximumPosts = 10_000
    /// The number of marks that one transaction stores, because other users wait for it.
    private static let marksAtOnce = 256

    private let databases: Databases

    package init(databases: Databases) { self.databases = databases }

    /// Marks stored posts as read or unread for a user, in several transactions if there are many.
    ///
    /// - Parameter posts: without duplicates.
    /// - Returns: the number of posts that changed.
    /// - Throws: `-32004` above the limit of all users, `-32005` if the disk accepts no writes.
    package func mark(uid: UInt32, _ posts: [StoredPost], isRead: Bool) async throws(ResponseError) -> Int {
        let read = try await stored(uid: uid)
        let changed = posts.filter { read.contains($0) != isRead }
        for part in changed.parts(of: ReadMarks.marksAtOnce) {
            try await change(uid: uid) { try ReadMarks.store(part, isRead: isRead, uid: uid, $0) }
        }
        return changed.count
    }

    /// Marks the counted posts as read for a user: in each source all posts that were first seen until the newest of
    /// them.
    ///
    /// - Throws: `-32004` above the limit of all users, `-32005` if the disk accepts no writes.
    package func markAll(uid: UInt32, _ unread: UnreadPosts) async throws(ResponseError) {
        try await change(uid: uid) { database in
            for (source, latest) in unread.latest {
                try database.execute(
                    """
                    INSERT INTO read_until (uid, source, until) VALUES (?, ?, ?)
                    ON CONFLICT (uid, source) DO UPDATE SET until = max(until, excluded.until)
                    """, [Int64(uid), source, latest])
                try database.execute("DELETE FROM read_marks WHERE uid = ? AND source = ?", [Int64(uid), source])
            }
        }
    }

    /// The posts that a user has read. Empty if the disk fails, so that posts are still shown.
    package func read(uid: UInt32) async -> ReadPosts { (try? await stored(uid: uid)) ?? ReadPosts() }

    private func stored(uid: UInt32) async throws(ResponseError) -> ReadPosts {
        try await databases.read(databases.state) { database in
            var posts = ReadPosts()
            let marks = try database.rows(
                "SELECT post, is_read FROM read_marks WHERE uid = ? AND source NOT GLOB '=*'", [Int64(uid)])
            while try marks.next() { posts.marks[try marks[0]] = try marks[1] }
            let rows = try database.rows("SELECT source, until FROM read_until WHERE uid = ?", [Int64(uid)])
            while try rows.next() { posts.until[try rows[0]] = try rows[1] }
            return posts
        }
    }

    private func change(
        uid: UInt32, _ body: @escaping @Sendable (Database) throws -> Void
    ) async throws(ResponseError) {
        try await databases.changeState { database in
            if try UserState.isFull(for: Int64(uid), database) { throw UserState.full }
            try body(database)
        }
    }

    /// Takes the place of the name in the marks of a removed source. No name of a source has the sign.
    static func removed(_ identity: String) -> String { "=\(identity)" }

    /// Moves all users' marks of one source to another one, whose marks are deleted.
    static func move(from old: String, to new: String, _ database: Database) throws {
        for table in ["read_until", "read_marks"] {
            try database.execute("DELETE FROM \(table) WHERE source = ?", [new])
            try database.execute("UPDATE \(table) SET source = ? WHERE source = ?", [new, old])
        }
    }

    /// Stores marks, and deletes the oldest marks above ``maximumPosts``.
    private static func store(_ posts: [StoredPost], isRead: Bool, uid: UInt32, _ database: Database) throws {
        let uid = Int64(uid)
        let last: Int64? = try database.value("SELECT max(number) FROM read_marks WHERE uid = ?", [uid])
        for (number, post) in zip((last ?? 0)..., posts) {
            try database.execute(
                "REPLACE INTO read_marks (uid, post, source, is_read, number) VALUES (?, ?, ?, ?, ?)",
                [uid, post.key, post.source, isRead, number + 1])
        }
        let total: Int = try database.value("SELECT count(*) FROM read_marks WHERE uid = ?", [uid]) ?? 0
        if total > maximumPosts {
            try database.execute(
                """
                DELETE FROM read_marks WHERE uid = ? AND post IN (
                    SELECT post FROM read_marks WHERE uid = ? ORDER BY number LIMIT ?
                )
                """, [uid, uid, total - maximumPosts])
        }
    }
}
