package import NorrisFetchProtocol
package import NorrisProtocol
import NorrisText

/// The effect of a fetch on the posts of its source.
package struct PostChanges: Sendable, Equatable {
    package var added = 0
    /// The newest of the new posts, newest first, at most ``Event/Items/maximumNew``.
    package var newest: [Event.NewItem] = []
    /// The number of known posts with new content.
    package var changed = 0
    /// The number of expired posts.
    package var removed = 0
    /// The number of stored posts of the source.
    package var total = 0
    /// The ids of the new posts that are hidden from users.
    package var hidden: [UInt32: Set<String>] = [:]
    /// New posts that are not stored yet, because their articles are fetched first.
    package var waiting: [WaitingPost] = []
}

/// A new post that is stored when its article was fetched, or could not be.
package struct WaitingPost: Sendable, Equatable {
    package let item: FetchedPost
    fileprivate let position: Int
    fileprivate let firstSeen: Timestamp
}

/// Stores the posts of a fetch, in several transactions.
///
/// A stored post that the fetch does not contain stays until it expires, because most sources contain only their latest
/// posts.
struct PostImport: Sendable {
    /// The maximum number of posts of a source, in addition to the posts of the last fetch.
    static let maximumPosts = 100_000
    /// The number of rows that one transaction removes.
    static let rowsAtOnce = 1_000

    let source: String
    private let now: Timestamp
    /// The times until which users have read all posts of the source; nil if no user has.
    private let until: ClosedRange<Timestamp>?
    /// Whether no import of the source was stored completely, or none of its posts is left.
    private(set) var isFirst = false
    /// The time until which the older posts of the first fetch were seen, and the ids of the others.
    private var division: (until: Timestamp, newest: Set<String>)?
    private(set) var changes = PostChanges()
    /// The rules that hide posts, as they are in this transaction.
    var rules: [MuteRule] = []
    /// The number of posts that may wait for their articles, those of earlier fetches included.
    var articleLimit = 0
    /// The ids of the posts that wait since an earlier fetch.
    var waiting: Set<String> = []
    private var hasArticles = false
    /// The numbers of the posts, and the ids of the authors, in the fetch.
    private var heldPosts: Set<Int64> = []
    private var heldAuthors: Set<String> = []
    private var sortTimes: [Timestamp] = []

    init(source: String, at now: Timestamp, until: ClosedRange<Timestamp>? = nil) {
        (self.source, self.now, self.until) = (source, now, until)
    }

    /// Begins with the authors that the source lists in addition to posts, in the first transaction.
    mutating func begin(_ authors: [Post.Author], _ database: Database) throws {
        let sql = """
            SELECT NOT EXISTS (SELECT 1 FROM fetches WHERE source = ?1)
                OR NOT EXISTS (SELECT 1 FROM posts WHERE source = ?1)
            """
        isFirst = try database.value(sql, [source]) ?? true
        let articles = """
            SELECT EXISTS (SELECT 1 FROM articles WHERE number IN (SELECT number FROM posts WHERE source = ?))
            """
        hasArticles = try database.value(articles, [source]) ?? false
        for author in authors { try take(author, database) }
    }

