package import NorrisProtocol

/// The posts that one user has read: of each source all posts that were first seen until a time, except for the posts
/// with a separate mark.
package struct ReadPosts: Sendable {
    /// The user, whose rules hide posts.
    var uid: UInt32?
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
    /// The user ids of marks of all users: by the first fetch, and by the first fetch of an earlier source of the same
    /// identity.
    private static let (everyone, everyoneBefore) = (Int64(-1), Int64(-2))
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
        try await store(changed, isRead: isRead, uid: uid, canUndo: isRead, beginsUndo: isRead)
        return changed.count
    }

    private func store(
        _ posts: [StoredPost], isRead: Bool, uid: UInt32, canUndo: Bool, beginsUndo: Bool = false
    ) async throws(ResponseError) {
        for (number, part) in posts.parts(of: ReadMarks.marksAtOnce).enumerated() {
            try await change(uid: uid) { database in
                if beginsUndo, number == 0 { try ReadMarks.beginUndo(uid: uid, database) }
                try ReadMarks.store(part, isRead: isRead, uid: uid, canUndo: canUndo, database)
            }
        }
    }

    /// Restores what the user's last mark as read has changed.
    ///
    /// - Throws: `-32005` if the disk accepts no writes.
    package func undo(uid: UInt32) async throws(ResponseError) {
        try await databases.changeState { database in
            try database.execute(
                """
                REPLACE INTO read_until (uid, source, until)
                    SELECT uid, source, ifnull(value, 0) FROM read_undo WHERE uid = ? AND post IS NULL
                """, [Int64(uid)])
            // A post without a mark was unread.
            try database.execute(
                """
                REPLACE INTO read_marks (uid, post, source, is_read, number)
                    SELECT uid, post, source, ifnull(value, 0), rowid FROM read_undo
                    WHERE uid = ? AND post IS NOT NULL
                """, [Int64(uid)])
            try ReadMarks.beginUndo(uid: uid, database)
        }
    }

    /// Marks the counted posts as read for a user: in each source all posts that were first seen until the newest of
    /// them.
    ///
    /// - Throws: `-32004` above the limit of all users, `-32005` if the disk accepts no writes.
    package func markAll(uid: UInt32, _ unread: UnreadPosts) async throws(ResponseError) {
        try await change(uid: uid) { database in
            try ReadMarks.beginUndo(uid: uid, database)
            for (source, latest) in unread.latest {
                try database.execute(
                    """
                    INSERT INTO read_undo (uid, source, value)
                        VALUES (?1, ?2, (SELECT until FROM read_until WHERE uid = ?1 AND source = ?2))
                    """, [Int64(uid), source])
                try database.execute(
                    """
                    INSERT INTO read_until (uid, source, until) VALUES (?, ?, ?)
                    ON CONFLICT (uid, source) DO UPDATE SET until = max(until, excluded.until)
                    """, [Int64(uid), source, latest])
                if unread.exceptions != nil { continue }
                try database.execute(
                    """
                    INSERT INTO read_undo (uid, source, post, value)
                        SELECT uid, source, post, is_read FROM read_marks WHERE uid = ? AND source = ?
                    """, [Int64(uid), source])
                try database.execute("DELETE FROM read_marks WHERE uid = ? AND source = ?", [Int64(uid), source])
            }
        }
        for isRead in [true, false] {
            let posts = (unread.exceptions ?? []).filter { $0.isRead == isRead }.map(\.post)
            try await store(posts, isRead: isRead, uid: uid, canUndo: true)
        }
    }

    /// Forgets what the last mark has changed.
    private static func beginUndo(uid: UInt32, _ database: Database) throws {
        try database.execute("DELETE FROM read_undo WHERE uid = ?", [Int64(uid)])
    }

    /// Whether ``storeFirstDay(of:until:_:)`` was called for a source.
    static func hasFirstDay(_ source: String, _ database: Database) throws -> Bool {
        let sql = "SELECT EXISTS (SELECT 1 FROM read_until WHERE uid = ? AND source = ?)"
        return try database.value(sql, [everyone, source]) ?? false
    }

    /// Marks everything of a source that was first seen until a time as read for all users, including later ones.
    static func storeFirstDay(of source: String, until: Timestamp, _ database: Database) throws {
        try database.execute(
            """
            INSERT INTO read_until (uid, source, until)
                VALUES (?1, ?2, max(?3, ifnull((SELECT until FROM read_until WHERE uid = ?4 AND source = ?2), 0)))
            """, [everyone, source, until, everyoneBefore])
    }

    /// Lets the first fetch of a source that comes back count as its first one again.
    static func endFirstDay(of source: String, _ database: Database) throws {
        try database.execute(
            "UPDATE OR REPLACE read_until SET uid = ? WHERE uid = ? AND source = ?", [everyoneBefore, everyone, source])
    }

    /// The posts that a user has read. Empty if the disk fails, so that posts are still shown.
    package func read(uid: UInt32) async -> ReadPosts { (try? await stored(uid: uid)) ?? ReadPosts(uid: uid) }

    private func stored(uid: UInt32) async throws(ResponseError) -> ReadPosts {
        try await databases.read(databases.state) { database in
            var posts = ReadPosts(uid: uid)
            let marks = try database.rows(
                "SELECT post, is_read FROM read_marks WHERE uid = ? AND source NOT GLOB '=*'", [Int64(uid)])
            while try marks.next() { posts.marks[try marks[0]] = try marks[1] }
            let rows = try database.rows(
                "SELECT source, max(until) FROM read_until WHERE uid = ? OR uid < 0 GROUP BY source", [Int64(uid)])
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
        for table in ["read_until", "read_marks", "read_undo"] {
            try database.execute("DELETE FROM \(table) WHERE source = ?", [new])
            try database.execute("UPDATE \(table) SET source = ? WHERE source = ?", [new, old])
        }
    }

    /// Stores marks, and deletes the oldest marks above ``maximumPosts``.
    private static func store(
        _ posts: [StoredPost], isRead: Bool, uid: UInt32, canUndo: Bool, _ database: Database
    ) throws {
        let uid = Int64(uid)
        let last: Int64? = try database.value("SELECT max(number) FROM read_marks WHERE uid = ?", [uid])
        for (number, post) in zip((last ?? 0)..., posts) {
            if canUndo {
                try database.execute(
                    """
                    INSERT INTO read_undo (uid, source, post, value)
                        VALUES (?1, ?2, ?3, (SELECT is_read FROM read_marks WHERE uid = ?1 AND post = ?3))
                    """, [uid, post.source, post.key])
            }
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
