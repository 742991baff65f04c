package import NorrisProtocol
import Synchronization

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
package final class ReadMarks: Sendable {
    /// The maximum number of marks of single posts of one user.
    static let maximumPosts = 10_000
    /// The number of marks that one transaction stores, because other users wait for it.
    private static let marksAtOnce = 256
    private static let cachedUsers = 4

    /// The marks of some users.
    private struct Cache {
        var users: [UInt32: ReadPosts] = [:]
        /// Changes with each change of marks, so that a read that began before is not cached.
        var version = 0
        /// ``DatabaseFile/generation``.
        var generation = 0
    }

    private let databases: Databases
    private let cached = Mutex(Cache())

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

    /// Marks the counted posts as read for a user: in each source all posts that were first seen until the newest of them.
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
        let generation = databases.state.generation
        let (known, version) = cached.withLock { cache in
            if cache.generation != generation { cache = Cache(version: cache.version + 1, generation: generation) }
            return (cache.users[uid], cache.version)
        }
        if let known { return known }
        let posts = try await databases.read(databases.state) { database in
            var posts = ReadPosts()
            let marks = try database.rows("SELECT post, is_read FROM read_marks WHERE uid = ?", [Int64(uid)])
            while try marks.next() { posts.marks[try marks[0]] = try marks[1] }
            let rows = try database.rows("SELECT source, until FROM read_until WHERE uid = ?", [Int64(uid)])
            while try rows.next() { posts.until[try rows[0]] = try rows[1] }
            return posts
        }
        cached.withLock { cache in
            guard cache.version == version else { return }
            if cache.users.count >= ReadMarks.cachedUsers { cache.users = [:] }
            cache.users[uid] = posts
        }
        return posts
    }

    private func change(
        uid: UInt32, _ body: @escaping @Sendable (Database) throws -> Void
    ) async throws(ResponseError) {
        try await databases.changeState { [self] database in
            if try UserState.isFull(for: Int64(uid), database) { throw UserState.full }
            try body(database)
            database.afterCommit { [self] in
                cached.withLock { cache in
                    cache.version += 1
                    cache.users[uid] = nil
                }
            }
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

/// The limit of all users' data in `state.db` except favorites: recent searches, read marks, shuffles and the last items
/// served. User ids are unlimited in user namespaces, so limits of single users do not limit the file.
enum UserState {
    /// The limit in bytes, as estimated for the file.
    static let maximumBytes = 64 << 20

    static let full = ResponseError.busy(
        "The read marks, searches and shuffles of all users take \(maximumBytes >> 20) MiB, the limit.",
        hint: "Ask other users of this machine to clear theirs: norrisctl recent --clear")

    /// The tables with the estimated bytes of a row, including indexes and free space.
    private static let tables: [(name: String, bytes: String)] = [
        ("read_marks", "56"), ("read_until", "56"), ("shuffles", "96 + length(shuffle)"), ("served", "128"),
        ("recent_searches", "64 + length(searches)"),
    ]

    /// Whether a user without any data must not add some.
    static func isFull(for uid: Int64, _ database: Database) throws -> Bool {
        let own = tables.map { "EXISTS (SELECT 1 FROM \($0.name) WHERE uid = ?1)" }.joined(separator: " OR ")
        if try database.value("SELECT \(own)", [uid]) ?? false { return false }
        let all = tables.map { "(SELECT ifnull(sum(\($0.bytes)), 0) FROM \($0.name))" }.joined(separator: " + ")
        let bytes: Int64 = try database.value("SELECT \(all)") ?? 0
        return bytes > maximumBytes
    }
}
