package import NorrisProtocol
import NorrisText
import Synchronization

/// The GIFs in `cache.db`, and the lists in which Giphy returned them.
///
/// The age of a GIF is the time since its last fetch. Each read has a parameter `notBefore`, so that no expired GIF is
/// served, even before ``purge(before:now:)`` runs.
package final class GifStore: Sendable {
    /// The name of the source in the fetch records.
    package static let source = SourceStatus.gifs
    /// The number of rows that one transaction changes, because a search may wait to be stored.
    private static let rowsAtOnce = 256

    let databases: Databases
    private let stored = Atomic(0)

    /// Counts the stored GIFs.
    package init(databases: Databases) async {
        self.databases = databases
        await recount()
    }

    /// The number of stored GIFs, including expired GIFs until the next purge. From memory.
    package var count: Int { stored.load(ordering: .relaxed) }

    /// Counts again after the cache was replaced.
    package func recount() async {
        guard let count = try? await databases.read(databases.cache, { try GifStore.count($0) }) else { return }
        stored.store(count, ordering: .relaxed)
    }

    private static func count(_ database: Database) throws -> Int {
        try database.value("SELECT count(*) FROM gifs") ?? 0
    }

    func write<Result: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Result
    ) async throws(StoreError) -> Result {
        try await databases.write(databases.cache) { [self] database in
            let result = try body(database)
            let count = try GifStore.count(database)
            // After the commit, in the order of the changes.
            database.afterCommit { [self] in stored.store(count, ordering: .relaxed) }
            return result
        }
    }

    // MARK: Reading

    /// nil also if the disk cannot be read.
    package func gif(id: String, notBefore: Timestamp) async -> Gif? {
        await firstGif("SELECT gif FROM gifs WHERE id = ? AND fetched_at >= ?", [id, notBefore])
    }

    /// A random GIF, all with equal probability; nil also if the disk cannot be read.
    ///
    /// - Parameters:
    ///   - text: matches GIFs that Giphy returned for the text, or whose title, description or user name contains it;
    ///     nil for all GIFs.
    ///   - rating: the strongest allowed rating.
    package func random(text: String?, rating: String, notBefore: Timestamp) async -> Gif? {
        let query = text.map(GifList.normalized)
        return await firstGif(
            """
            SELECT gif FROM gifs WHERE rating <= ?3 AND fetched_at >= ?4 AND (
                ?1 IS NULL OR instr(searched, ?2) > 0 OR id IN (
                    SELECT value FROM gif_lists, json_each(ids)
                    WHERE kind = 'search' AND query = ?1 AND gif_lists.fetched_at >= ?4
                )
            ) ORDER BY random() LIMIT 1
            """, [query, query.map(searchable), GifRating(allowing: rating).rawValue, notBefore])
    }

    private func firstGif(_ sql: String, _ arguments: StatementArguments) async -> Gif? {
        let gif = try? await databases.read(databases.cache) { database in
            try database.first(sql, arguments) { try $0.content(0) as Gif }
        }
        return gif.flatMap { $0 }
    }

    /// The ids that are not stored or expired; empty if the disk cannot be read.
    package func missing(ids: [String], notBefore: Timestamp) async -> [String] {
        let missing = try? await databases.read(databases.cache) { database in
            let sql = "SELECT EXISTS (SELECT 1 FROM gifs WHERE id = ? AND fetched_at >= ?)"
            return try ids.filter { try database.value(sql, [$0, notBefore]) != true }
        }
        return missing ?? []
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
        let text = searchable(text)
        let query = PageQuery(
            columns: "fetched_at, id, gif",
            matches: "gifs WHERE rating <= ? AND fetched_at >= ? AND instr(searched, ?) > 0",
            arguments: [GifRating(allowing: rating).rawValue, notBefore, text],
            order: "fetched_at DESC, id", after: "fetched_at <= ? AND (fetched_at < ? OR id > ?)",
            cursorValues: { [$0.number, $0.number, $0.text] })
        let key = databases.cursorKey
        return try await databases.read(databases.cache, within: databases.searchLimit) { database in
            try query.page(
                of: ["stored gifs", rating, text], key: key, cursor: cursor, limit: limit, database
            ) { (try $0.content(2), try $0.bytes(2).count) }
        }
    }

    // MARK: Writing

    /// Stores GIFs that belong to no list.
    ///
    /// - Returns: the number of new GIFs.
    @discardableResult package func put(_ gifs: [Gif], at now: Timestamp = .now()) async throws(StoreError) -> Int {
        try await write { try GifStore.store(gifs, at: now, $0) }
    }

    /// Stores GIFs. Known GIFs get the new content.
    ///
    /// - Returns: the number of new GIFs.
    static func store(_ gifs: [Gif], at now: Timestamp, _ database: Database) throws -> Int {
        let before = try count(database)
        for gif in gifs {
            let searched = SearchWords.storedText([gif.title, gif.altText, gif.username])
            try database.execute(
                "REPLACE INTO gifs (id, gif, rating, searched, fetched_at) VALUES (?, ?, ?, ?, ?)",
                [gif.id, gif.jsonText, GifRating(ofGif: gif.rating).rawValue, searched, now])
        }
        return try count(database) - before
    }

    /// Removes expired GIFs and lists. A failed write is recorded.
    @discardableResult package func purge(before oldest: Timestamp, now: Timestamp = .now()) async -> Int {
        do {
            try await write { database in
                try database.execute("DELETE FROM gif_lists WHERE fetched_at < ?", [oldest])
                // A time in the future was stored before a clock rollback.
                for table in ["gifs", "gif_lists"] {
                    try database.execute("UPDATE \(table) SET fetched_at = ? WHERE fetched_at > ?", [now, now])
                }
            }
            return try await remove(where: "fetched_at < ?", [oldest])
        } catch {
            return 0
        }
    }

    /// Removes all GIFs and lists, and the record of their fetch.
    ///
    /// - Returns: the number of GIFs.
    @discardableResult package func clear() async throws(StoreError) -> Int {
        // First, so that GIFs that a later step does not remove are fetched again.
        try await write { [databases] database in
            databases.noteCleared(GifStore.source)
            try FetchRecord.remove(GifStore.source, database)
            try database.execute("DELETE FROM gif_lists")
        }
        return try await remove(where: "TRUE")
    }

    /// Removes GIFs in as many transactions as needed.
    private func remove(
        where condition: String, _ arguments: StatementArguments = []
    ) async throws(StoreError) -> Int {
        let ids = "SELECT id FROM gifs WHERE \(condition) LIMIT \(GifStore.rowsAtOnce)"
        var (total, last) = (0, 0)
        repeat {
            last = try await write { database in
                try database.execute("DELETE FROM gifs WHERE id IN (\(ids))", arguments)
                return database.changesCount
            }
            total += last
        } while last > 0
        return total
    }
}

