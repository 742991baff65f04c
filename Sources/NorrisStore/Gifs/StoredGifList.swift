package import NorrisProtocol

/// The pages of one request to Giphy as one list in Giphy's order, without duplicates.
extension GifStore {
    /// Stores a page. A page at offset 0 replaces the list; any other is appended if the list continues at its offset.
    ///
    /// - Parameters:
    ///   - nextOffset: the offset of Giphy's next page; nil at the end.
    ///   - totalCount: Giphy's count.
    /// - Returns: the number of GIFs that were not stored before; 0 if the page does not continue the list, which then
    ///   is unchanged.
    @discardableResult package func put(
        _ gifs: [Gif], in list: GifList, offset: Int, nextOffset: Int?, totalCount: Int?, at now: Timestamp = .now()
    ) async throws(StoreError) -> Int {
        try await write { database in
            try StoredGifList.put(
                gifs, in: list, offset: offset, nextOffset: nextOffset, totalCount: totalCount, at: now, database)
        }
    }

    /// Stores a page, and reads the page that a client requested from the list in the same transaction.
    ///
    /// - Returns: nil if the client's cursor is of an older list.
    package func put(
        _ gifs: [Gif], in list: GifList, offset: Int, nextOffset: Int?, totalCount: Int?, at now: Timestamp,
        replyingTo request: PageRequest, notBefore: Timestamp
    ) async throws(StoreError) -> GifListPage? {
        let key = databases.cache(.gifs).cursorKey
        return try await write { database in
            _ = try StoredGifList.put(
                gifs, in: list, offset: offset, nextOffset: nextOffset, totalCount: totalCount, at: now, database)
            do {
                return try GifListPage(of: list, request, notBefore: notBefore, key: key, database)
            } catch is ResponseError {
                return nil
            }
        }
    }

    /// The stored part of a list, from a cursor on. A page may be shorter than its limit.
    ///
    /// - Parameters:
    ///   - notBefore: older lists are ignored.
    ///   - endsWithStored: whether the list ends with its stored part, for a caller that fetches no more.
    /// - Returns: nil if there is no such list, and no cursor.
    /// - Throws: `-32602` for a cursor of another or an older list; `-32005` if the disk fails.
    package func page(
        of list: GifList, _ request: PageRequest, notBefore: Timestamp, endsWithStored: Bool = false
    ) async throws(ResponseError) -> GifListPage? {
        let key = databases.cache(.gifs).cursorKey
        return try await databases.read(.gifs) { database -> GifListPage? in
            try GifListPage(
                of: list, request, notBefore: notBefore, endsWithStored: endsWithStored, key: key, database)
        }
    }
}

/// A page of a list of GIFs.
package struct GifListPage: Sendable, Equatable {
    package var items: [Gif]
    /// Exact for a completely stored list, else Giphy's count; nil above ``countedMatches``.
    package var total: Int?
    /// nil at the end of the list.
    package var next: String?
    /// The time of the fetch of the list's first page.
    package var fetchedAt: Timestamp
    /// The offset to fetch from Giphy: nothing is stored after the cursor, but Giphy has more.
    package var needsUpstream: Int?
}

extension GifListPage {
    /// Reads a page.
    ///
    /// - Returns: nil if there is no such list, and no cursor.
    init?(
        of list: GifList, _ request: PageRequest, notBefore: Timestamp, endsWithStored: Bool = false, key: UInt64,
        _ database: Database
    ) throws {
        let after = try request.cursor.map { try SealedCursor($0, of: list.fields, key: key) }
        let stored = try StoredGifList.find(list, notBefore: notBefore, database)
        if let after, after.text != stored.map({ String($0.number.columnValue) }) {
            throw ResponseError.invalidParams(
                "The cursor has expired: the search was repeated.", parameter: "cursor",
                hint: "Start again without a cursor.")
        }
        guard let stored else { return nil }
        let page = try stored.query(rating: GifRating(allowing: list.rating), notBefore: notBefore)
            .rows(after: after, limit: request.limit, database, read: GifStore.item)
        let end = page.end ?? after ?? SealedCursor(number: 0, text: String(stored.number.columnValue))
        let nextOffset = endsWithStored ? nil : stored.nextOffset
        self.init(
            items: page.items, total: stored.total(counted: page.total),
            next: page.hasMore || nextOffset != nil ? end.sealed(for: list.fields, key: key) : nil,
            fetchedAt: stored.fetchedAt, needsUpstream: page.end == nil ? nextOffset : nil)
    }
}

