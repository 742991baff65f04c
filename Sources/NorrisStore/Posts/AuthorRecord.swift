import GRDB
import NorrisProtocol

/// The rows of `authors`, as a list.
enum AuthorRecord {
    static func page(
        of sources: [String], after cursor: SealedCursor?, limit: Int, _ database: Database
    ) throws -> (authors: [AuthorList.Author], total: Int?, next: SealedCursor?) {
        let condition = "+source IN (\(databaseQuestionMarks(count: sources.count)))"
        let arguments = StatementArguments(sources)
        let counted = try Int.fetchOne(
            database,
            sql: "SELECT count(*) FROM (SELECT 1 FROM authors WHERE \(condition) LIMIT \(countedMatches + 1))",
            arguments: arguments
        )
        let place = cursor.map(place(of:))
        let rows = try Row.fetchAll(
            database,
            sql: """
                SELECT id, name, handle, avatar_url, folded,
                    (SELECT count(*) FROM posts WHERE posts.author = authors.number)
                FROM authors WHERE \(condition) \(place == nil ? "" : "AND (folded, id) > (?, ?)")
                ORDER BY folded, id LIMIT ?
                """,
            arguments: arguments + (place.map { [$0.folded, $0.id] } ?? []) + [limit + 1]
        )
        let page = rows.prefix(limit)
        return (
            page.map { row in
                AuthorList.Author(
                    id: row[0], name: row[1], handle: row[2], avatarURL: row[3], postCount: row[5]
                )
            },
            counted.flatMap { $0 > countedMatches ? nil : $0 },
            rows.count > limit ? page.last.map { AuthorRecord.cursor(folded: $0[4], id: $0[0]) } : nil
        )
    }

    /// Both texts in one, with the length of the first in bytes.
    private static func cursor(folded: String, id: String) -> SealedCursor {
        SealedCursor(number: Int64(folded.utf8.count), text: folded + id)
    }

    private static func place(of cursor: SealedCursor) -> (folded: String, id: String) {
        let bytes = cursor.text.utf8
        // Sealed by us, so the length is one of the text's, and at the end of a character.
        let length = Int(cursor.number)
        return (
            String(decoding: bytes.prefix(length), as: UTF8.self),
            String(decoding: bytes.dropFirst(length), as: UTF8.self)
        )
    }
}
