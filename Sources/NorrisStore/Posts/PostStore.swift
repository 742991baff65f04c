package import NorrisProtocol
import NorrisText
import Synchronization

/// The posts of all sources, in `cache.db`.
///
/// Changes block, maybe for seconds. A change that throws has changed nothing.
package final class PostStore: Sendable {
    let databases: Databases
    private let numbers = Mutex<[String: Int]>([:])

    package init(databases: Databases) {
        self.databases = databases
        reload()
    }

    /// How many posts each source has, those that are no longer configured included; never waits for the disk.
    package var counts: [String: Int] { numbers.withLock { $0 } }

    /// How many posts a source has; never waits for the disk.
    package func count(source: String) -> Int { numbers.withLock { $0[source] ?? 0 } }

    /// Counts again, for a cache that was recreated.
    package func reload() {
        guard let counts = try? databases.read(.posts, PostStore.counts) else { return }
        numbers.withLock { $0 = counts }
    }

    private static func counts(_ database: Database) throws -> [String: Int] {
        var counts: [String: Int] = [:]
        let rows = try database.rows("SELECT source, count(*) FROM posts GROUP BY source")
        while try rows.next() { counts[rows[0]] = rows[1] }
        return counts
    }

    /// Runs a change in one transaction.
    private func change<Result: Sendable>(_ body: (Database) throws -> Result) throws(StoreError) -> Result {
        try databases.write(.posts) { database in
            let result = try body(database)
            let counts = try PostStore.counts(database)
            // After the commit, and in the order of the changes.
            database.afterCommit { [self] in numbers.withLock { $0 = counts } }
            return result
        }
    }

    // MARK: Fetches

    /// Stores what a fetch brought; other posts of the source stay until they expire.
    ///
    /// - Parameters:
    ///   - authors: those that the source lists besides or instead of posts.
    ///   - isComplete: false where the absence of a post proves nothing: then this fetch counts as the last that held
    ///     it, and the next as one that does not.
    ///   - keep: how long a post stays after the last fetch that held it; nil for any time.
    ///   - fetch: is stored together with them.
    ///   - isCancelled: checked now and then until all is stored.
    @discardableResult
    package func replace(
        source: String, posts: [Post], authors: [Post.Author] = [], isComplete: Bool, keep: Duration?,
        fetch: FetchRecord, at now: Timestamp = .now(), isCancelled: @escaping () -> Bool = { Task.isCancelled }
    ) throws(StoreError) -> PostChanges {
        try change { database in
            var run = PostImport(source: source, at: now, isCancelled: isCancelled, database)
            try run.take(posts, authors: authors)
            let last = isComplete ? try PostStore.lastFetch(of: source, database) : nil
            try run.leaveOthers(last: last ?? now, isComplete: isComplete)
            try run.removeExpired(keep: keep)
            try fetch.write(for: source, database)
            return run.changes
        }
    }

    /// Notes a reply without news, and removes expired posts.
    ///
    /// - Parameter keep: how long a post stays after the last fetch that held it; nil for any time.
    /// - Returns: nil where there is no record of a fetch any more: the content that the reply is about was removed.
    package func confirm(
        source: String, keep: Duration?, fetch: FetchRecord, at now: Timestamp = .now()
    ) -> PostChanges? {
        do {
            return try change { database -> PostChanges? in
                guard try PostStore.lastFetch(of: source, database) != nil else { return nil }
                var run = PostImport(source: source, at: now, isCancelled: { false }, database)
                try run.removeExpired(keep: keep)
                try fetch.write(for: source, database)
                return run.changes
            }
        } catch {
            // Noted. The content is there, or each failure would cost a fetch.
            return PostChanges(total: count(source: source))
        }
    }

    /// Removes all posts of a source, and the record of their fetch. Read marks stay with the state.
    @discardableResult
    package func clear(source: String) throws(StoreError) -> Int {
        try change { try PostStore.remove(source, $0).count }
    }

    /// Removes the posts of sources that are not configured any more.
    ///
    /// - Parameter before: a source that was fetched at this time or later keeps its posts for now.
    @discardableResult
    package func purgeSources(keeping names: [String], before: Timestamp) throws(StoreError) -> [String] {
        try change { database in
            // Every post has an author of its source.
            let sources = try String.fetchAll(database, "SELECT DISTINCT source FROM authors")
            return try sources.flatMap { source -> [String] in
                if names.contains(where: { $0.hasSameBytes(as: source) }) { return [] }
                if let last = try PostStore.lastFetch(of: source, database), last >= before { return [] }
                return try PostStore.remove(source, database)
            }
        }
    }

    private static func remove(_ source: String, _ database: Database) throws -> [String] {
        let ids = try String.fetchAll(database, "DELETE FROM posts WHERE source = ? RETURNING id", [source])
        try database.execute("DELETE FROM authors WHERE source = ?", [source])
        try FetchRecord.remove(source, database)
        return ids
    }

    private static func lastFetch(of source: String, _ database: Database) throws -> Timestamp? {
        try Timestamp.fetchOne(database, "SELECT fetched_at FROM fetches WHERE source = ?", [source])
    }

    // MARK: Reading. All throw `-32005` where the disk fails; `sources` are the configured ones, and only their posts
    // are read.

    /// A page of posts, newest first, then by id; without a freshness.
    ///
    /// - Throws: `-32602` for a cursor that is not of this list.
    package func list(
        _ query: PostQuery, read: ReadPosts, cursor: String?, limit: Int
    ) async throws(ResponseError) -> Page<Post> {
        let key = databases.cache.cursorKey
        return try await databases.read(.posts) { database in
            try query.page(read, key: key, cursor: cursor, limit: limit, database)
        }
    }

    package func post(id: String, sources: [String], read: ReadPosts) async throws(ResponseError) -> Post? {
        try await databases.read(.posts) { database in
            let marks = databaseQuestionMarks(count: sources.count)
            return try database.first(
                "SELECT \(PostQuery.columns) WHERE posts.id = ? AND posts.source IN (\(marks))",
                [id] + StatementArguments(sources)
            ) { PostQuery.post($0, read: read) } ?? nil
        }
    }

    /// The ids of all posts, in no order.
    package func ids(sources: [String]) async throws(ResponseError) -> [String] {
        try await databases.read(.posts) { database in
            let marks = databaseQuestionMarks(count: sources.count)
            let sql = "SELECT id FROM posts WHERE source IN (\(marks))"
            return try String.fetchAll(database, sql, StatementArguments(sources))
        }
    }

    /// Those of the ids that are of stored posts.
    package func stored(_ ids: [String], sources: [String]) async throws(ResponseError) -> [String] {
        try await databases.read(.posts) { database in
            try ids.filter { id in
                let source = try String.fetchOne(database, "SELECT source FROM posts WHERE id = ?", [id])
                return sources.contains { source?.hasSameBytes(as: $0) ?? false }
            }
        }
    }

    /// A page of authors by their names, without regard to case, then by id; without a freshness.
    ///
    /// - Throws: `-32602` for a cursor that is not of this list.
    package func authors(
        source: String? = nil, sources: [String], cursor: String?, limit: Int
    ) async throws(ResponseError) -> Page<AuthorList.Author> {
        let key = databases.cache.cursorKey
        let shown = sources.filter { source?.hasSameBytes(as: $0) ?? true }
        let query = PageQuery(
            // The cursor holds both texts in one, with the length of the first in code points.
            columns: """
                length(folded), folded || id, id, name, handle, avatar_url,
                (SELECT count(*) FROM posts WHERE posts.author = authors.number)
                """,
            matches: "authors WHERE +source IN (\(databaseQuestionMarks(count: shown.count)))",
            arguments: StatementArguments(shown), order: "folded, id",
            after: "(folded, id) > (substr(?, 1, ?), substr(?, ? + 1))",
            cursorValues: { [$0.text, $0.number, $0.text, $0.number] }
        )
        return try await databases.read(.posts) { database in
            try query.page(of: ["authors", source ?? ""], key: key, cursor: cursor, limit: limit, database) { row in
                (AuthorList.Author(id: row[2], name: row[3], handle: row[4], avatarURL: row[5], postCount: row[6]), 0)
            }
        }
    }
}
