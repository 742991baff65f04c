package import NorrisProtocol

/// The pages of one request to Giphy as one list in Giphy's order, without duplicates.
extension GifStore {
    /// Stores a page. A page at offset 0 replaces the list; any other is appended if the list continues at its offset.
    ///
    /// - Parameters:
    ///   - nextOffset: the offset of Giphy's next page; nil at the end.
    ///   - totalCount: Giphy's count.
    /// - Returns: the number of GIFs that were not stored before, 0 if the page does not continue the list, which then
    ///   is unchanged.
    @discardableResult package func put(
        _ gifs: [Gif], in list: GifList, offset: Int, nextOffset: Int?, totalCount: Int?, at now: Timestamp = .now()
    ) async throws(StoreError) -> Int {
        try await write { database in
            let before = offset == 0 ? nil : try StoredGifList(list, database)
            guard offset == 0 || before?.nextOffset == offset else { return 0 }
            var stored = before ?? StoredGifList(fetchedAt: now)
            stored.append(gifs.map(\.id), offset: offset, nextOffset: nextOffset, totalCount: totalCount)
            try stored.write(list, database)
            return try GifStore.store(gifs, at: now, database)
        }
    }

    /// The stored part of a list, from a cursor on. A page may be shorter than its limit.
    ///
    /// - Parameter endsWithStored: whether the list ends with its stored part, because Giphy is not asked.
    /// - Returns: nil if there is no such list, and no cursor.
    /// - Throws: `-32602` for a cursor of another or an older list; `-32005` if the disk fails.
    package func page(
        of list: GifList, _ request: PageRequest, notBefore: Timestamp, endsWithStored: Bool = false
    ) async throws(ResponseError) -> GifListPage? {
        let key = databases.cursorKey
        return try await databases.read(databases.cache) { database -> GifListPage? in
            // The number of GIFs before the page, and the list's time, which differs after a replacement.
            let after = try request.cursor.map { try SealedCursor($0, of: list.fields, key: key) }
            let stored = try StoredGifList(list, database).flatMap { $0.fetchedAt >= notBefore ? $0 : nil }
            if let after, after.text != stored?.fetchedAt.description {
                throw ResponseError.invalidParams(
                    "The cursor has expired: the search was repeated.", parameter: "cursor",
                    hint: "Start again without a cursor.")
            }
            guard let stored else { return nil }
            var page = GifListPage(fetchedAt: stored.fetchedAt)
            var (position, bytes) = (min(max(Int(truncatingIfNeeded: after?.number ?? 0), 0), stored.ids.count), 0)
            // Giphy may return stronger GIFs than requested.
            let isShown = "rating IN (\(GifRating.unknown.rawValue), ?) OR rating < ?"
            let rating = GifRating(allowing: list.rating).rawValue
            for id in stored.ids[position...] {
                guard page.items.count < request.limit, bytes <= maximumPageBytes else { break }
                position += 1
                let sql = "SELECT gif FROM gifs WHERE id = ? AND fetched_at >= ? AND (\(isShown))"
                let found = try database.first(sql, [id, notBefore, rating, rating]) {
                    (try $0.content(0) as Gif, try $0.bytes(0).count)
                }
                guard let (gif, size) = found else { continue }
                page.items.append(gif)
                bytes += size
            }
            let nextOffset = endsWithStored ? nil : stored.nextOffset
            if position < stored.ids.count || nextOffset != nil {
                let end = SealedCursor(number: Int64(position), text: stored.fetchedAt.description)
                page.next = end.sealed(for: list.fields, key: key)
            }
            let sql = """
                SELECT count(*) FROM gifs
                WHERE id IN (SELECT value FROM json_each(?)) AND fetched_at >= ? AND (\(isShown))
                """
            let count: Int = try database.value(sql, [stored.ids.jsonText, notBefore, rating, rating]) ?? 0
            let total = stored.nextOffset == nil ? count : stored.totalCount.map { max($0, count) }
            page.total = total.flatMap { $0 > countedMatches ? nil : $0 }
            page.needsUpstream = page.items.isEmpty ? nextOffset : nil
            return page
        }
    }
}

/// A page of a list of GIFs.
package struct GifListPage: Sendable, Equatable {
    package var items: [Gif] = []
    /// Exact for a completely stored list, else Giphy's count; nil above ``countedMatches``.
    package var total: Int?
    /// nil at the end of the list.
    package var next: String?
    /// The time of the fetch of the list's first page.
    package var fetchedAt: Timestamp
    /// The offset to fetch from Giphy: nothing is stored after the cursor, but Giphy has more.
    package var needsUpstream: Int?
}

/// A row of `gif_lists`.
private struct StoredGifList {
    var ids: [String] = []
    /// The offset of Giphy's next page; nil if the list is stored completely.
    var nextOffset: Int?
    var totalCount: Int?
    let fetchedAt: Timestamp

    /// The maximum number of GIFs of a list, as many as Giphy's API returns for a query.
    private static let maximumIDs = 5_000

    init(fetchedAt: Timestamp) { self.fetchedAt = fetchedAt }

    private static func key(_ list: GifList) -> StatementArguments {
        [list.kind.rawValue, list.query, list.rating, list.lang ?? ""]
    }

    /// nil if the list is not stored.
    init?(_ list: GifList, _ database: Database) throws {
        let sql = """
            SELECT ids, next_offset, total_count, fetched_at FROM gif_lists
            WHERE kind = ? AND query = ? AND rating = ? AND lang = ?
            """
        let stored = try database.first(sql, StoredGifList.key(list)) { row in
            var stored = StoredGifList(fetchedAt: try row[3])
            (stored.ids, stored.nextOffset, stored.totalCount) = (try row.content(0), try row[1], try row[2])
            return stored
        }
        guard let stored else { return nil }
        self = stored
    }

    /// Appends the ids that the list does not contain yet.
    ///
    /// A later page without new GIFs ends the list, because further pages of duplicates would each cost a request; and
    /// a list that does not advance would be fetched endlessly.
    mutating func append(_ new: [String], offset: Int, nextOffset: Int?, totalCount: Int?) {
        let before = ids.count
        var known = Set(ids)
        for id in new where ids.count < StoredGifList.maximumIDs && known.insert(id).inserted { ids.append(id) }
        let continues = (offset == 0 || ids.count > before) && ids.count < StoredGifList.maximumIDs
        self.nextOffset = nextOffset.flatMap { continues && $0 > offset ? $0 : nil }
        // Giphy's count may be any number.
        self.totalCount = totalCount.map { min(max($0, 0), 1 << 31) }
    }

    func write(_ list: GifList, _ database: Database) throws {
        try database.execute(
            """
            REPLACE INTO gif_lists (kind, query, rating, lang, ids, next_offset, total_count, fetched_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            """,
            StoredGifList.key(list) + [ids.jsonText, nextOffset, totalCount, fetchedAt])
    }
}
