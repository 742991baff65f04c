package import NorrisProtocol
import Synchronization

/// A post in `state.db`: a 64-bit hash of its id. Two posts have the same hash once in about 10^19 pairs; then both
/// count as read together.
struct PostKey: ColumnInteger, Hashable {
    static let columnRange: ClosedRange<Int64> = .min ... .max
    let columnValue: Int64

    init(columnValue: Int64) { self.columnValue = columnValue }
    init(id: String) { columnValue = SipHash.digest(id) }

    /// Selects the keys of a bound ``list(_:)``.
    static let listed = "SELECT value FROM json_each(?)"

    /// Keys as one value of a statement, because thousands of question marks would be another statement each time.
    static func list(_ keys: some Sequence<PostKey>) -> String {
        "[" + keys.map { String($0.columnValue) }.joined(separator: ",") + "]"
    }
}

/// Everything of a source up to a post number is read.
///
/// Post numbers are never reused while the table of posts exists. A watermark includes the random key of the table, so
/// that posts of a recreated cache are unread.
struct Watermark: Equatable {
    let table: OpaqueInteger
    let number: SequenceNumber
}

/// A stored post, for marks.
package struct MarkedPost: Sendable {
    let key: PostKey
    let source: String
    let number: SequenceNumber
    let table: OpaqueInteger
}

