package import NorrisFetchProtocol
package import NorrisProtocol
import NorrisText
import Synchronization

/// The posts of all sources, in `cache.db`.
package final class PostStore: Sendable {
    let databases: Databases
    package let mutes: Mutes
    /// The number of posts of each source, including sources that are no longer configured.
    private let numbers = Mutex<[String: Int]>([:])
    /// The titles of the documents of sources.
    private let titles = Mutex<[String: String]>([:])
    /// The new posts of each source's last import that are hidden from users, until ``takeHidden(of:)``.
    private let hidden = Mutex<[String: [UInt32: Set<String>]]>([:])
    /// The ids of each source's posts that wait for their articles.
    private let waiting = Mutex<[String: Set<String>]>([:])

    package init(databases: Databases, postsAtOnce: Int = 200) async {
        (self.databases, self.postsAtOnce, mutes) = (databases, postsAtOnce, Mutes(databases: databases))
        // A loss of power may take back the last numbers, which cursors contain already; far fewer than a million.
        try? await databases.write(databases.cache) { database in
            try database.execute("UPDATE sqlite_sequence SET seq = seq + 1000000 WHERE name = 'posts'", [])
        }
        await reload()
    }

    /// The number of posts of a source. From memory.
    package func count(source: String) -> Int { numbers.withLock { $0[source] ?? 0 } }

    /// The title of a source's document; nil if it has none. From memory.
    package func title(of source: String) -> String? { titles.withLock { $0[source] } }

    /// Counts again after the cache was replaced, and reads the titles.
    package func reload() async {
        let known = try? await databases.read(databases.cache) { database in
            try database.map("SELECT source, title FROM fetches WHERE title IS NOT NULL") { row in
                (try row[0] as String, sanitizedLine(try row[1]))
            }
        }
        if let known { titles.withLock { $0 = Dictionary(known) { first, _ in first } } }
        let counts = try? await databases.read(databases.cache) { database in
            try database.map("SELECT source, count(*) FROM posts GROUP BY source") { row in
                (try row[0] as String, try row[1] as Int)
            }
        }
        guard let counts else { return }
        // A damaged index can return a source twice.
        numbers.withLock { $0 = Dictionary(counts) { $0 + $1 } }
    }

    /// Returns the ids of the new posts of the last import that are hidden from users, once.
    package func takeHidden(of source: String) -> [UInt32: Set<String>] {
        hidden.withLock { $0.removeValue(forKey: source) } ?? [:]
    }

    private func setCount(_ count: Int, of source: String) {
        numbers.withLock { $0[source] = count == 0 ? nil : count }
    }

    // MARK: Fetches

    /// The number of posts and the bytes of their texts in one transaction, because users wait for each. Each rule that
    /// hides posts takes about 1 µs for a post.
    private let postsAtOnce: Int
    private static let bytesAtOnce = 1 << 20

    /// Stores the posts of a fetch; other posts of the source stay until they expire. In several transactions, with the
    /// record in the last one: after a crash between them, the next fetch is complete.
    ///
    /// - Parameters:
    ///   - run: the import of the fetch.
    ///   - posts: in the order of the document.
    ///   - authors: authors that the source lists in addition to posts, or instead.
    ///   - isComplete: false if a missing post is no reason to expire it: then this fetch counts as the last that
    ///     contained the post.
    ///   - keep: the time that a post stays after the last fetch that contained it; nil for no limit.
    ///   - fetch: the record of the fetch.
    ///   - unread: the number of newest posts that are unread if this is the first fetch; nil for all.
    ///   - articles: the number of posts that may wait for ``publish(_:_:with:at:)``; further ones are stored at once.
    /// - Throws: also `contentGone`.
    @discardableResult package func replace(
        _ run: SourceImport, posts: [FetchedPost], authors: [Post.Author] = [], isComplete: Bool, keep: Duration?,
        fetch: FetchRecord, unread: Int? = nil, articles: Int = 0, at now: Timestamp = .now()
    ) async throws(StoreError) -> PostChanges {
        do {
            let stored = try await store(posts, authors, in: run, isComplete: isComplete, fetch, unread, articles, now)
            titles.withLock { $0[run.source] = fetch.title }
            waiting.withLock { $0[run.source, default: []].formUnion(stored.changes.waiting.map(\.item.post.id)) }
            return try await removeExpired(run, keep: keep, stored)
        } catch {
            // Some of the transactions may have stored posts.
            await reload()
            throw error
        }
    }

    private func store(
        _ posts: [FetchedPost], _ authors: [Post.Author], in run: SourceImport, isComplete: Bool, _ fetch: FetchRecord,
        _ unread: Int?, _ articles: Int, _ now: Timestamp
    ) async throws(StoreError) -> PostImport {
        var stored = PostImport(source: run.source, at: now, until: await readUntil(run.source))
        stored.articleLimit = articles
        stored.waiting = waiting.withLock { $0[run.source] ?? [] }
        let known: [FetchedPost]
        (stored, known) = try await run.write { [stored] database in
            var stored = stored
            try stored.begin(authors, database)
            var matching = PostMatching(database)
            return (stored, try matching.matched(posts))
        }
        if let unread, stored.isFirst { await divide(known.map(\.post), unread: unread, &stored) }
        var rest = Array(known.enumerated())[...]
        while !rest.isEmpty {
            var bytes = 0
            let part = rest.prefix { post in
                let count = post.element.post.text?.utf8.count ?? 0
                bytes += count
                return bytes <= PostStore.bytesAtOnce || bytes == count
            }.prefix(max(1, min(postsAtOnce, 20_000 / max(1, mutes.rules.count))))
            rest = rest.dropFirst(part.count)
            stored = try await run.write { [stored, mutes] database in
                var stored = stored
                stored.rules = mutes.rules
                for (position, post) in part { try stored.take(post, position, database) }
                return stored
            }
        }
        return try await run.write { [stored] database in
            var stored = stored
            let last: Timestamp? = isComplete ? try PostStore.lastFetch(of: run.source, database) : nil
            try stored.leaveOthers(last: last ?? now, isComplete: isComplete, database)
            var fetch = fetch
            // Without validators, the next fetch contains the posts again if norrisd ends before they are stored.
            if !stored.waiting.isEmpty { fetch.parts = fetch.parts.mapValues { PartRecord(checkedAt: $0.checkedAt) } }
            try fetch.write(for: run.source, database)
            return stored
        }
    }

    /// Makes the posts of the first fetch of a source read for all users, except the newest ones. Later fetches after
    /// the cache was deleted change nothing.
    private func divide(_ posts: [Post], unread: Int, _ stored: inout PostImport) async {
        let source = stored.source
        let isDone = try? await databases.read(databases.state) { try ReadMarks.hasFirstDay(source, $0) }
        guard isDone == false else { return }
        let until = stored.divide(posts, unread: unread)
        // Without the mark, all posts are unread.
        try? await databases.changeState { try ReadMarks.storeFirstDay(of: source, until: until, $0) }
    }

    /// The times until which users have read all posts of a source; nil if no user has.
    private func readUntil(_ source: String) async -> ClosedRange<Timestamp>? {
        let until = try? await databases.read(databases.state) { database in
            let sql = "SELECT min(until), max(until) FROM read_until WHERE source = ? AND until > 0"
            return try database.first(sql, [source]) { (try $0[0] as Timestamp?, try $0[1] as Timestamp?) }
        }
        guard case (let first?, let last?)? = until.flatMap({ $0 }) else { return nil }
        return first...last
    }

    /// Records a reply without changes, and removes expired posts.
    ///
    /// - Parameter keep: the time that a post stays after the last fetch that contained it; nil for no limit.
    @discardableResult package func confirm(
        _ run: SourceImport, keep: Duration?, fetch: FetchRecord, at now: Timestamp = .now()
    ) async throws(StoreError) -> PostChanges {
        try await run.confirm(fetch)
        let changes = try? await removeExpired(run, keep: keep, PostImport(source: run.source, at: now))
        return changes ?? PostChanges(total: count(source: run.source))
    }

    private func removeExpired(
        _ run: SourceImport, keep: Duration?, _ stored: PostImport
    ) async throws(StoreError) -> PostChanges {
        var (stored, removed) = (stored, 0)
        repeat {
            (stored, removed) = try await run.write { [stored] database in
                var stored = stored
                let removed = try stored.removeExpired(keep: keep, database)
                return (stored, removed)
            }
        } while removed > 0
        setCount(stored.changes.total, of: run.source)
        hidden.withLock { $0[run.source] = stored.changes.hidden.isEmpty ? nil : stored.changes.hidden }
        return stored.changes
    }

    /// Stores a new post that has waited for its article.
    ///
    /// - Parameter article: nil if the article could not be fetched.
    /// - Throws: also `contentGone`.
    package func publish(
        _ post: WaitingPost, _ run: SourceImport, with article: Post?, at now: Timestamp = .now()
    ) async throws(StoreError) -> PostChanges {
        defer { stopWaiting(post, of: run.source) }
        let changes = try await run.write { [mutes] database in
            var stored = PostImport(source: run.source, at: now)
            stored.rules = mutes.rules
            return try stored.publish(post, with: article, database)
        }
        setCount(count(source: run.source) + changes.added, of: run.source)
        hidden.withLock { $0[run.source] = changes.hidden.isEmpty ? nil : changes.hidden }
        return changes
    }

    /// Forgets a post that waits, so that the next fetch finds it again.
    package func stopWaiting(_ post: WaitingPost, of source: String) {
        _ = waiting.withLock { $0[source]?.remove(post.item.post.id) }
    }

    /// Replaces the text of a stored post by the text of its page, until its address changes.
    ///
    /// - Returns: false for a post that was removed, or has another address.
    /// - Throws: also `contentGone`.
    package func replaceText(
        of post: Post, by article: Post, _ run: SourceImport
    ) async throws(StoreError) -> Bool {
        try await run.write { [mutes] database in
            var stored = PostImport(source: run.source, at: .now())
            stored.rules = mutes.rules
            return try stored.replaceText(of: post, by: article, database)
        }
    }

    /// Removes all posts of a source and the record of their fetch. Read marks stay in the state.
    @discardableResult package func clear(source: String) async throws(StoreError) -> Int {
        waiting.withLock { $0[source] = nil }
        titles.withLock { $0[source] = nil }
        var (total, removed) = (0, 0)
        repeat {
            removed = try await databases.write(databases.cache) { [databases] database in
                // In each step, because an import may begin between two. Without a record, posts that a later step does
                // not remove are fetched again.
                databases.noteCleared(source)
                try FetchRecord.remove(source, database)
                let numbers = "SELECT number FROM posts WHERE source = ? LIMIT \(PostImport.rowsAtOnce)"
                try database.execute("DELETE FROM posts WHERE number IN (\(numbers))", [source])
                let removed = database.changesCount
                if removed == 0 { try database.execute("DELETE FROM authors WHERE source = ?", [source]) }
                return removed
            }
            total += removed
        } while removed > 0
        setCount(0, of: source)
        return total
    }

    /// Removes the posts of sources that are no longer configured.
    ///
    /// - Parameter before: a source that was fetched at this time or later keeps its posts.
    @discardableResult
    package func purgeSources(keeping names: [String], before: Timestamp) async throws(StoreError) -> Int {
        let stored = try? await databases.read(databases.cache) { database in
            try database.map("SELECT DISTINCT source FROM authors") { row in
                let source: String = try row[0]
                return (source, try PostStore.lastFetch(of: source, database))
            }
        }
        var removed = 0
        for (source, last) in stored ?? [] where !names.contains(where: { $0.hasSameBytes(as: source) }) {
            if let last, last >= before { continue }
            removed += try await clear(source: source)
        }
        return removed
    }

    private static func lastFetch(of source: String, _ database: Database) throws -> Timestamp? {
        try database.value("SELECT fetched_at FROM fetches WHERE source = ?", [source])
    }

    // MARK: Reading. All throw `-32005` where the disk fails; `sources` are the configured ones, and only their posts
    // are read.

    /// A page of posts, newest first, then in the order of their document; without a freshness.
    ///
    /// - Throws: `-32602` for a cursor of another list, `-32004` for a search that takes too long.
    package func list(_ query: PostQuery, read: ReadPosts) async throws(ResponseError) -> Page<Post> {
        let key = databases.cursorKey
        let timeLimit = query.search == nil ? nil : databases.searchLimit
        let stored = query.sources.reduce(0) { $0 + count(source: $1) }
        return try await databases.read(databases.cache, within: timeLimit) { database in
            try query.page(read, stored: stored, key: key, database)
        }
    }

    /// The end of the list of arrivals, for ``PostQuery/arrivals``.
    package func lastArrival() async throws(ResponseError) -> PostArrival {
        try await databases.read(databases.cache) { database in
            let number: Int64? = try database.value("SELECT seq FROM sqlite_sequence WHERE name = 'posts'")
            return PostArrival(cursor: SealedCursor(number: number ?? 0, text: try PostArrival.cache(database)))
        }
    }

    package func post(id: String, sources: [String], read: ReadPosts) async throws(ResponseError) -> Post? {
        try await databases.read(databases.cache) { database in
            let sql = """
                SELECT post, \(StoredPost.columns) FROM posts
                WHERE id = ? AND source IN (\(databaseQuestionMarks(count: sources.count)))
                """
            return try database.first(sql, [id] + StatementArguments(sources)) { row in
                try PostQuery.post(row, read.contains(StoredPost(row, 1)))
            }
        }
    }

    /// The unread posts of some sources.
    ///
    /// - Parameter before: the posts from this time on do not count; nil for no limit.
    package func unread(
        sources: [String], read: ReadPosts, before: Timestamp? = nil
    ) async throws(ResponseError) -> UnreadPosts {
        try await databases.read(databases.cache) { database in
            var unread = UnreadPosts()
            let muted = try MutedPosts(of: read, database)
            if before != nil { unread.exceptions = [] }
            let sql = """
                SELECT \(StoredPost.columns), sort_at, number FROM posts INDEXED BY posts_by_time
                WHERE source IN (\(databaseQuestionMarks(count: sources.count)))
                """
            let rows = try database.rows(sql, StatementArguments(sources))
            while try rows.next() {
                let post = try StoredPost(rows, 0)
                let isRead = read.contains(post)
                let counts = try !isRead && (muted.isEmpty || !muted.contains(rows[4]))
                if !isRead, !counts { unread.hasHidden = true }
                let isLatest = unread.latest[post.source].map { $0 < post.firstSeen } ?? true
                if isLatest { unread.latest[post.source] = post.firstSeen }
                guard let before else {
                    if counts { unread.counts[post.source, default: 0] += 1 }
                    continue
                }
                let sortAt: Timestamp = try rows[3]
                let (isOlder, latest) = (sortAt < before, before.advanced(by: .seconds(-1)))
                if isOlder, counts { unread.counts[post.source, default: 0] += 1 }
                // Such as an old post that was fetched late.
                let until = max(read.until[post.source] ?? latest, latest)
                if (read.marks[post.key] ?? (post.firstSeen <= until)) != (isRead || isOlder) {
                    unread.exceptions?.append((post, isRead || isOlder))
                }
            }
            // Posts that arrive later are not marked, also if the time is in the future.
            if let before { unread.latest = unread.latest.mapValues { min($0, before.advanced(by: .seconds(-1))) } }
            return unread
        }
    }

    /// How often sources publish, by source; a source without posts is left out.
    package func activity(_ now: Timestamp) async throws(ResponseError) -> [String: SourceActivity] {
        let week = 7 * 86_400 as Int64
        return try await databases.read(databases.cache) { database in
            // The index has both columns.
            let sql = """
                SELECT source, max(sort_at), min(max(sort_at, ?2)), sum(sort_at > ?2)
                FROM posts INDEXED BY posts_by_time WHERE sort_at <= ?1 GROUP BY source
                """
            let rows = try database.map(sql, [now.seconds, now.seconds - 4 * week]) { row in
                let weeks = max(Double(now.seconds - (try row[2] as Int64)) / Double(week), 1)
                let rate = Double(try row[3] as Int64) / weeks
                return (try row[0] as String, SourceActivity(newestAt: try row[1], postsPerWeek: Int(rate.rounded())))
            }
            // A damaged index can return a source twice.
            return Dictionary(rows) { first, _ in first }
        }
    }

    /// The stored posts with some ids, without duplicates.
    ///
    /// - Throws: `-32001` for an id without a post.
    package func stored(_ ids: [String], sources: [String]) async throws(ResponseError) -> [StoredPost] {
        try await databases.read(databases.cache) { database in
            var seen: Set<UInt64> = []
            return try ids.compactMap { id -> StoredPost? in
                guard seen.insert(StoredPost.key(id)).inserted else { return nil }
                let post = try PostStore.stored(id, database)
                guard let post, sources.contains(where: { $0.hasSameBytes(as: post.source) }) else {
                    throw ResponseError.notFound("There is no post with the id \(id.quotedForMessage).")
                }
                return post
            }
        }
    }

    /// Whether a user has read each of some posts, stored or not; all false if the disk cannot be read.
    package func isRead(_ ids: [String], _ read: ReadPosts) async -> [Bool] {
        let isRead = try? await databases.read(databases.cache) { database in
            try ids.map { id in
                try PostStore.stored(id, database).map(read.contains) ?? read.marks[StoredPost.key(id)] ?? false
            }
        }
        return isRead ?? ids.map { read.marks[StoredPost.key($0)] ?? false }
    }

    private static func stored(_ id: String, _ database: Database) throws -> StoredPost? {
        try database.first("SELECT \(StoredPost.columns) FROM posts WHERE id = ?", [id]) { try StoredPost($0, 0) }
    }

    /// A page of authors by name, ignoring case, then by id; without a freshness.
    ///
    /// - Throws: `-32602` for a cursor of another list.
    package func authors(
        source: String? = nil, sources: [String], cursor: String?, limit: Int
    ) async throws(ResponseError) -> Page<AuthorList.Author> {
        let key = databases.cursorKey
        let shown = sources.filter { source?.hasSameBytes(as: $0) ?? true }
        let query = PageQuery(
            // The cursor contains both texts in one, with the length of the first in code points.
            columns: """
                length(folded), folded || id, id, name, handle, avatar_url,
                (SELECT count(*) FROM posts WHERE posts.author = authors.id)
                """, matches: "authors WHERE +source IN (\(databaseQuestionMarks(count: shown.count)))",
            arguments: StatementArguments(shown), order: "folded, id",
            after: "(folded, id) > (substr(?, 1, ?), substr(?, ? + 1))",
            cursorValues: { [$0.text, $0.number, $0.text, $0.number] })
        return try await databases.read(databases.cache) { database in
            try query.page(of: ["authors", source ?? ""], key: key, cursor: cursor, limit: limit, database) { row in
                let author = AuthorList.Author(
                    id: try row[2], name: sanitizedLine(try row[3]), handle: try row[4], avatarURL: try row[5],
                    postCount: try row[6])
                return (author, 0)
            }
        }
    }
}

