import NorrisProtocol

/// A row of `gif_lists`, and the items that are below it.
struct StoredGifList {
    /// Of this generation of the list.
    let number: Int64
    /// Where Giphy has more; nil where all there is is stored.
    let nextOffset: Int?
    let totalCount: Int?
    let fetchedAt: Timestamp

    /// - Parameter notBefore: an older list is as none; nil for any age.
    static func find(_ list: GifList, notBefore: Timestamp? = nil, _ database: Database) throws -> StoredGifList? {
        try Row.fetchOne(
            database,
            sql: """
                SELECT number, next_offset, total_count, fetched_at FROM gif_lists
                WHERE kind = ? AND query = ? AND rating = ? AND lang = ? AND fetched_at >= ?
                """,
            arguments: key(list) + [notBefore?.seconds ?? .min]
        ).map { row in
            StoredGifList(
                number: row[0], nextOffset: row[1], totalCount: row[2], fetchedAt: Timestamp(seconds: row[3])
            )
        }
    }

    /// Puts an empty list in place of the one before, and of its items.
    ///
    /// - Returns: its number.
    static func begin(_ list: GifList, at now: Timestamp, _ database: Database) throws -> Int64 {
        try database.execute(
            sql: "DELETE FROM gif_lists WHERE kind = ? AND query = ? AND rating = ? AND lang = ?", arguments: key(list)
        )
        try database.execute(
            sql: "INSERT INTO gif_lists (kind, query, rating, lang, fetched_at) VALUES (?, ?, ?, ?, ?)",
            arguments: key(list) + [now.seconds]
        )
        return database.lastInsertedRowID
    }

    /// Adds stored GIFs at the end of a list, but for those that it holds.
    ///
    /// A page after the first that adds nothing ends the list: of pages of nothing but doubles each costs a request.
    static func append(
        _ gifs: [Gif], to number: Int64, isFirst: Bool, nextOffset: Int?, totalCount: Int?, _ database: Database
    ) throws {
        let first = try Int64.fetchOne(
            database, sql: "SELECT coalesce(max(position), 0) + 1 FROM gif_list_items WHERE list = ?",
            arguments: [number]
        ) ?? 1
        let insert = try database.cachedStatement(
            sql: """
                INSERT OR IGNORE INTO gif_list_items (list, position, gif) SELECT ?, ?, number FROM gifs WHERE id = ?
                """
        )
        var added = 0
        for (position, gif) in zip(first..., gifs) {
            try insert.execute(arguments: [number, position, gif.id])
            added += database.changesCount
        }
        try database.execute(
            sql: "UPDATE gif_lists SET next_offset = ?, total_count = ? WHERE number = ?",
            arguments: [isFirst || added > 0 ? nextOffset : nil, totalCount, number]
        )
    }

    private static func key(_ list: GifList) -> StatementArguments {
        [list.kind.rawValue, list.query, list.rating, list.lang ?? ""]
    }

    /// What may be shown of it, in its order.
    func query(rating: GifRating, notBefore: Timestamp) -> PageQuery {
        PageQuery(
            columns: "position, CAST(list AS TEXT), gifs.gif",
            matches: """
                gif_list_items JOIN gifs ON gifs.number = gif_list_items.gif
                WHERE list = ? AND (gifs.rating <= ? OR gifs.rating = \(GifRating.unknown.rawValue))
                AND gifs.fetched_at >= ?
                """,
            arguments: [number, rating.rawValue, notBefore.seconds], order: "position", after: "position > ?"
        )
    }

    /// How many GIFs the list has, as far as that is known and worth telling.
    ///
    /// - Parameter counted: how many of them are stored; nil above ``countedMatches``.
    func total(counted: Int?) -> Int? {
        guard let counted, nextOffset != nil else { return counted }
        return totalCount.map { max($0, counted) }.flatMap { $0 > countedMatches ? nil : $0 }
    }
}