    /// Stores a post. Of several posts with one id the first counts.
    mutating func take(
        _ item: FetchedPost, _ position: Int, firstSeen: Timestamp? = nil, _ database: Database
    ) throws {
        var post = item.post
        if hasArticles, let article = try article(of: post, database) { post.take(article) }
        try take(post.author, database)
        let content = content(post)
        let known = try database.first(
            "SELECT number, first_seen, held_at IS NULL AND item IS ?, post = ?, sort_at FROM posts WHERE id = ?",
            [item.itemColumn, content, post.id]
        ) { row in
            (
                number: try row[0] as Int64, firstSeen: try row[1] as Timestamp, wasHeld: try row[2] as Bool,
                isSame: try row[3] as Bool, sortAt: try row[4] as Timestamp
            )
        }
        guard let known else {
            let seen = firstSeen ?? self.firstSeen(post)
            if waiting.contains(post.id) { return }
            if waiting.count < articleLimit, post.url.map(isWebAddress) ?? false {
                waiting.insert(post.id)
                changes.waiting.append(WaitingPost(item: item, position: position, firstSeen: seen))
                return
            }
            let sortAt = sortAt(post, firstSeen: seen)
            try database.execute(
                """
                INSERT INTO posts
                    (id, digest, source, author, arrived_at, post, first_seen, sort_at, position, item, page)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
                [
                    post.id, StoredPost.key(post.id), source, post.author.id, now, content, seen, sortAt, position,
                    item.itemColumn, item.pageColumn,
                ])
            let number = database.lastInsertedNumber
            for uid in try storeText(of: post, number, isNew: true, database) {
                changes.hidden[uid, default: []].insert(post.id)
            }
            heldPosts.insert(number)
            changes.added += 1
            noteNew(post, sortAt)
            return
        }
        guard heldPosts.insert(known.number).inserted else { return }
        let sortAt = sortAt(post, firstSeen: known.firstSeen)
        // A clock that is set back must not reorder posts.
        if known.wasHeld && known.isSame && (known.sortAt == sortAt || sortAt != post.publishedAt) { return }
        try database.execute(
            "UPDATE posts SET post = ?, author = ?, sort_at = ?, held_at = NULL, item = ?, page = ? WHERE number = ?",
            [content, post.author.id, sortAt, item.itemColumn, item.pageColumn, known.number])
        if !known.isSame {
            _ = try storeText(of: post, known.number, isNew: false, database)
            changes.changed += 1
        }
    }

    /// The text of a post's page; nil for a post without one, or with another address since.
    private func article(of post: Post, _ database: Database) throws -> Post? {
        let sql = "SELECT articles.page, articles.post FROM posts JOIN articles USING (number) WHERE id = ?"
        let stored = try database.first(sql, [post.id]) { (page: try $0[0] as UInt64, post: try $0.content(1) as Post) }
        return stored.flatMap { $0.page == PostImport.page(of: post) ? $0.post : nil }
    }

    private static func page(of post: Post) -> UInt64 { SipHash.hash(post.url ?? "") }

    /// Stores the text of a stored post's page, which the post keeps as long as its address.
    func keep(_ article: Post, of post: Post, _ database: Database) throws {
        try database.execute(
            "REPLACE INTO articles (number, page, post) SELECT number, ?, ? FROM posts WHERE id = ?",
            [PostImport.page(of: post), content(article), post.id])
    }

    /// Stores a new post that has waited for its article.
    mutating func publish(_ new: WaitingPost, with article: Post?, _ database: Database) throws -> PostChanges {
        var item = new.item
        if let article { item.post.take(article) }
        try take(item, new.position, firstSeen: new.firstSeen, database)
        if let article { try keep(article, of: item.post, database) }
        return changes
    }

    /// Replaces the text of a stored post by the text of its page.
    ///
    /// - Returns: false for a post that was removed, or has another address.
    mutating func replaceText(of post: Post, by article: Post, _ database: Database) throws -> Bool {
        let stored = try database.first("SELECT number, post FROM posts WHERE id = ?", [post.id]) {
            (number: try $0[0] as Int64, post: try $0.content(1) as Post)
        }
        guard let stored, stored.post.url == post.url else { return false }
        var new = stored.post
        new.take(article)
        try database.execute("UPDATE posts SET post = ? WHERE number = ?", [content(new), stored.number])
        _ = try storeText(of: new, stored.number, isNew: false, database)
        try keep(article, of: new, database)
        return true
    }

    /// Lets the older posts of the first fetch count as seen before the newest ones.
    ///
    /// - Returns: the time until which the older posts were seen; the epoch if there are none.
    mutating func divide(_ posts: [Post], unread count: Int) -> Timestamp {
        var ids: Set<String> = []
        let sorted = posts.filter { ids.insert($0.id).inserted }
            .map { (id: $0.id, seen: firstSeen($0), sortAt: sortAt($0, firstSeen: firstSeen($0))) }
            .sorted { $0.sortAt > $1.sortAt }
        guard let latest = sorted.dropFirst(count).map(\.seen).max() else { return Timestamp(seconds: 0) }
        let end = min(latest, now.advanced(by: .seconds(-1)))
        division = (end, Set(sorted.prefix(count).map(\.id)))
        return end
    }

    private func firstSeen(_ post: Post) -> Timestamp {
        let seen = naturalFirstSeen(post)
        guard let division else { return seen }
        guard division.newest.contains(post.id) else { return min(seen, division.until) }
        // In a source that comes back, posts that were read stay read.
        return until == nil ? max(seen, division.until.advanced(by: .seconds(1))) : seen
    }

    /// The time from which a new post counts as seen: now, or just after the time until which a user has read
    /// everything, if the clock was set back since.
    ///
    /// In a source without posts, the posts may have been removed with the cache, and must stay read: the date of the
    /// post, or without one the earliest time until which a user has read everything.
    private func naturalFirstSeen(_ post: Post) -> Timestamp {
        if isFirst, let date = post.publishedAt, date <= now { return date }
        guard let until else { return now }
        return isFirst ? until.lowerBound : max(now, until.upperBound.advanced(by: .seconds(1)))
    }

    /// Keeps the newest of the new posts.
    private mutating func noteNew(_ post: Post, _ sortAt: Timestamp) {
        let index = sortTimes.firstIndex { $0 < sortAt } ?? sortTimes.endIndex
        guard index < Event.Items.maximumNew else { return }
        sortTimes.insert(sortAt, at: index)
        changes.newest.insert(Event.NewItem(post), at: index)
        if sortTimes.count > Event.Items.maximumNew {
            sortTimes.removeLast()
            changes.newest.removeLast()
        }
    }

    /// Stores the text that searches read, and which rules hide the post.
    ///
    /// - Returns: the users from whom the post is hidden.
    private func storeText(of post: Post, _ number: Int64, isNew: Bool, _ database: Database) throws -> Set<UInt32> {
        let text = SearchWords.storedText(post.searchedTexts)
        try database.execute("REPLACE INTO post_texts (number, text) VALUES (?, ?)", [number, text])
        return try MutedPosts.store(number, text, of: source, isNew: isNew, rules, database)
    }

    /// The stored form of a post, which changes only with the post.
    private func content(_ post: Post) -> String {
        var post = post
        (post.source, post.isRead) = (source, false)
        return post.jsonText
    }

    /// The sort key of a post: its date, or the time of its first fetch if the date is missing or in the future.
    ///
    /// A date that has passed in the meantime counts at the next fetch of the post, for example after a start with a
    /// clock of 1970.
    private func sortAt(_ post: Post, firstSeen: Timestamp) -> Timestamp {
        guard let publishedAt = post.publishedAt, publishedAt <= now else { return firstSeen }
        return publishedAt
    }

    /// Stores an author. Of several authors with one id the first counts.
    mutating func take(_ author: Post.Author, _ database: Database) throws {
        guard heldAuthors.insert(author.id).inserted else { return }
        try database.execute(
            """
            INSERT INTO authors (id, source, name, folded, handle, avatar_url, email, held)
            VALUES (?, ?, ?, ?, ?, ?, ?, 1)
            ON CONFLICT (id) DO UPDATE SET
                name = excluded.name, folded = excluded.folded, handle = excluded.handle,
                avatar_url = excluded.avatar_url, email = excluded.email, held = 1
                WHERE NOT held OR name <> excluded.name OR handle IS NOT excluded.handle
                    OR avatar_url IS NOT excluded.avatar_url OR email IS NOT excluded.email
            """,
            [
                author.id, source, author.name, caseFolded(author.name), author.handle, author.avatarURL,
                author.email,
            ])
    }

    /// Records that this fetch did not contain the other stored posts.
    ///
    /// - Parameters:
    ///   - last: the time of the last fetch that contained them.
    ///   - isComplete: if false, authors without posts stay, because the time of their removal is unknown.
    mutating func leaveOthers(last: Timestamp, isComplete: Bool, _ database: Database) throws {
        let posts = try database.map("SELECT number FROM posts WHERE source = ? AND held_at IS NULL", [source]) {
            try $0[0] as Int64
        }
        for number in posts where !heldPosts.contains(number) {
            // After a clock rollback the last fetch may be before the first fetch of the post.
            try database.execute(
                "UPDATE posts SET held_at = iif(? < first_seen, ?, ?) WHERE number = ?", [last, now, last, number])
        }
        guard isComplete else { return }
        let authors = try database.map("SELECT id FROM authors WHERE source = ? AND held", [source]) {
            try $0[0] as String
        }
        for id in authors where !heldAuthors.contains(id) {
            try database.execute("UPDATE authors SET held = 0 WHERE id = ?", [id])
        }
    }

    /// Removes expired posts, the oldest posts above ``maximumPosts``, and at the end authors without posts; at most
    /// ``rowsAtOnce`` posts.
    ///
    /// - Parameter keep: the time that a post stays after the last fetch that contained it; nil for no limit.
    /// - Returns: the number of removed posts; 0 at the end.
    mutating func removeExpired(keep: Duration?, _ database: Database) throws -> Int {
        let expired = now.seconds - (keep?.components.seconds ?? 0)
        if keep != nil {
            let numbers = "SELECT number FROM posts WHERE source = ? AND held_at <= ? LIMIT \(PostImport.rowsAtOnce)"
            try database.execute("DELETE FROM posts WHERE number IN (\(numbers))", [source, expired])
        }
        var removed = keep == nil ? 0 : database.changesCount
        changes.total = try database.value("SELECT count(*) FROM posts WHERE source = ?", [source]) ?? 0
        if removed == 0, changes.total > PostImport.maximumPosts {
            let excess = min(changes.total - PostImport.maximumPosts, PostImport.rowsAtOnce)
            try database.execute(
                """
                DELETE FROM posts WHERE number IN (
                    SELECT number FROM posts WHERE source = ? AND held_at IS NOT NULL
                    ORDER BY sort_at, position DESC, number LIMIT ?
                )
                """, [source, excess])
            removed = database.changesCount
        }
        changes.removed += removed
        if removed == 0 {
            try database.execute(
                """
                DELETE FROM authors WHERE source = ? AND NOT held
                    AND NOT EXISTS (SELECT 1 FROM posts WHERE posts.author = authors.id)
                """, [source])
        }
        return removed
    }
}

extension Post {
    /// Takes text and pictures of the post's page. The addresses of files stay the last links.
    fileprivate mutating func take(_ article: Post) {
        (text, markdown, isTruncated, images) = (article.text, article.markdown, article.isTruncated, article.images)
        let found = article.links ?? []
        let files = attachments.map(\.url).filter { !found.contains($0) }
        links = found.isEmpty && files.isEmpty ? nil : found + files
    }
}
