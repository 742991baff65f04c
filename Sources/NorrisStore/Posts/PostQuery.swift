import GRDB
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
        after cursor: SealedCursor?, limit: Int, read: ReadPosts, _ database: Database
    ) throws -> (posts: [Post], total: Int?, next: SealedCursor?) {
        let numbers = try numbers(after: cursor, limit: limit + 1, read: read, database)
        let rows = try numbers.prefix(limit).compactMap { number in
            try Row.fetchOne(
                database.cachedStatement(
                    sql: """
                        SELECT \(PostRecord.columns), posts.sort_at, posts.id
                        FROM posts JOIN authors ON authors.number = posts.author WHERE posts.number = ?
                        """
                ),
                arguments: [number]
            )
        }
        let page = rows.page(limit: limit) { ($0[0] as String).utf8.count }
        return (
            page.compactMap { PostRecord.post($0, read: read) },
            try total(read: read, database),
            numbers.count > page.count ? page.last.map { SealedCursor(number: $0["sort_at"], text: $0[8]) } : nil
        )
    }

    /// The numbers of the first posts after a place.
    private func numbers(
        after cursor: SealedCursor?, limit: Int, read: ReadPosts, _ database: Database
    ) throws -> [Int64] {
        var (sql, arguments) = condition
        if let cursor {
            sql += " AND sort_at <= ? AND (sort_at < ? OR id > ?)"
            arguments += [cursor.number, cursor.number, cursor.text]
        }
        let rows = try Row.fetchCursor(
            database,
            sql: "SELECT number, digest FROM posts WHERE \(sql) ORDER BY sort_at DESC, id",
            arguments: arguments
        )
        var numbers: [Int64] = []
        while numbers.count < limit, let row = try rows.next() {
            if shows(PostKey(digest: row[1]), read) { numbers.append(row[0]) }
        }
        return numbers
    }

    /// How many posts the list has; nil above ``countedMatches``.
    private func total(read: ReadPosts, _ database: Database) throws -> Int? {
        let (sql, arguments) = condition
        let rows = try Row.fetchCursor(database, sql: "SELECT digest FROM posts WHERE \(sql)", arguments: arguments)
        var total = 0
        while total <= countedMatches, let row = try rows.next() {
            if shows(PostKey(digest: row[0]), read) { total += 1 }
        }
        return total <= countedMatches ? total : nil
    }

    private func shows(_ post: PostKey, _ read: ReadPosts) -> Bool {
        !isUnreadOnly || !read.contains(post)
    }
}