/// The posts that one user has read: a watermark of each source, single posts above it, and exceptions below it.
package struct ReadPosts: Sendable {
    var keys: Set<PostKey> = []
    /// The posts that were marked as unread below a watermark.
    var exceptions: Set<PostKey> = []
    var watermarks: [String: Watermark] = [:]

    package func contains(_ post: MarkedPost) -> Bool {
        keys.contains(post.key) || (isBelowWatermark(post) && !exceptions.contains(post.key))
    }

    func isBelowWatermark(_ post: MarkedPost) -> Bool {
        watermarks[post.source].map { $0.table == post.table && post.number <= $0.number } ?? false
    }

    /// The lowest watermark of some sources; nil if a source has no watermark.
    func lowestWatermark(of sources: [String], table: OpaqueInteger) -> SequenceNumber? {
        let numbers = sources.compactMap { watermarks[$0] }.filter { $0.table == table }.map(\.number)
        return numbers.count == sources.count ? numbers.min() : nil
    }

    /// The condition on a row of `posts` above the watermark of its source, or among the exceptions. Sources with one
    /// watermark are compared together, because `mark_read` with `all` gives all sources the same.
    func isAboveWatermarks(table: OpaqueInteger) -> (sql: String, arguments: StatementArguments) {
        let valid = watermarks.filter { $0.value.table == table }
        let groups = Dictionary(grouping: valid.keys) { valid[$0]?.number }
        var conditions: [String] = []
        var arguments: StatementArguments = []
        for (number, sources) in groups {
            let isOfGroup = "+posts.source IN (\(databaseQuestionMarks(count: sources.count)))"
            conditions.append("(posts.number > ? OR NOT \(isOfGroup))")
            arguments += [number] + (sources as StatementArguments)
        }
        if conditions.isEmpty { return ("TRUE", []) }
        let isAbove = conditions.joined(separator: " AND ")
        if exceptions.isEmpty { return (isAbove, arguments) }
        return ("(\(isAbove) OR posts.digest IN (\(PostKey.listed)))", arguments + [PostKey.list(exceptions)])
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
    private let databases: Databases
    /// The marks of some users. Only transactions on the state's only connection change it, so that it is never older
    /// than the database.
    private let cached = Mutex<[UInt32: ReadPosts]>([:])

    package init(databases: Databases) { self.databases = databases }

    /// Marks stored posts as read for a user, in several transactions if there are many.
    ///
    /// - Parameter posts: without duplicates.
    /// - Returns: the number of posts that were unread.
    /// - Throws: `-32004` above the limit of all users, `-32005` if the disk accepts no writes.
    package func mark(uid: UInt32, _ posts: [MarkedPost]) async throws(ResponseError) -> Int {
        let read = try await stored(uid: uid)
        let unread = posts.filter { !read.contains($0) }.map(\.key)
        var count = 0
        for part in unread.parts(of: ReadMarks.marksAtOnce) {
            count += try await change(uid: uid) { try ReadMarks.insert(part, isException: false, uid: uid, $0) }
        }
        return count
    }

    /// Marks stored posts as unread for a user, in several transactions if there are many.
    ///
    /// - Parameter posts: without duplicates.
    /// - Returns: the number of posts that were read.
    /// - Throws: `-32004` above the limit of all users, `-32005` if the disk accepts no writes.
    package func markUnread(uid: UInt32, _ posts: [MarkedPost]) async throws(ResponseError) -> Int {
        let read = try await stored(uid: uid)
        var count = 0
        for part in posts.filter(read.contains).parts(of: ReadMarks.marksAtOnce) {
            count += try await change(uid: uid) { database in
                // Without a watermark a post is unread without a row.
                let removed = try part.filter { !read.isBelowWatermark($0) }.reduce(0) { removed, post in
                    try database.execute(
                        "DELETE FROM read_marks WHERE uid = ? AND post = ? AND NOT is_exception",
                        [Int64(uid), post.key])
                    return removed + database.changesCount
                }
                let exceptions = part.filter(read.isBelowWatermark).map(\.key)
                return try removed + ReadMarks.insert(exceptions, isException: true, uid: uid, database)
            }
        }
        return count
    }

    /// Marks all posts of some sources as read for a user, up to a post number.
    ///
    /// - Parameter isEverySource: whether the sources are all sources, so that no mark of a single post is needed.
    /// - Throws: `-32004` above the limit of all users, `-32005` if the disk accepts no writes.
    package func markAll(uid: UInt32, _ unread: UnreadPosts, isEverySource: Bool = true) async throws(ResponseError) {
        try await change(uid: uid) { database in
            let watermark = unread.watermark
            for source in unread.sources {
                try database.execute(
                    """
                    INSERT INTO read_watermarks (uid, source, posts, number) VALUES (?, ?, ?, ?)
                    ON CONFLICT (uid, source) DO UPDATE SET posts = excluded.posts, number = excluded.number
                        WHERE posts <> excluded.posts OR number < excluded.number
                    """, [Int64(uid), source, watermark.table, watermark.number])
            }
            try database.execute(
                "DELETE FROM read_marks WHERE uid = ? AND is_exception AND post IN (\(PostKey.listed))",
                [Int64(uid), PostKey.list(unread.exceptions)])
            // The watermarks replace the marks.
            if try isEverySource && UserState.isOverLimit(database) {
                try database.execute("DELETE FROM read_marks WHERE uid = ?", [Int64(uid)])
            }
        }
    }

    /// The posts that a user has read. Empty if the disk fails, so that posts are still shown.
    package func read(uid: UInt32) async -> ReadPosts { (try? await stored(uid: uid)) ?? ReadPosts() }

    private func stored(uid: UInt32) async throws(ResponseError) -> ReadPosts {
        if let posts = cached.withLock({ $0[uid] }) { return posts }
        return try await databases.read(.state) { [self] database in
            var posts = ReadPosts()
            let marks = try database.rows("SELECT post, is_exception FROM read_marks WHERE uid = ?", [Int64(uid)])
            while try marks.next() {
                if marks[1] as Bool { posts.exceptions.insert(marks[0]) } else { posts.keys.insert(marks[0]) }
            }
            let rows = try database.rows(
                "SELECT source, posts, number FROM read_watermarks WHERE uid = ?", [Int64(uid)])
            while try rows.next() { posts.watermarks[rows[0]] = Watermark(table: rows[1], number: rows[2]) }
            database.afterCommit { [self] in
                cached.withLock { cached in
                    if cached.count >= ReadMarks.cachedUsers { cached = [:] }
                    cached[uid] = posts
                }
            }
            return posts
        }
    }

    private func change<Value: Sendable>(
        uid: UInt32, _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(ResponseError) -> Value {
        try await databases.changeState { [self] database in
            cached.withLock { $0[uid] = nil }
            guard let value = try UserState.change(uid: Int64(uid), database, body) else { throw UserState.isFull }
            return value
        }
    }

    /// Stores marks. Deletes the oldest marks above ``maximumPosts``, and above the limit of all users as many as are
    /// new.
    ///
    /// - Parameter isException: whether the posts are unread below a watermark.
    /// - Returns: the number of new or changed marks.
    private static func insert(
        _ posts: [PostKey], isException: Bool, uid: UInt32, _ database: Database
    ) throws -> Int {
        let (count, last) =
            try database.first(
                "SELECT count(*), ifnull(max(number), 0) FROM read_marks WHERE uid = ?", [Int64(uid)]
            ) { ($0[0] as Int, $0[1] as SequenceNumber) } ?? (0, SequenceNumber(columnValue: 0))
        var changed = 0
        for post in posts {
            try database.execute(
                """
                INSERT INTO read_marks (uid, post, number, is_exception) VALUES (?, ?, ?, ?)
                ON CONFLICT (uid, post) DO UPDATE SET number = excluded.number, is_exception = excluded.is_exception
                    WHERE is_exception <> excluded.is_exception
                """, [Int64(uid), post, last.advanced(by: changed + 1), isException])
            changed += database.changesCount
        }
        let kept = try count > 0 && UserState.isOverLimit(database) ? count : maximumPosts
        let total = try Int.fetchOne(database, "SELECT count(*) FROM read_marks WHERE uid = ?", [Int64(uid)]) ?? 0
        if total > kept {
            try database.execute(
                """
                DELETE FROM read_marks WHERE uid = ? AND post IN (
                    SELECT post FROM read_marks WHERE uid = ? ORDER BY number LIMIT ?
                )
                """, [Int64(uid), Int64(uid), total - kept])
        }
        return changed
    }
}
