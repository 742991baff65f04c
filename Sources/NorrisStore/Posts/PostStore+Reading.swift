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
        return try await databases.read(.posts, logger: logger) { database in
            try query.page(read, key: key, cursor: cursor, limit: limit, database)
        }
    }

    package func post(id: String, sources: [String], read: ReadPosts) async throws(ResponseError) -> Post? {
        try await databases.read(.posts, logger: logger) { database in
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
        try await databases.read(.posts, logger: logger) { database in
            try String.fetchAll(
                database,
                sql: "SELECT id FROM posts WHERE source IN (\(databaseQuestionMarks(count: sources.count)))",
                arguments: StatementArguments(sources)
            )
        }
    }

    /// Those of the ids that are of stored posts.
    package func stored(_ ids: [String], sources: [String]) async throws(ResponseError) -> [String] {
        try await databases.read(.posts, logger: logger) { database in
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
            place: { [$0.text, $0.number, $0.text, $0.number] }
        )
        return try await databases.read(.posts, logger: logger) { database in
            try query.page(of: ["authors", source ?? ""], key: key, cursor: cursor, limit: limit, database) { row in
                (AuthorList.Author(id: row[2], name: row[3], handle: row[4], avatarURL: row[5], postCount: row[6]), 0)
            }
        }
    }
}
