import GRDB
package import NorrisProtocol

/// What Giphy answers to one question: one list over all its pages, in its order, each GIF once.
extension GifStore {
    /// Takes in a page. One at offset 0 begins the list anew; any other is added at the end, and only where the list
    /// goes on exactly there.
    ///
    /// - Parameters:
    ///   - nextOffset: where Giphy has more; nil at the end.
    ///   - totalCount: what Giphy says there are.
    /// - Returns: how many of the GIFs were not stored before; nil where the page belongs nowhere, and nothing changed.
    @discardableResult
    package func put(
        _ gifs: [Gif],
        in list: GifList,
        offset: Int,
        nextOffset: Int?,
        totalCount: Int?,
        at now: Timestamp = .now()
    ) async throws(StoreError) -> Int? {
        // A list that would never end would be asked for again and again.
        let nextOffset = nextOffset.flatMap { $0 > offset ? $0 : nil }
        return try await write { database in
            let number: Int64
            if offset == 0 {
                number = try StoredGifList.begin(list, at: now, database)
            } else {
                guard let stored = try StoredGifList.find(list, database), stored.nextOffset == offset else {
                    return nil
                }
                number = stored.number
            }
            let new = try GifRecord.store(gifs, at: now, database)
            try StoredGifList.append(
                gifs, to: number, isFirst: offset == 0, nextOffset: nextOffset, totalCount: totalCount, database
            )
            return new
        }
    }

    /// What is stored of a list, from a cursor on. A page may be shorter than it could be.
    ///
    /// - Parameters:
    ///   - notBefore: older lists are as none.
    ///   - endsWithStored: whether the list ends with what is stored of it, for a caller that asks Giphy for no more.
    /// - Returns: nil where there is no such list, and no cursor that speaks of one.
    /// - Throws: `-32602` for a cursor that is not of this list, or of an older answer; `-32005` where the disk fails.
    package func page(
        of list: GifList, cursor: String?, limit: Int, notBefore: Timestamp, endsWithStored: Bool = false
    ) async throws(ResponseError) -> GifListPage? {
        let cache = databases.cache
        let place = try cursor.map { text throws(ResponseError) in
            try SealedCursor(text, of: list.fields, key: cache.cursorKey)
        }
        let after = place?.number ?? 0
        let rating = GifRating(allowing: list.rating)
        let found = try await read(cache) { database in
            try StoredGifList.find(list, notBefore: notBefore, database).map { stored in
                (
                    list: stored,
                    items: try stored.items(
                        after: after, limit: limit + 1, rating: rating, notBefore: notBefore, database
                    ),
                    total: try stored.total(rating: rating, notBefore: notBefore, database)
                )
            }
        }
        if let place, place.text != found.map({ String($0.list.number) }) {
            throw .invalidParams(
                "The cursor is of an older answer to this search.",
                parameter: "cursor",
                hint: "Begin again without a cursor."
            )
        }
        guard let (stored, items, total) = found else { return nil }
        let shown = items.page(limit: limit) { $0.gif.utf8.count }
        let end = SealedCursor(number: shown.last?.position ?? after, text: String(stored.number))
        let nextOffset = endsWithStored ? nil : stored.nextOffset
        let hasMore = items.count > shown.count || nextOffset != nil
        return GifListPage(
            items: shown.compactMap { GifRecord.gif($0.gif) },
            total: total,
            next: hasMore ? end.sealed(for: list.fields, key: cache.cursorKey) : nil,
            fetchedAt: stored.fetchedAt,
            needsUpstream: shown.isEmpty ? nextOffset : nil
        )
    }
}
