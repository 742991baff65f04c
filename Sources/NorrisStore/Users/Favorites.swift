package import NorrisProtocol
import NorrisText

/// The favorites of each user in `state.db`. Changes are on disk when a call returns.
package struct Favorites: Sendable {
    let databases: Databases

    package init(databases: Databases) { self.databases = databases }

    /// Adds an item with its current content; an existing favorite is unchanged. Of a GIF only id and title are stored.
    ///
    /// - Returns: whether the favorite is new.
    /// - Throws: `-32004` above a limit, `-32005` if the disk accepts no writes.
    package func add(_ favorite: Favorite, uid: UInt32) async throws(ResponseError) -> Bool {
        try await databases.changeState { database in
            let isNew = try Favorites.insert(favorite, uid: uid, database)
            if isNew { try Favorites.checkLimits(of: uid, database) }
            return isNew
        }
    }

    package func contains(_ kind: Favorite.Kind, id: String, uid: UInt32) async throws(ResponseError) -> Bool {
        try await databases.read(databases.state) { database in
            let sql = "SELECT EXISTS (SELECT 1 FROM favorites WHERE uid = ? AND kind = ? AND id = ?)"
            return try database.value(sql, [Int64(uid), kind.rawValue, id]) ?? false
        }
    }

    /// - Returns: the title of the item, or nil if it was no favorite.
    /// - Throws: `-32005` if the disk accepts no writes; then the favorite stays.
    package func remove(_ kind: Favorite.Kind, id: String, uid: UInt32) async throws(ResponseError) -> String? {
        try await databases.changeState { database in
            try database.value(
                "DELETE FROM favorites WHERE uid = ? AND kind = ? AND id = ? RETURNING title",
                [Int64(uid), kind.rawValue, id])
        }
    }

    /// A page of a user's favorites, newest first, with the stored facts and posts.
    ///
    /// - Parameters:
    ///   - kind: nil for all.
    ///   - search: the words that title or content must contain; nil for all favorites.
    /// - Throws: `-32602` for a cursor of another list or user, `-32004` for a search that takes too long, `-32005` if
    ///   the disk cannot be read.
    package func list(
        _ kind: Favorite.Kind? = nil, matching search: SearchWords? = nil, uid: UInt32, cursor: String?, limit: Int
    ) async throws(ResponseError) -> Page<Favorite> {
        let list = ["favorites", String(uid), kind?.rawValue ?? ""] + (search?.words ?? [])
        let query = PageQuery(
            columns: "added_at, CAST(number AS TEXT), kind, id, title, content",
            matches: "favorites WHERE uid = ?" + (kind == nil ? "" : " AND kind = ?"),
            arguments: [Int64(uid)] + (kind.map { [$0.rawValue] } ?? []), order: "added_at DESC, number DESC",
            after: "(added_at, number) < (?, ?)", cursorValues: { [$0.number, Int64($0.text)] },
            isFiltered: search != nil)
        let key = databases.cursorKey
        return try await databases.read(databases.state, within: search.map { _ in databases.searchLimit }) {
            database in
            try query.page(
                of: list, key: key, cursor: cursor, limit: limit, database,
                where: { row in try search.map { try $0.match(Favorites.item(row).searchedTexts) } ?? true }
            ) { row in (try Favorites.item(row), max(try row.bytes(5).count, Favorites.minimumSize)) }
        }
    }

    /// The ids of all users' favorite GIFs; empty if the disk cannot be read.
    ///
    /// Each user's newest GIF is first, then each user's second, so that a user with many favorites does not displace
    /// others.
    package func gifIDs(limit: Int) async -> [String] {
        let ids = try? await databases.read(databases.state) { database in
            try database.map(
                """
                SELECT id FROM (
                    SELECT id, added_at, row_number() OVER (PARTITION BY uid ORDER BY added_at DESC) AS rank
                    FROM favorites WHERE kind = 'gif'
                ) GROUP BY id ORDER BY min(rank), max(added_at) DESC, id LIMIT ?
                """, [limit]
            ) { try $0[0] as String }
        }
        return ids ?? []
    }

    /// Adds exported favorites, all or none; existing favorites are unchanged.
    ///
    /// - Parameter items: untrusted, newest first.
    /// - Throws: `-32602` that names the item, `-32004` above a limit, `-32005` if the disk accepts no writes.
    package func `import`(
        _ items: [Favorite], uid: UInt32, at now: Timestamp = .now()
    ) async throws(ResponseError) -> FavoriteImport.Result {
        var checked: [Favorite] = []
        for (index, item) in items.enumerated() {
            do throws(FavoriteFault) { checked.append(try item.checked(at: now)) } catch {
                throw .invalidParams("Item \(index + 1) \(error.problem).", parameter: "items")
            }
        }
        return try await databases.changeState { [checked] database in
            // Oldest first, so that favorites of the same second keep their order.
            let added = try checked.reversed().count { try Favorites.insert($0, uid: uid, database) }
            if added > 0 { try Favorites.checkLimits(of: uid, database) }
            return FavoriteImport.Result(added: added, known: checked.count - added)
        }
    }

    // MARK: Rows

    /// - Returns: false for an existing favorite, which is unchanged.
    static func insert(_ favorite: Favorite, uid: UInt32, _ database: Database) throws -> Bool {
        let content = favorite.storedContent
        let bytes = [favorite.id, favorite.title, content ?? ""].reduce(0) { $0 + $1.utf8.count }
        try database.execute(
            """
            INSERT INTO favorites (uid, kind, id, title, added_at, content, bytes) VALUES (?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (uid, kind, id) DO NOTHING
            """, [Int64(uid), favorite.kind.rawValue, favorite.id, favorite.title, favorite.addedAt, content, bytes])
        return database.changesCount > 0
    }

    /// - Throws: `-32004` if a limit is exceeded, which rolls back the transaction.
    private static func checkLimits(of uid: UInt32, _ database: Database) throws {
        let sums = "SELECT count(*), ifnull(sum(bytes), 0) FROM favorites"
        let (items, bytes) =
            try database.first(sums + " WHERE uid = ?", [Int64(uid)]) { (try $0[0] as Int, try $0[1] as Int) } ?? (0, 0)
        if items > FavoriteList.maximum { throw isFull }
        if bytes > FavoriteList.maximumBytes { throw isLarge }
        if try database.first(sums, [], { try $0[1] as Int64 }) ?? 0 > maximumBytesInAll { throw allAreLarge }
    }

    /// The assumed size of a GIF in bytes, which is added to the page later.
    private static let minimumSize = 10_000

    /// - Parameter row: has the columns of ``list(_:matching:uid:cursor:limit:)``.
    private static func item(_ row: Rows) throws -> Favorite {
        var favorite = Favorite(
            kind: Favorite.Kind(rawValue: try row[2]), id: try row[3], title: sanitizedText(try row[4]),
            addedAt: try row[0])
        switch favorite.kind {
        case .fact: favorite.fact = try row.optionalContent(5)
        case .post: favorite.post = try row.optionalContent(5)
        default: break
        }
        return favorite
    }

    // MARK: Limits

    /// The limit of ids, titles and contents of all users, in bytes.
    static let maximumBytesInAll = 256 << 20

    static let isFull = ResponseError.busy(
        "You have \(FavoriteList.maximum) favorites, the limit.", hint: "Remove some, then add again.")
    static let isLarge = ResponseError.busy(
        "Your favorites would take more than \(FavoriteList.maximumBytes >> 20) MiB, the limit.",
        hint: "Remove some with a long text, then add again.")
    static let allAreLarge = ResponseError.busy(
        "The favorites of all users would take more than \(maximumBytesInAll >> 20) MiB, the limit.",
        hint: "Remove some, or ask other users of this machine to, then add again.")
}

extension Favorite {
    /// The stored content, as text.
    fileprivate var storedContent: String? {
        switch kind {
        case .fact: return fact?.jsonText
        case .post:
            // The read mark is stored elsewhere.
            guard var post else { return nil }
            post.isRead = false
            return post.jsonText
        default: return nil
        }
    }
}
