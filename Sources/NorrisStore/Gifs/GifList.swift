package import NorrisProtocol

/// A request that Giphy answers with a list of GIFs, page by page.
///
/// Two are equal if their bytes are, as in the database.
package struct GifList: Sendable, Hashable {
    enum Kind: String {
        case search
        case trending
    }

    let kind: Kind
    /// Without white space around it and in lower case; empty for what is trending.
    package let query: String
    /// The strongest rating that Giphy is asked for.
    package let rating: String
    /// nil where Giphy chooses.
    package let lang: String?
    /// What distinguishes it from all others.
    let fields: [String]

    private init(_ kind: Kind, query: String, rating: String, lang: String?) {
        self.kind = kind
        self.query = query
        self.rating = rating
        self.lang = lang == "" ? nil : lang
        fields = ["gifs", kind.rawValue, query, rating, self.lang ?? ""]
    }

    /// The results for a text. Texts that differ in case or in the white space around them are one search.
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

/// How strong a GIF is, mildest first. The raw values are those of `cache.db`.
enum GifRating: Int {
    case g, pg, pg13, r
    /// May be anything.
    case unknown

    /// Of a GIF. `y`, for the youngest, is of older days.
    init(ofGif word: String) { self = word.lowercased() == "y" ? .g : GifRating(word) ?? .unknown }

    /// The strongest that a request allows; for an unknown word, the mildest.
    init(allowing word: String) {
        let rating = GifRating(word) ?? .g
        self = rating == .r ? .unknown : rating
    }

    private init?(_ word: String) {
        guard let index = GifSearch.ratings.firstIndex(of: word.lowercased()) else { return nil }
        self.init(rawValue: index)
    }
}

/// The pages of one request to Giphy as one list, in its order, each GIF once.
extension GifStore {
    /// Stores a page. One at offset 0 replaces the list; any other is appended, if the list continues exactly there.
    ///
    /// - Parameters:
    ///   - nextOffset: where Giphy has more; nil at the end.
    ///   - totalCount: Giphy's count.
    /// - Returns: how many of the GIFs were not stored before; nil where the page does not continue the list, and
    ///   nothing changed.
    @discardableResult package func put(
        _ gifs: [Gif], in list: GifList, offset: Int, nextOffset: Int?, totalCount: Int?, at now: Timestamp = .now()
    ) async throws(StoreError) -> Int? {
        // A list that never ends would be fetched again and again.
        let nextOffset = nextOffset.flatMap { $0 > offset ? $0 : nil }
        return try await write { database in
            let number: SequenceNumber
            if offset == 0 {
                number = try StoredGifList.begin(list, at: now, database)
            } else {
                guard let stored = try StoredGifList.find(list, database), stored.nextOffset == offset else {
                    return nil
                }
                number = stored.number
            }
            let new = try GifStore.store(gifs, at: now, database)
            try StoredGifList.append(
                gifs, to: number, isFirst: offset == 0, nextOffset: nextOffset, totalCount: totalCount, database)
            return new
        }
    }

    /// What is stored of a list, from a cursor on. A page may be shorter than it could be.
    ///
    /// - Parameters:
    ///   - notBefore: older lists are ignored.
    ///   - endsWithStored: whether the list ends with what is stored of it, for a caller that fetches no more.
    /// - Returns: nil where there is no such list, and no cursor.
    /// - Throws: `-32602` for a cursor that is not of this list, or of an older one; `-32005` where the disk fails.
    package func page(
        of list: GifList, cursor: String?, limit: Int, notBefore: Timestamp, endsWithStored: Bool = false
    ) async throws(ResponseError) -> GifListPage? {
        let key = databases.cache(.gifs).cursorKey
        let rating = GifRating(allowing: list.rating)
        return try await databases.read(.gifs) { database -> GifListPage? in
            let after = try cursor.map { try SealedCursor($0, of: list.fields, key: key) }
            let stored = try StoredGifList.find(list, notBefore: notBefore, database)
            if let after, after.text != stored.map({ String($0.number.columnValue) }) {
                throw ResponseError.invalidParams(
                    "The cursor has expired: the search was repeated.", parameter: "cursor",
                    hint: "Start again without a cursor.")
            }
            guard let stored else { return nil }
            let page = try stored.query(rating: rating, notBefore: notBefore)
                .rows(after: after, limit: limit, database, read: GifStore.item)
            let end = page.end ?? after ?? SealedCursor(number: 0, text: String(stored.number.columnValue))
            let nextOffset = endsWithStored ? nil : stored.nextOffset
            return GifListPage(
                items: page.items, total: stored.total(counted: page.total),
                next: page.hasMore || nextOffset != nil ? end.sealed(for: list.fields, key: key) : nil,
                fetchedAt: stored.fetchedAt, needsUpstream: page.end == nil ? nextOffset : nil)
        }
    }
}

/// A page of a list of GIFs.
package struct GifListPage: Sendable, Equatable {
    package var items: [Gif]
    /// Exact for a list that is stored whole, else Giphy's count; nil above ``countedMatches``.
    package var total: Int?
    /// nil at the end of the list.
    package var next: String?
    /// When the list's first page was fetched.
    package var fetchedAt: Timestamp
    /// The offset to fetch from Giphy: nothing is stored after the cursor, but Giphy has more.
    package var needsUpstream: Int?
}

/// A row of `gif_lists`, and its items.
struct StoredGifList {
    /// Another one whenever the list is replaced.
    let number: SequenceNumber
    /// Where Giphy has more; nil where the whole list is stored.
    let nextOffset: Int?
    let totalCount: Int?
    let fetchedAt: Timestamp

    private static let isList = "kind = ? AND query = ? AND rating = ? AND lang = ?"

    private static func key(_ list: GifList) -> StatementArguments {
        [list.kind.rawValue, list.query, list.rating, list.lang ?? ""]
    }

    /// - Parameter notBefore: an older list is ignored; nil for any age.
    static func find(_ list: GifList, notBefore: Timestamp? = nil, _ database: Database) throws -> StoredGifList? {
        let sql =
            "SELECT number, next_offset, total_count, fetched_at FROM gif_lists WHERE \(isList) AND fetched_at >= ?"
        return try database.first(sql, key(list) + [notBefore?.seconds ?? Int64.min]) { row in
            StoredGifList(number: row[0], nextOffset: row[1], totalCount: row[2], fetchedAt: row[3])
        }
    }

    /// Replaces a list with an empty one.
    static func begin(_ list: GifList, at now: Timestamp, _ database: Database) throws -> SequenceNumber {
        try database.execute("DELETE FROM gif_lists WHERE \(isList)", key(list))
        try database.execute(
            "INSERT INTO gif_lists (kind, query, rating, lang, fetched_at) VALUES (?, ?, ?, ?, ?)",
            key(list) + [now.seconds])
        return database.lastInsertedNumber
    }

    /// Appends stored GIFs to a list, except those that it contains.
    ///
    /// A page after the first that adds nothing ends the list: pages of nothing but doubles would each cost a request.
    static func append(
        _ gifs: [Gif], to number: SequenceNumber, isFirst: Bool, nextOffset: Int?, totalCount: Int?,
        _ database: Database
    ) throws {
        let first =
            try Int.fetchOne(
                database, "SELECT coalesce(max(position), 0) + 1 FROM gif_list_items WHERE list = ?", [number]) ?? 1
        var added = 0
        for (position, gif) in zip(first..., gifs) {
            try database.execute(
                "INSERT OR IGNORE INTO gif_list_items (list, position, gif) SELECT ?, ?, number FROM gifs WHERE id = ?",
                [number, position, gif.id])
            added += database.changesCount
        }
        try database.execute(
            "UPDATE gif_lists SET next_offset = ?, total_count = ? WHERE number = ?",
            // Giphy's count may be any number.
            [isFirst || added > 0 ? nextOffset : nil, totalCount.map { min(max($0, 0), 1 << 31) }, number])
    }

    /// What may be shown of it, in its order.
    func query(rating: GifRating, notBefore: Timestamp) -> PageQuery {
        PageQuery(
            columns: "position, CAST(list AS TEXT), gifs.gif",
            matches: """
                gif_list_items JOIN gifs ON gifs.number = gif_list_items.gif
                WHERE list = ? AND (gifs.rating <= ? OR gifs.rating = \(GifRating.unknown.rawValue))
                AND gifs.fetched_at >= ?
                """, arguments: [number, rating.rawValue, notBefore.seconds], order: "position", after: "position > ?")
    }

    /// How many GIFs the list has, as far as that is known.
    ///
    /// - Parameter counted: how many of them are stored; nil above ``countedMatches``.
    func total(counted: Int?) -> Int? {
        guard let counted, nextOffset != nil else { return counted }
        return totalCount.map { max($0, counted) }.flatMap { $0 > countedMatches ? nil : $0 }
    }
}
