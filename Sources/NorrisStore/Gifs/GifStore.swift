package import NorrisProtocol
package import NorrisThreads
import NorrisText
import Synchronization

/// The GIFs in `cache.db-gifs`, and the lists in which Giphy returned them.
///
/// The age of a GIF is the time since its last fetch. Each read has a parameter `notBefore`, so that no expired GIF is
/// served, even before ``purge(before:now:)`` runs.
package final class GifStore: Sendable {
    /// The name of the source in the fetch records.
    package static let source = SourceStatus.gifs

    let databases: Databases
    private let stored = Atomic(0)

    /// Counts the stored GIFs.
    package init(databases: Databases, _ access: BlockingAccess) {
        self.databases = databases
        recount(access)
    }

    /// The number of stored GIFs, including expired GIFs until the next purge. From memory.
    package var count: Int { stored.load(ordering: .relaxed) }

    /// Counts again after the cache was recreated.
    package func recount(_ access: BlockingAccess) {
        guard let count = try? databases.read(.gifs, access, GifStore.count) else { return }
        stored.store(count, ordering: .relaxed)
    }

    private static func count(_ database: Database) throws -> Int {
        // A damaged number would prevent storing GIFs (AUTOINCREMENT).
        _ = try SequenceNumber.fetchOne(database, "SELECT ifnull(max(number), 0) FROM gifs")
        return try Int.fetchOne(database, "SELECT count(*) FROM gifs") ?? 0
    }

    func write<Result: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Result
    ) async throws(StoreError) -> Result {
        try await databases.write(.gifs) { [self] database in
            let result = try body(database)
            let count = try GifStore.count(database)
            // After the commit, in the order of the changes.
            database.afterCommit { [self] in stored.store(count, ordering: .relaxed) }
            return result
        }
    }

    private func readOr<Result: Sendable>(
        _ fallback: Result, _ body: @escaping @Sendable (Database) throws -> Result
    ) async -> Result { (try? await databases.read(.gifs, body)) ?? fallback }

    // MARK: Reading

    /// nil also if the disk cannot be read.
    package func gif(id: String, notBefore: Timestamp) async -> Gif? {
        await firstGif("SELECT gif FROM gifs WHERE id = ? AND fetched_at >= ?", [id, notBefore.seconds])
    }

    /// A random GIF, all with equal probability; nil also if the disk cannot be read.
    ///
    /// - Parameters:
    ///   - text: matches GIFs that Giphy returned for the text, or whose title or description contains it; nil for
    ///     all GIFs.
    ///   - rating: the strongest allowed rating.
    package func random(text: String?, rating: String, notBefore: Timestamp) async -> Gif? {
        let query = text.map(GifList.normalized)
        return await firstGif(
            """
            SELECT gif FROM gifs WHERE rating <= ?4 AND fetched_at >= ?5 AND (
                ?2 IS NULL
                OR number IN (
                    SELECT gif FROM gif_list_items JOIN gif_lists ON gif_lists.number = gif_list_items.list
                    WHERE kind = ?1 AND query = ?2 AND gif_lists.fetched_at >= ?5
                )
                OR instr(title, ?3) > 0 OR instr(alt_text, ?3) > 0
            ) ORDER BY random() LIMIT 1
            """,
            [
                GifList.Kind.search.rawValue, query, query.map(caseFolded), GifRating(allowing: rating).rawValue,
                notBefore.seconds,
            ])
    }

    private func firstGif(_ sql: String, _ arguments: StatementArguments) async -> Gif? {
        await readOr(nil) { try CheckedText.fetchOne($0, sql, arguments)?.text }.flatMap(GifStore.gif)
    }

    /// The ids that are not stored or expired; empty if the disk cannot be read.
    package func missing(ids: [String], notBefore: Timestamp) async -> [String] {
        await readOr([]) { database in
            let sql = "SELECT 1 FROM gifs WHERE id = ? AND fetched_at >= ?"
            return try ids.filter { try Int.fetchOne(database, sql, [$0, notBefore.seconds]) == nil }
        }
    }

    /// Searches the titles, descriptions and user names of all stored GIFs, newest first, then by id.
    ///
    /// - Parameters:
    ///   - text: must occur as a whole, ignoring case; no character is special.
    ///   - rating: the strongest allowed rating.
    /// - Throws: `-32602` for a cursor of another search, `-32005` if the disk fails.
    package func search(
        text: String, rating: String, cursor: String?, limit: Int, notBefore: Timestamp
    ) async throws(ResponseError) -> Page<Gif> {
        let folded = caseFolded(text)
        let list = ["stored gifs", rating, folded]
        let query = PageQuery(
            columns: "number, '', gif",
            matches: """
                gifs WHERE rating <= ? AND fetched_at >= ?
                AND (instr(title, ?) > 0 OR instr(alt_text, ?) > 0 OR instr(username, ?) > 0)
                """, arguments: [GifRating(allowing: rating).rawValue, notBefore.seconds, folded, folded, folded],
            order: "number DESC", after: "number < ?")
        let key = databases.cache(.gifs).cursorKey
        return try await databases.read(.gifs, within: databases.searchLimit) { database in
            try query.page(of: list, key: key, cursor: cursor, limit: limit, database, read: GifStore.item)
        }
    }

    /// nil for a row that cannot be read; the next fetch replaces it.
    private static func gif(_ text: String) -> Gif? { try? Gif(json: JSON.parse(text)) }

    /// The GIF in the third column of a row, and its size.
    static func item(_ row: Rows) -> (item: Gif?, size: Int) {
        let text = (row[2] as CheckedText).text
        return (gif(text), text.utf8.count)
    }

    // MARK: Writing

    /// Stores GIFs that belong to no list.
    ///
    /// - Returns: the number of new GIFs.
    @discardableResult package func put(_ gifs: [Gif], at now: Timestamp = .now()) async throws(StoreError) -> Int {
        try await write { try GifStore.store(gifs, at: now, $0) }
    }

    /// Stores GIFs. Known GIFs get the new content and keep their numbers.
    ///
    /// - Returns: the number of new GIFs.
    static func store(_ gifs: [Gif], at now: Timestamp, _ database: Database) throws -> Int {
        var new = 0
        for gif in gifs.sorted(by: { $1.id.utf8.lexicographicallyPrecedes($0.id.utf8) }) {
            let isKnown = try SequenceNumber.fetchOne(database, "SELECT number FROM gifs WHERE id = ?", [gif.id]) != nil
            try database.execute(
                isKnown
                    ? """
                    UPDATE gifs SET gif = ?, rating = ?, title = ?, alt_text = ?, username = ?, fetched_at = ?
                    WHERE id = ?
                    """
                    : """
                    INSERT INTO gifs (gif, rating, title, alt_text, username, fetched_at, id)
                    VALUES (?, ?, ?, ?, ?, ?, ?)
                    """,
                [
                    CheckedText(gif.jsonText), GifRating(ofGif: gif.rating).rawValue, caseFolded(gif.title),
                    gif.altText.map(caseFolded), gif.username.map(caseFolded), now.seconds, gif.id,
                ])
            new += isKnown ? 0 : 1
        }
        return new
    }

    /// Removes expired GIFs and lists. A failed write is recorded.
    @discardableResult package func purge(before oldest: Timestamp, now: Timestamp = .now()) async -> Int {
        var removed = 0
        for table in GifStore.tables {
            // A time in the future was stored before a clock rollback.
            let rollback = try? await change(
                table, "UPDATE \(table.name) SET fetched_at = ?", [now.seconds], where: "fetched_at > ?", [now.seconds])
            guard rollback != nil else { break }
            removed = (try? await delete(table, where: "fetched_at < ?", [oldest.seconds])) ?? 0
        }
        return removed
    }

    /// Removes all GIFs and lists, and the record of their fetch.
    ///
    /// - Returns: the number of GIFs.
    @discardableResult package func clear() async throws(StoreError) -> Int {
        // First, so that GIFs that a later step does not remove are fetched again.
        try await write { try FetchRecord.remove(GifStore.source, $0) }
        var removed = 0
        for table in GifStore.tables { removed = try await delete(table) }
        return removed
    }

    /// The tables in the order of removal, and the number of rows in one transaction, because a search may wait to be
    /// stored and a list has up to 5,000 items.
    private static let tables = [(name: "gif_lists", rowsAtOnce: 8), (name: "gifs", rowsAtOnce: 256)]

    private func delete(
        _ table: (name: String, rowsAtOnce: Int), where condition: String = "TRUE", _ arguments: [Int64] = []
    ) async throws(StoreError) -> Int {
        try await change(table, "DELETE FROM \(table.name)", [], where: condition, arguments)
    }

    /// Changes the rows that match a condition, in as many transactions as needed.
    ///
    /// - Returns: the number of rows.
    private func change(
        _ table: (name: String, rowsAtOnce: Int), _ action: String, _ values: [Int64], where condition: String,
        _ arguments: [Int64]
    ) async throws(StoreError) -> Int {
        let rows = "SELECT number FROM \(table.name) WHERE \(condition) LIMIT \(table.rowsAtOnce)"
        var (total, last) = (0, table.rowsAtOnce)
        while last == table.rowsAtOnce {
            last = try await write { database in
                try database.execute("\(action) WHERE number IN (\(rows))", values + arguments)
                return database.changesCount
            }
            total += last
        }
        return total
    }

    /// Stores the record of a run that fetched these lists.
    ///
    /// - Returns: false if a list was removed in the meantime; then the content of the run is lost.
    package func finishRun(_ fetch: FetchRecord, of lists: [GifList]) async throws(StoreError) -> Bool {
        try await databases.write(.gifs) { database in
            guard try lists.allSatisfy({ try StoredGifList.find($0, database) != nil }) else { return false }
            try fetch.write(for: GifStore.source, database)
            return true
        }
    }
}