/// How often a source publishes.
package struct SourceActivity: Sendable {
    package var newestAt: Timestamp
    /// The average of the last four weeks, or of those since the oldest stored post.
    package var postsPerWeek: Int
}

/// The unread posts of some sources.
package struct UnreadPosts: Sendable {
    /// The number of unread posts by source, for sources with unread posts.
    package var counts: [String: Int] = [:]
    /// The time until which counted posts were first seen, by source, for sources with posts.
    var latest: [String: Timestamp] = [:]
    /// The posts that a mark of all posts until ``latest`` would mark wrongly, and whether they are read; nil if that
    /// mark replaces all others.
    var exceptions: [(post: StoredPost, isRead: Bool)]?
    /// Whether rules of the user hide further unread posts, which are marked and not counted.
    package var hasHidden = false

    package var count: Int { counts.values.reduce(0, +) }
}

/// A position in the order of arrival.
package struct PostArrival: Sendable {
    /// The number of a post, and the file that has it.
    fileprivate let cursor: SealedCursor

    /// Identifies the file.
    fileprivate static func cache(_ database: Database) throws -> String {
        String(try database.value("SELECT cache FROM arrivals") as UInt64? ?? 0, radix: 36)
    }
}

/// The selection of a list of posts.
package struct PostQuery: Sendable {
    /// The configured sources; posts of other sources are not shown.
    package var sources: [String]
    /// The filters and the requested page.
    package var request: PostList.Parameters
    /// The words that a post must contain; nil for all posts.
    package var search: SearchWords?
    /// The end of a list in the order of arrival, from before ``sources`` and ``pending`` were read.
    package var end: PostArrival?
    /// The sources that are being added. Because their posts are shown later, the list of arrivals ends before them.
    package var pending: [String] = []

    package init(
        sources: [String], _ request: PostList.Parameters = PostList.Parameters(), search: SearchWords? = nil,
        end: PostArrival? = nil, pending: [String] = []
    ) { (self.sources, self.request, self.search, self.end, self.pending) = (sources, request, search, end, pending) }

    /// Distinguishes the cursors of this list. All filters are a part, but not the sources, so that a reload
    /// invalidates no cursor.
    private var identity: [String] {
        var filters = request
        filters.page = PageRequest()
        if filters.order == .newest { filters.order = nil }
        return ["posts", filters.jsonText] + (search?.words ?? [])
    }

    /// The condition on a row of `posts`.
    ///
    /// The plus signs prevent SQLite from finding rows by source or author and then sorting them, because the index
    /// `posts_by_time` has the order and all columns of the condition.
    private var condition: (sql: String, arguments: StatementArguments) {
        let sources = sources.filter { request.source?.hasSameBytes(as: $0) ?? true }
        var sql = "+source IN (\(databaseQuestionMarks(count: sources.count)))"
        var arguments = StatementArguments(sources)
        if let author = request.author {
            // lower() changes only ASCII letters; other letters of a handle must be typed as they are.
            sql += """
                 AND +author IN (
                    SELECT id FROM authors
                    WHERE id = ? OR instr(folded, ?) OR instr(lower(handle), ?) OR instr(handle, ?)
                )
                """
            let folded = caseFolded(author)
            arguments += [author, folded, folded, author]
        }
        if let since = request.since {
            sql += " AND +arrived_at >= ?"
            arguments.append(since)
        }
        return (sql, arguments)
    }

    /// - Parameter stored: the number of posts of the sources.
    fileprivate func page(_ read: ReadPosts, stored: Int, key: UInt64, _ database: Database) throws -> Page<Post> {
        let muted = try MutedPosts(of: read, arrivals: end != nil && !request.muted, database)
        var query = try end.map { try arrivals(until: $0, key, database) } ?? newestFirst
        let selects = request.unread || request.muted || search != nil
        query.isFiltered = selects || !muted.isEmpty
        let isWhole = !selects && request.author == nil && request.since == nil
        query.isLarge = isWhole && stored - muted.count > countedMatches
        return try query.page(
            of: identity, key: key, cursor: request.page.cursor, limit: request.page.limit, database,
            where: { row in
                if try muted.contains(row[2]) != request.muted { return false }
                if request.unread, read.contains(try StoredPost(row, 3)) { return false }
                return try search?.matches(row.bytes(6)) ?? true
            }
        ) { row in
            let isRead = read.contains(try StoredPost(row, 3))
            let sql = "SELECT post FROM posts WHERE number = ?"
            return try database.first(sql, [try row[2] as Int64]) { post in
                (try PostQuery.post(post, isRead), try post.bytes(0).count)
            } ?? { throw row.damage("a post is in the index only") }()
        }
    }

    private var newestFirst: PageQuery {
        let (condition, arguments) = condition
        // Of posts that are not shown, only the index is read, and the text in a search. CROSS JOIN keeps the order of
        // the tables (https://sqlite.org/lang_select.html).
        return PageQuery(
            columns: "sort_at, position, posts.number, \(StoredPost.columns)"
                + (search == nil ? "" : ", post_texts.text"),
            matches: search == nil
                ? "posts WHERE \(condition)"
                : "posts CROSS JOIN post_texts ON post_texts.number = posts.number WHERE \(condition)",
            arguments: arguments, order: "sort_at DESC, position, posts.number DESC",
            after: "sort_at <= ? AND (sort_at < ? OR (position, -posts.number) > (?, ?))",
            cursorText: { row in "\(try row[1] as Int64) \(try row[2] as Int64)" },
            cursorValues: { cursor in
                let values = cursor.text.split(separator: " ").map { Int64(String($0)) }
                return [cursor.number, cursor.number, values.first ?? nil, (values.last ?? nil).map { -$0 }]
            })
    }

    /// The list in the order of arrival. Without a cursor and a time it begins after the newest post.
    private func arrivals(until end: PostArrival, _ key: UInt64, _ database: Database) throws -> PageQuery {
        let cache = try PostArrival.cache(database)
        // A number of another file says nothing, and everything in this one was stored later.
        func number(_ arrival: SealedCursor) -> Int64 { arrival.text == cache ? arrival.number : 0 }
        let last = number(end.cursor)
        let cursor = try request.page.cursor.map { try SealedCursor($0, of: identity, key: key) }
        let start = cursor.map(number) ?? (request.since == nil ? last : 0)
        let unshown: Int64? = try database.value(
            """
            SELECT min(number) FROM posts
            WHERE number > ? AND source IN (\(databaseQuestionMarks(count: pending.count)))
            """, [start] + StatementArguments(pending))
        let shown = min(last, (unshown ?? .max) - 1)
        let (condition, arguments) = condition
        return PageQuery(
            columns: "number, '\(cache)', number, \(StoredPost.columns)",
            matches: "posts WHERE number > ? AND number <= ? AND \(condition)",
            arguments: [start, shown] + arguments, order: "number", after: "true", cursorValues: { _ in [] },
            end: SealedCursor(number: shown, text: cache))
    }

    /// The post in the first column of a row.
    fileprivate static func post(_ row: Rows, _ isRead: Bool) throws -> Post {
        var post: Post = try row.content(0)
        post.isRead = isRead
        return post
    }
}

/// The members of a stored post that decide whether a user has read it.
package struct StoredPost: Sendable {
    /// A 64-bit hash of the id. Two posts have the same hash once in about 10^19 pairs; then both count as read
    /// together.
    let key: UInt64
    let source: String
    let firstSeen: Timestamp

    static func key(_ id: String) -> UInt64 { SipHash.hash(id) }

    fileprivate static let columns = "digest, source, first_seen"
}

extension StoredPost {
    /// - Parameter first: the position of ``columns``.
    fileprivate init(_ row: Rows, _ first: Int) throws {
        (key, source, firstSeen) = (try row[first], try row[first + 1], try row[first + 2])
    }
}
