import NorrisProtocol

/// Which posts a list is to show.
package struct PostQuery: Sendable {
    /// The sources that are configured; posts of others are not shown.
    package var sources: [String]
    /// Only posts of this one of them.
    package var source: String?
    /// Only posts of authors with this id, handle or name, byte for byte.
    package var author: String?
    package var isUnreadOnly: Bool

    package init(sources: [String], source: String? = nil, author: String? = nil, isUnreadOnly: Bool = false) {
        self.sources = sources
        self.source = source
        self.author = author
        self.isUnreadOnly = isUnreadOnly
    }

    /// What tells its cursors from those of other lists. The sources are not part: a reload costs nobody a page.
    var list: [String] {
        ["posts", source ?? "", author ?? "", isUnreadOnly ? "unread" : ""]
    }

    /// The condition on a row of `posts`.
    ///
    /// The plus signs keep SQLite from looking rows up by source or author and sorting them then: ``posts_by_time``
    /// has them in order, and all that is asked for here.
    private var condition: (sql: String, arguments: StatementArguments) {
        let sources = sources.filter { source?.hasSameBytes(as: $0) ?? true }
        var sql = "+posts.source IN (\(databaseQuestionMarks(count: sources.count)))"
        var arguments = StatementArguments(sources)
        if let author {
            sql += " AND +posts.author IN (SELECT number FROM authors WHERE id = ? OR handle = ? OR name = ?)"
            arguments += [author, author, author]
        }
        return (sql, arguments)
    }

    func page(
        _ read: ReadPosts, key: UInt64, cursor: String?, limit: Int, _ database: Database
    ) throws -> Page<Post> {
        let (condition, arguments) = condition
        // Only the index is read of posts that are not shown.
        let query = PageQuery(
            columns: "sort_at, id, digest, number", matches: "posts WHERE \(condition)", arguments: arguments,
            order: "sort_at DESC, id", after: "sort_at <= ? AND (sort_at < ? OR id > ?)",
            place: { [$0.number, $0.number, $0.text] },
            filter: isUnreadOnly
                ? PageQuery.Filter(column: "digest") { !read.contains(PostKey(digest: $0)) } : nil
        )
        let content = try database.cachedStatement(
            sql: """
                SELECT \(PostRecord.columns) FROM posts JOIN authors ON authors.number = posts.author
                WHERE posts.number = ?
                """
        )
        return try query.page(of: list, key: key, cursor: cursor, limit: limit, database) { row in
            guard let post = try Row.fetchOne(content, arguments: [row[3] as Int64]) else { return (nil, 0) }
            return (PostRecord.post(post, read: read), (post[0] as String).utf8.count)
        }
    }
}
