import GRDB
package import NorrisProtocol

/// What the methods `post.*` and `author.list` ask for. All throw `-32005` where the disk fails.
///
/// `sources` are the sources that are configured: nothing of any other is shown.
extension PostStore {
    /// A page of posts, newest first, then by id; without a freshness.
    ///
    /// - Throws: `-32602` for a cursor that is not of this list.
    package func list(
        _ query: PostQuery, read: ReadPosts, cursor: String?, limit: Int
    ) async throws(ResponseError) -> Page<Post> {
        let key = databases.cache.cursorKey
        let after = try cursor.map { text throws(ResponseError) in
            try SealedCursor(text, of: query.list, key: key)
        }
        let page = try await databases.readCache(logger) { database in
            try query.page(after: after, limit: limit, read: read, database)
        }
        return Page(items: page.posts, total: page.total, next: page.next?.sealed(for: query.list, key: key))
    }

    package func post(id: String, sources: [String], read: ReadPosts) async throws(ResponseError) -> Post? {
        try await databases.readCache(logger) { database in
            try Row.fetchOne(
                database,
                sql: """
                    SELECT \(PostRecord.columns) FROM posts JOIN authors ON authors.number = posts.author
                    WHERE posts.id = ? AND posts.source IN (\(databaseQuestionMarks(count: sources.count)))
                    """,
                arguments: [id] + StatementArguments(sources)
            ).flatMap { PostRecord.post($0, read: read) }
        }
    }

    /// The ids of all posts, in no order.
    package func ids(sources: [String]) async throws(ResponseError) -> [String] {
        try await databases.readCache(logger) { database in
            try String.fetchAll(
                database,
                sql: "SELECT id FROM posts WHERE source IN (\(databaseQuestionMarks(count: sources.count)))",
                arguments: StatementArguments(sources)
            )
        }
    }

    /// Those of the ids that are of stored posts.
    package func stored(_ ids: [String], sources: [String]) async throws(ResponseError) -> [String] {
        try await databases.readCache(logger) { database in
            let statement = try database.cachedStatement(sql: "SELECT source FROM posts WHERE id = ?")
            return try ids.filter { id in
                guard let source = try String.fetchOne(statement, arguments: [id]) else { return false }
                return sources.contains { $0.hasSameBytes(as: source) }
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
        let list = ["authors", source ?? ""]
        let after = try cursor.map { text throws(ResponseError) in try SealedCursor(text, of: list, key: key) }
        let shown = sources.filter { source?.hasSameBytes(as: $0) ?? true }
        let page = try await databases.readCache(logger) { database in
            try AuthorRecord.page(of: shown, after: after, limit: limit, database)
        }
        return Page(items: page.authors, total: page.total, next: page.next?.sealed(for: list, key: key))
    }
}
