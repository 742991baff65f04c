import GRDB
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
        let cache = databases.cache
        let folded = caseFolded(text)
        let list = ["stored gifs", rating, folded]
        let rating = GifRating(allowing: rating)
        let before = try cursor.map { text throws(ResponseError) in
            try SealedCursor(text, of: list, key: cache.cursorKey).number
        }
        let matches = """
            gifs WHERE rating <= :rating AND fetched_at >= :oldest
            AND (instr(title, :text) > 0 OR instr(alt_text, :text) > 0 OR instr(username, :text) > 0)
            """
        let arguments: StatementArguments = [
            "rating": rating.rawValue, "oldest": notBefore.seconds, "text": folded,
        ]
        let position: StatementArguments = ["before": before ?? .max, "limit": limit + 1]
        let (counted, rows) = try await read(cache) { database in
            let counted = try Int.fetchOne(
                database, sql: "SELECT count(*) FROM (SELECT 1 FROM \(matches) LIMIT \(countedMatches + 1))",
                arguments: arguments
            ) ?? 0
            let rows = try Row.fetchAll(
                database,
                sql: "SELECT number, gif FROM \(matches) AND number < :before ORDER BY number DESC LIMIT :limit",
                arguments: arguments + position
            ).map { row in (number: row[0] as Int64, gif: row[1] as String) }
            return (counted, rows)
        }
        let page = rows.page(limit: limit) { $0.gif.utf8.count }
        let end = rows.count > page.count ? page.last.map { SealedCursor(number: $0.number) } : nil
        return Page(
            items: page.compactMap { GifRecord.gif($0.gif) },
            total: counted > countedMatches ? nil : counted,
            next: end?.sealed(for: list, key: cache.cursorKey)
        )
    }
}
