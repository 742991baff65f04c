import NorrisProtocol
import NorrisText

/// The rows of `gifs`, to and from a GIF.
enum GifRecord {
    /// nil for a row that cannot be read any more: it is as absent, and the next fetch puts it right.
    static func gif(_ text: String) -> Gif? {
        try? Gif(json: JSON.parse(text))
    }

    /// Of a row whose third column is the GIF.
    static func item(_ row: Row) -> (item: Gif?, size: Int) {
        let text: String = row[2]
        return (gif(text), text.utf8.count)
    }

    /// Stores GIFs, and the new content of known ones, which keep their places in the order of storing.
    ///
    /// - Returns: how many are new.
    static func store(_ gifs: [Gif], at now: Timestamp, _ database: Database) throws -> Int {
        let known = try database.cachedStatement(sql: "SELECT number FROM gifs WHERE id = ?")
        let update = try database.cachedStatement(
            sql: """
                UPDATE gifs SET gif = ?, rating = ?, title = ?, alt_text = ?, username = ?, fetched_at = ? WHERE id = ?
                """
        )
        let insert = try database.cachedStatement(
            sql: """
                INSERT INTO gifs (gif, rating, title, alt_text, username, fetched_at, id) VALUES (?, ?, ?, ?, ?, ?, ?)
                """
        )
        var new = 0
        for gif in gifs.sorted(by: { $1.id.utf8.lexicographicallyPrecedes($0.id.utf8) }) {
            let isKnown = try Int64.fetchOne(known, arguments: [gif.id]) != nil
            try (isKnown ? update : insert).execute(arguments: [
                gif.jsonText, GifRating(ofGif: gif.rating).rawValue, caseFolded(gif.title),
                gif.altText.map(caseFolded), gif.username.map(caseFolded), now.seconds, gif.id,
            ])
            new += isKnown ? 0 : 1
        }
        return new
    }

    static func count(_ database: Database) throws -> Int {
        try Int.fetchOne(database, sql: "SELECT count(*) FROM gifs") ?? 0
    }
}
