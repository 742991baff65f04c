import NorrisProtocol
import NorrisText

/// The selection of a list of posts.
package struct PostQuery: Sendable {
    /// The configured sources; posts of other sources are not shown.
    package var sources: [String]
    /// The only selected source; nil for all.
    package var source: String?
    /// An author's id, or a part of an author's handle or name in any case; nil for all.
    package var author: String?
    package var isUnreadOnly: Bool
    /// The words that a post must contain; nil for all posts.
    package var search: SearchWords?

    package init(
        sources: [String], source: String? = nil, author: String? = nil, isUnreadOnly: Bool = false,
        search: SearchWords? = nil
    ) {
        self.sources = sources
        self.source = source
        self.author = author
        self.isUnreadOnly = isUnreadOnly
        self.search = search
    }

    /// The condition on a row of `posts`.
    ///
    /// The plus signs prevent SQLite from finding rows by source or author and then sorting them, because the index
    /// `posts_by_time` has the order and all columns of the condition.
    private var condition: (sql: String, arguments: StatementArguments) {
        let sources = sources.filter { source?.hasSameBytes(as: $0) ?? true }
        var sql = "+posts.source IN (\(databaseQuestionMarks(count: sources.count)))"
        var arguments = StatementArguments(sources)
        if let author {
            // lower() changes only ASCII letters; other letters of a handle must be typed as they are.
            sql += """
                 AND +posts.author IN (
                    SELECT number FROM authors
                    WHERE id = ? OR instr(folded, ?) OR instr(lower(handle), ?) OR instr(handle, ?)
                )
                """
            let folded = caseFolded(author)
            arguments += [author, folded, folded, author]
        }
        return (sql, arguments)
    }

    func page(
        _ read: ReadPosts, key: UInt64, cursor: String?, limit: Int, _ database: Database
    ) throws -> Page<Post> {
        var (condition, arguments) = condition
        let table = try PostStore.tableKey(database)
        if isUnreadOnly {
            let isUnread = read.isAboveWatermarks(table: table)
            condition += " AND \(isUnread.sql)"
            arguments += isUnread.arguments
        }
        let matcher = try search.map { try PostMatcher($0, database) }
        // Of posts that are not shown, only the index is read, and the text in a search. CROSS JOIN keeps the order of
        // the tables (https://sqlite.org/lang_select.html).
        let query = PageQuery(
            columns: "sort_at, id, digest, posts.number, author" + (matcher == nil ? "" : ", post_texts.text"),
            matches: matcher == nil
                ? "posts WHERE \(condition)"
                : "posts CROSS JOIN post_texts ON post_texts.number = posts.number WHERE \(condition)",
            arguments: arguments, order: "sort_at DESC, id", after: "sort_at <= ? AND (sort_at < ? OR id > ?)",
            cursorValues: { [$0.number, $0.number, $0.text] }, isFiltered: isUnreadOnly || matcher != nil)
        // The sources are not a part, so that a reload invalidates no cursor.
        let list = ["posts", source ?? "", author ?? "", isUnreadOnly ? "unread" : ""] + (search?.words ?? [])
        return try query.page(
            of: list, key: key, cursor: cursor, limit: limit, database,
            where: { row in
                if isUnreadOnly, read.keys.contains(row[2]) { return false }
                guard let matcher else { return true }
                return row.withBytes(5) { matcher.matches($0, author: row[4]) }
            }
        ) { row in
            let sql = "SELECT \(PostQuery.columns) WHERE posts.number = ?"
            return try database.first(sql, [row[3] as SequenceNumber]) { post in
                (PostQuery.post(post, read: read, table: table), (post[0] as CheckedText).text.utf8.count)
            } ?? (nil, 0)
        }
    }

    /// The columns of a post with its author, for ``post(_:read:table:)``.
    static let columns = """
        posts.content, posts.digest, authors.id, authors.name, authors.handle, authors.avatar_url, authors.email,
        authors.digest, posts.source, posts.number
        FROM posts JOIN authors ON authors.number = posts.author
        """

    /// - Parameter row: has ``columns``.
    /// - Returns: nil for a row that cannot be read, which reduces the page by one post.
    static func post(_ row: Rows, read: ReadPosts, table: OpaqueInteger) -> Post? {
        guard var post = try? Post(json: JSON.parse((row[0] as CheckedText).text)) else { return nil }
        post.isRead = read.contains(MarkedPost(key: row[1], source: row[8], number: row[9], table: table))
        post.author = Post.Author(id: row[2], name: row[3], handle: row[4], avatarURL: row[5], email: row[6])
        if post.author.digest != row[7] { row.noteDamage("an author has another digest") }
        return post
    }
}
