package import NorrisProtocol
package import NorrisThreads
import NorrisText
import Synchronization

/// The posts of all sources, in `cache.db-posts`. A change that throws has no effect.
package final class PostStore: Sendable {
    let databases: Databases
    private let numbers = Mutex<[String: Int]>([:])

    package init(databases: Databases, _ access: BlockingAccess) {
        self.databases = databases
        reload(access)
    }

    /// The number of posts of each source, including sources that are no longer configured. From memory.
    package var counts: [String: Int] { numbers.withLock { $0 } }

    /// The number of posts of a source. From memory.
    package func count(source: String) -> Int { numbers.withLock { $0[source] ?? 0 } }

    /// Counts again after the cache was recreated.
    package func reload(_ access: BlockingAccess) {
        guard let counts = try? databases.read(.posts, access, PostStore.counts) else { return }
        numbers.withLock { $0 = counts }
    }

    private static func counts(_ database: Database) throws -> [String: Int] {
        // A damaged number would prevent storing posts (AUTOINCREMENT).
        _ = try SequenceNumber.fetchOne(database, "SELECT ifnull(max(number), 0) FROM posts")
        var counts: [String: Int] = [:]
        let rows = try database.rows("SELECT source, count(*) FROM posts GROUP BY source")
        while try rows.next() { counts[rows[0]] = rows[1] }
        return counts
    }

    /// Runs a change in one transaction.
    private func change<Result: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Result
    ) async throws(StoreError) -> Result {
        try await databases.write(.posts) { [self] database in
            let result = try body(database)
            let counts = try PostStore.counts(database)
            // After the commit, in the order of the changes.
            database.afterCommit { [self] in numbers.withLock { $0 = counts } }
            return result
        }
    }

    // MARK: Fetches

    /// Stores the posts of a fetch; other posts of the source stay until they expire.
    ///
    /// - Parameters:
    ///   - authors: authors that the source lists in addition to posts, or instead.
    ///   - isComplete: false if a missing post is no reason to expire it: then this fetch counts as the last that
    ///     contained the post.
    ///   - keep: the time that a post stays after the last fetch that contained it; nil for no limit.
    ///   - fetch: the record, stored in the same transaction.
    @discardableResult package func replace(
        source: String, posts: [Post], authors: [Post.Author] = [], isComplete: Bool, keep: Duration?,
        fetch: FetchRecord, at now: Timestamp = .now()
    ) async throws(StoreError) -> PostChanges {
        try await change { database in
            var run = PostImport(source: source, at: now, database)
            try run.take(posts, authors: authors)
            let last = isComplete ? try PostStore.lastFetch(of: source, database) : nil
            try run.leaveOthers(last: last ?? now, isComplete: isComplete)
            try run.removeExpired(keep: keep)
            try fetch.write(for: source, database)
            return run.result
        }
    }

    /// Records a reply without changes, and removes expired posts.
    ///
    /// - Parameter keep: the time that a post stays after the last fetch that contained it; nil for no limit.
    /// - Returns: nil if the record of the fetch no longer exists, because its content was removed.
    package func confirm(
        source: String, keep: Duration?, fetch: FetchRecord, at now: Timestamp = .now()
    ) async -> PostChanges? {
        do {
            return try await change { database -> PostChanges? in
                guard try PostStore.lastFetch(of: source, database) != nil else { return nil }
                var run = PostImport(source: source, at: now, database)
                try run.removeExpired(keep: keep)
                try fetch.write(for: source, database)
                return run.result
            }
        } catch {
            // The failure was recorded. The content exists, so the source is not fetched again.
            return PostChanges(total: count(source: source))
        }
    }

    /// Removes all posts of a source and the record of their fetch. Read marks stay in the state.
    @discardableResult package func clear(source: String) async throws(StoreError) -> Int {
        try await change { try PostStore.remove(source, $0) }
    }

    /// Removes the posts of sources that are no longer configured.
    ///
    /// - Parameter before: a source that was fetched at this time or later keeps its posts.
    @discardableResult
    package func purgeSources(keeping names: [String], before: Timestamp) async throws(StoreError) -> Int {
        try await change { database in
            var removed = 0
            // Every post has an author of its source.
            let sources = try String.fetchAll(database, "SELECT DISTINCT source FROM authors")
            for source in sources where !names.contains(where: { $0.hasSameBytes(as: source) }) {
                if let last = try PostStore.lastFetch(of: source, database), last >= before { continue }
                removed += try PostStore.remove(source, database)
            }
            return removed
        }
    }

    private static func remove(_ source: String, _ database: Database) throws -> Int {
        try database.execute("DELETE FROM posts WHERE source = ?", [source])
        let removed = database.changesCount
        try database.execute("DELETE FROM authors WHERE source = ?", [source])
        try FetchRecord.remove(source, database)
        return removed
    }

    private static func lastFetch(of source: String, _ database: Database) throws -> Timestamp? {
        try Timestamp.fetchOne(database, "SELECT fetched_at FROM fetches WHERE source = ?", [source])
    }

    // MARK: Reading. All throw `-32005` where the disk fails; `sources` are the configured ones, and only their posts
    // are read.

    /// A page of posts, newest first, then by id; without a freshness.
    ///
    /// - Throws: `-32602` for a cursor of another list, `-32004` for a search that takes longer than a second.
    package func list(
        _ query: PostQuery, read: ReadPosts, cursor: String?, limit: Int
    ) async throws(ResponseError) -> Page<Post> {
        let key = databases.cache(.posts).cursorKey
        let timeLimit = query.search == nil ? nil : databases.searchLimit
        return try await databases.read(.posts, within: timeLimit) { database in
            try query.page(read, key: key, cursor: cursor, limit: limit, database)
        }
    }

    package func post(id: String, sources: [String], read: ReadPosts) async throws(ResponseError) -> Post? {
        try await databases.read(.posts) { database in
            let marks = databaseQuestionMarks(count: sources.count)
            let table = try PostStore.tableKey(database)
            return try database.first(
                "SELECT \(PostQuery.columns) WHERE posts.id = ? AND posts.source IN (\(marks))",
                [id] + StatementArguments(sources)
            ) { PostQuery.post($0, read: read, table: table) } ?? nil
        }
    }

    /// The random key of the table of posts, which differs in a recreated cache.
    static func tableKey(_ database: Database) throws -> OpaqueInteger {
        // The migration that created the table has stored a key.
        try OpaqueInteger.fetchOne(database, "SELECT key FROM posts_key") ?? OpaqueInteger(columnValue: 0)
    }

    /// The unread posts of some sources, and the watermark that marks all their posts as read.
    package func unread(sources: [String], read: ReadPosts) async throws(ResponseError) -> UnreadPosts {
        try await databases.read(.posts) { database in
            let table = try PostStore.tableKey(database)
            let last = try SequenceNumber.fetchOne(database, "SELECT number FROM posts ORDER BY number DESC LIMIT 1")
            let isUnread = read.isAboveWatermarks(table: table)
            var condition = "+source IN (\(databaseQuestionMarks(count: sources.count))) AND \(isUnread.sql)"
            var arguments = StatementArguments(sources) + isUnread.arguments
            if read.exceptions.isEmpty, let lowest = read.lowestWatermark(of: sources, table: table) {
                // Only new posts are read.
                condition += " AND number > ?"
                arguments.append(lowest)
            }
            let rows = try database.rows("SELECT digest, source FROM posts WHERE \(condition)", arguments)
            var counts: [String: Int] = [:]
            var exceptions: [PostKey] = []
            while try rows.next() {
                let key: PostKey = rows[0]
                guard !read.keys.contains(key) else { continue }
                counts[rows[1], default: 0] += 1
                if read.exceptions.contains(key) { exceptions.append(key) }
            }
            let watermark = Watermark(table: table, number: last ?? SequenceNumber())
            return UnreadPosts(sources: sources, counts: counts, exceptions: exceptions, watermark: watermark)
        }
    }

    /// The stored posts with some ids, without duplicates.
    ///
    /// - Throws: `-32001` for an id without a post.
    package func stored(_ ids: [String], sources: [String]) async throws(ResponseError) -> [MarkedPost] {
        try await databases.read(.posts) { database in
            let table = try PostStore.tableKey(database)
            var seen: Set<PostKey> = []
            return try ids.compactMap { id -> MarkedPost? in
                guard seen.insert(PostKey(id: id)).inserted else { return nil }
                let post = try PostStore.marked(id, table, database)
                guard let post, sources.contains(where: { $0.hasSameBytes(as: post.source) }) else {
                    throw ResponseError.notFound("There is no post with the id \(id.quotedForMessage).")
                }
                return post
            }
        }
    }

    /// Whether a user has read each of some posts, stored or not; all false if the disk cannot be read.
    package func isRead(_ ids: [String], _ read: ReadPosts) async -> [Bool] {
        let isRead = try? await databases.read(.posts) { database in
            let table = try PostStore.tableKey(database)
            return try ids.map { id in
                try PostStore.marked(id, table, database).map(read.contains) ?? read.keys.contains(PostKey(id: id))
            }
        }
        return isRead ?? ids.map { read.keys.contains(PostKey(id: $0)) }
    }

    private static func marked(_ id: String, _ table: OpaqueInteger, _ database: Database) throws -> MarkedPost? {
        try database.first("SELECT digest, source, number FROM posts WHERE id = ?", [id]) {
            MarkedPost(key: $0[0], source: $0[1], number: $0[2], table: table)
        }
    }

    /// A page of authors by name, ignoring case, then by id; without a freshness.
    ///
    /// - Throws: `-32602` for a cursor of another list.
    package func authors(
        source: String? = nil, sources: [String], cursor: String?, limit: Int
    ) async throws(ResponseError) -> Page<AuthorList.Author> {
        let key = databases.cache(.posts).cursorKey
        let shown = sources.filter { source?.hasSameBytes(as: $0) ?? true }
        let query = PageQuery(
            // The cursor contains both texts in one, with the length of the first in code points.
            columns: """
                length(folded), folded || id, id, name, handle, avatar_url,
                (SELECT count(*) FROM posts WHERE posts.author = authors.number), email, digest
                """, matches: "authors WHERE +source IN (\(databaseQuestionMarks(count: shown.count)))",
            arguments: StatementArguments(shown), order: "folded, id",
            after: "(folded, id) > (substr(?, 1, ?), substr(?, ? + 1))",
            cursorValues: { [$0.text, $0.number, $0.text, $0.number] })
        return try await databases.read(.posts) { database in
            try query.page(of: ["authors", source ?? ""], key: key, cursor: cursor, limit: limit, database) { row in
                let author = Post.Author(id: row[2], name: row[3], handle: row[4], avatarURL: row[5], email: row[7])
                if author.digest != row[8] { row.noteDamage("an author has another digest") }
                return (
                    AuthorList.Author(
                        id: author.id, name: author.name, handle: author.handle, avatarURL: author.avatarURL,
                        postCount: row[6]), 0
                )
            }
        }
    }
}

/// The unread posts of some sources.
package struct UnreadPosts: Sendable {
    let sources: [String]
    /// The number of unread posts by source, for sources with unread posts.
    package let counts: [String: Int]
    /// The posts that were marked as unread below a watermark.
    let exceptions: [PostKey]
    let watermark: Watermark

    package var count: Int { counts.values.reduce(0, +) }
}