/// A row of `gif_lists`, and its items.
struct StoredGifList {
    /// A new number after each replacement of the list.
    let number: SequenceNumber
    /// The offset of Giphy's next page; nil if the list is stored completely.
    let nextOffset: Int?
    let totalCount: Int?
    let fetchedAt: Timestamp

    private static let isList = "kind = ? AND query = ? AND rating = ? AND lang = ?"

    private static func key(_ list: GifList) -> StatementArguments {
        [list.kind.rawValue, list.query, list.rating, list.lang ?? ""]
    }

    /// - Parameter notBefore: older lists are ignored; nil for any age.
    static func find(_ list: GifList, notBefore: Timestamp? = nil, _ database: Database) throws -> StoredGifList? {
        let sql =
            "SELECT number, next_offset, total_count, fetched_at FROM gif_lists WHERE \(isList) AND fetched_at >= ?"
        return try database.first(sql, key(list) + [notBefore?.seconds ?? Int64.min]) { row in
            StoredGifList(number: row[0], nextOffset: row[1], totalCount: row[2], fetchedAt: row[3])
        }
    }

    /// Stores a page of a list.
    ///
    /// - Returns: the number of GIFs that were not stored before.
    static func put(
        _ gifs: [Gif], in list: GifList, offset: Int, nextOffset: Int?, totalCount: Int?, at now: Timestamp,
        _ database: Database
    ) throws -> Int {
        let number: SequenceNumber
        if offset == 0 {
            number = try begin(list, at: now, database)
        } else {
            guard let stored = try find(list, database), stored.nextOffset == offset else { return 0 }
            number = stored.number
        }
        let new = try GifStore.store(gifs, at: now, database)
        try append(
            gifs, to: number, isFirst: offset == 0,
            // A list that never ends would be fetched endlessly.
            nextOffset: nextOffset.flatMap { $0 > offset ? $0 : nil }, totalCount: totalCount, database)
        return new
    }

    /// Replaces a list with an empty one.
    static func begin(_ list: GifList, at now: Timestamp, _ database: Database) throws -> SequenceNumber {
        try database.execute("DELETE FROM gif_lists WHERE \(isList)", key(list))
        try database.execute(
            "INSERT INTO gif_lists (kind, query, rating, lang, fetched_at) VALUES (?, ?, ?, ?, ?)",
            key(list) + [now.seconds])
        return database.lastInsertedNumber
    }

    /// Appends stored GIFs that the list does not contain yet.
    ///
    /// A later page without new GIFs ends the list, because further pages of duplicates would each cost a request.
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

    /// The visible GIFs of the list, in its order.
    func query(rating: GifRating, notBefore: Timestamp) -> PageQuery {
        PageQuery(
            columns: "position, CAST(list AS TEXT), gifs.gif",
            matches: """
                gif_list_items JOIN gifs ON gifs.number = gif_list_items.gif
                WHERE list = ? AND (gifs.rating <= ? OR gifs.rating = \(GifRating.unknown.rawValue))
                AND gifs.fetched_at >= ?
                """, arguments: [number, rating.rawValue, notBefore.seconds], order: "position", after: "position > ?")
    }

    /// The number of GIFs in the list, if known.
    ///
    /// - Parameter counted: the number of stored GIFs; nil above ``countedMatches``.
    func total(counted: Int?) -> Int? {
        guard let counted, nextOffset != nil else { return counted }
        return totalCount.map { max($0, counted) }.flatMap { $0 > countedMatches ? nil : $0 }
    }
}
