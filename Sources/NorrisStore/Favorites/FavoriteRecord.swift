import GRDB
import NorrisProtocol

/// The rows of `favorites`, to and from a favourite.
enum FavoriteRecord {
    static func isKept(_ kind: Favorite.Kind, _ id: String, uid: UInt32, _ database: Database) throws -> Bool {
        try Bool.fetchOne(
            database.cachedStatement(
                sql: "SELECT EXISTS (SELECT 1 FROM favorites WHERE uid = ? AND kind = ? AND id = ?)"
            ),
            arguments: [Int64(uid), kind.rawValue, id]
        ) ?? false
    }

    static func count(uid: UInt32, _ database: Database) throws -> Int {
        try Int.fetchOne(
            database, sql: "SELECT count(*) FROM favorites WHERE uid = ?", arguments: [Int64(uid)]
        ) ?? 0
    }

    static func insert(_ favorite: Favorite, uid: UInt32, _ database: Database) throws {
        try database.cachedStatement(
            sql: "INSERT INTO favorites (uid, kind, id, title, added_at, content) VALUES (?, ?, ?, ?, ?, ?)"
        ).execute(arguments: [
            Int64(uid), favorite.kind.rawValue, favorite.id, favorite.title, favorite.addedAt.seconds,
            favorite.keptContent,
        ])
    }

    /// - Parameter kind: nil for all.
    static func page(
        _ kind: Favorite.Kind?, uid: UInt32, after cursor: SealedCursor?, limit: Int, _ database: Database
    ) throws -> (favorites: [Favorite], total: Int?, next: SealedCursor?) {
        var condition = "uid = ?"
        var arguments: StatementArguments = [Int64(uid)]
        if let kind {
            condition += " AND kind = ?"
            arguments += [kind.rawValue]
        }
        let counted = try Int.fetchOne(
            database,
            sql: "SELECT count(*) FROM (SELECT 1 FROM favorites WHERE \(condition) LIMIT \(countedMatches + 1))",
            arguments: arguments
        )
        if let cursor {
            condition += " AND (added_at, number) < (?, ?)"
            arguments += [cursor.number, Int64(cursor.text)]
        }
        let rows = try Row.fetchAll(
            database,
            sql: """
                SELECT kind, id, title, added_at, content, number FROM favorites
                WHERE \(condition) ORDER BY added_at DESC, number DESC LIMIT ?
                """,
            arguments: arguments + [limit + 1]
        )
        let page = rows.page(limit: limit) { row in
            (row[4] as String?)?.utf8.count ?? FavoriteRecord.assumedSize
        }
        return (
            page.map(favorite),
            counted.flatMap { $0 > countedMatches ? nil : $0 },
            rows.count > page.count ? page.last.map { SealedCursor(number: $0[3], text: String($0[5] as Int64)) } : nil
        )
    }

    /// In bytes: what of a GIF is put in later, where it is stored.
    private static let assumedSize = 10_000

    private static func favorite(_ row: Row) -> Favorite {
        var favorite = Favorite(
            kind: Favorite.Kind(rawValue: row[0]), id: row[1], title: row[2], addedAt: Timestamp(seconds: row[3])
        )
        // Written by us; content that cannot be read any more leaves id and title.
        let content = (row[4] as String?).flatMap { try? JSON.parse($0) }
        switch favorite.kind {
        case .fact: favorite.fact = content.flatMap { try? Fact(json: $0) }
        case .post: favorite.post = content.flatMap { try? Post(json: $0) }
        default: break
        }
        return favorite
    }
}

extension Favorite {
    /// What of the content is kept, as text.
    fileprivate var keptContent: String? {
        switch kind {
        case .fact: return fact?.jsonText
        case .post:
            // Whether it was read is known elsewhere.
            guard var post else { return nil }
            post.isRead = false
            return post.jsonText
        default: return nil
        }
    }
}
