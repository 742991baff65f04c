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
        let key = databases.cache.cursorKey
        let rating = GifRating(allowing: list.rating)
        return try await databases.read(.gifs, logger: logger) { database -> GifListPage? in
            let after = try cursor.map { try SealedCursor($0, of: list.fields, key: key) }
            let stored = try StoredGifList.find(list, notBefore: notBefore, database)
            if let after, after.text != stored.map({ String($0.number) }) {
                throw ResponseError.invalidParams(
                    "The cursor is of an older answer to this search.",
                    parameter: "cursor",
                    hint: "Begin again without a cursor."
                )
            }
            guard let stored else { return nil }
            let page = try stored.query(rating: rating, notBefore: notBefore)
                .rows(after: after, limit: limit, database, read: GifRecord.item)
            let end = page.end ?? after ?? SealedCursor(number: 0, text: String(stored.number))
            let nextOffset = endsWithStored ? nil : stored.nextOffset
            return GifListPage(
                items: page.items,
                total: stored.total(counted: page.total),
                next: page.hasMore || nextOffset != nil ? end.sealed(for: list.fields, key: key) : nil,
                fetchedAt: stored.fetchedAt,
                needsUpstream: page.end == nil ? nextOffset : nil
            )
        }
    }
}

/// A page of a list of GIFs, and what its end means.
package struct GifListPage: Sendable, Equatable {
    package var items: [Gif]
    /// Exact for a list that is stored whole, else what Giphy says; nil above ``countedMatches``.
    package var total: Int?
    /// nil at the end of the list.
    package var next: String?
    /// When the list's first page was fetched.
    package var fetchedAt: Timestamp
    /// The offset to ask Giphy for: nothing that is stored stands here, but Giphy has more.
    package var needsUpstream: Int?
}
