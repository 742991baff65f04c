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

    static func insert(_ favorite: Favorite, uid: UInt32, _ database: Database) throws {
        try database.cachedStatement(
            sql: "INSERT INTO favorites (uid, kind, id, title, added_at, content) VALUES (?, ?, ?, ?, ?, ?)"
        ).execute(arguments: [
            Int64(uid), favorite.kind.rawValue, favorite.id, favorite.title, favorite.addedAt.seconds,
            favorite.keptContent,
        ])
    }

    /// Newest first.
    ///
    /// - Parameter kind: nil for all.
    static func query(_ kind: Favorite.Kind?, uid: UInt32) -> PageQuery {
        PageQuery(
            columns: "added_at, CAST(number AS TEXT), kind, id, title, content",
            matches: "favorites WHERE uid = ?" + (kind == nil ? "" : " AND kind = ?"),
            arguments: [Int64(uid)] + (kind.map { [$0.rawValue] } ?? []),
            order: "added_at DESC, number DESC", after: "(added_at, number) < (?, ?)",
            place: { [$0.number, Int64($0.text)] }
        )
    }

    /// In bytes: what of a GIF is put in later, where it is stored.
    private static let assumedSize = 10_000

    /// - Parameter row: of ``query(_:uid:)``.
    static func item(_ row: Row) -> (item: Favorite?, size: Int) {
        let content: String? = row[5]
        return (favorite(row, content), content?.utf8.count ?? assumedSize)
    }

    private static func favorite(_ row: Row, _ content: String?) -> Favorite {
        var favorite = Favorite(
            kind: Favorite.Kind(rawValue: row[2]), id: row[3], title: row[4], addedAt: Timestamp(seconds: row[0])
        )
        // Written by us; content that cannot be read any more leaves id and title.
        let content = content.flatMap { try? JSON.parse($0) }
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