/// A request that Giphy answers with a list of GIFs, page by page.
///
/// Two requests are equal if their bytes are equal, as in the database.
package struct GifList: Sendable, Hashable {
    enum Kind: String {
        case search
        case trending
    }

    let kind: Kind
    /// Lower case without surrounding white space; empty for the trending list.
    package let query: String
    /// The strongest rating in the request to Giphy.
    package let rating: String
    /// nil for Giphy's default.
    package let lang: String?
    /// The fields that distinguish the list from all others.
    let fields: [String]

    private init(_ kind: Kind, query: String, rating: String, lang: String?) {
        self.kind = kind
        self.query = query
        self.rating = rating
        self.lang = lang == "" ? nil : lang
        fields = ["gifs", kind.rawValue, query, rating, self.lang ?? ""]
    }

    /// The results for a text. Case and surrounding white space do not matter.
    package static func search(_ text: String, rating: String, lang: String? = nil) -> GifList {
        GifList(.search, query: normalized(text), rating: rating, lang: lang)
    }

    package static func trending(rating: String) -> GifList { GifList(.trending, query: "", rating: rating, lang: nil) }

    package var isTrending: Bool { kind == .trending }

    static func normalized(_ text: String) -> String {
        let scalars = text.unicodeScalars
        guard let first = scalars.firstIndex(where: { !$0.properties.isWhitespace }),
            let last = scalars.lastIndex(where: { !$0.properties.isWhitespace })
        else { return "" }
        return String(scalars[first...last]).lowercased()
    }

    package static func == (left: GifList, right: GifList) -> Bool {
        left.fields.elementsEqual(right.fields) { $0.hasSameBytes(as: $1) }
    }

    package func hash(into hasher: inout Hasher) {
        for field in fields { for byte in field.utf8 { hasher.combine(byte) } }
    }
}

/// The rating of a GIF, mildest first. The raw values are stored in `cache.db`.
enum GifRating: Int {
    case g, pg, pg13, r
    /// Possibly the strongest.
    case unknown

    /// The rating of a GIF. Older GIFs may have the rating `y`, the mildest.
    init(ofGif word: String) { self = word.lowercased() == "y" ? .g : GifRating(word) ?? .unknown }

    /// The strongest rating that a request allows; the mildest for an unknown word.
    init(allowing word: String) {
        let rating = GifRating(word) ?? .g
        self = rating == .r ? .unknown : rating
    }

    private init?(_ word: String) {
        guard let index = GifSearch.ratings.firstIndex(of: word.lowercased()) else { return nil }
        self.init(rawValue: index)
    }
}
