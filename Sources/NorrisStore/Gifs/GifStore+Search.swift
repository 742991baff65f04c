package import NorrisProtocol
import NorrisText

extension GifStore {
    /// Looks for a text in the titles, descriptions and user names of all stored GIFs, newest stored first, then by id.
    ///
    /// - Parameters:
    ///   - text: looked for as a whole, without regard to case; no character is special.
    ///   - rating: the strongest that may come.
    /// - Throws: `-32602` for a cursor that is not of this search, `-32005` where the disk fails.
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
                """,
            arguments: [
                GifRating(allowing: rating).rawValue, notBefore.seconds, folded, folded, folded,
            ],
            order: "number DESC", after: "number < ?"
        )
        let key = databases.cache.cursorKey
        return try await databases.read(.gifs, within: Databases.searchLimit, logger: logger) { database in
            try query.page(of: list, key: key, cursor: cursor, limit: limit, database, read: GifRecord.item)
        }
    }
}
