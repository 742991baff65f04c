package import NorrisProtocol
import NorrisThreads

/// The favorites of each user in `state.db`. Changes are on disk when a call returns.
package struct Favorites: Sendable {
    let databases: Databases

    package init(databases: Databases) { self.databases = databases }

    /// Adds an item with its current content; an existing favorite is unchanged. Of a GIF only id and title are stored.
    ///
    /// - Returns: whether the favorite is new.
    /// - Throws: `-32004` above a limit, `-32005` if the disk accepts no writes.
    package func add(_ favorite: Favorite, uid: UInt32) async throws(ResponseError) -> Bool {
        try await databases.changeState { try Favorites.insert(favorite, uid: uid, $0) }
    }

    package func contains(_ kind: Favorite.Kind, id: String, uid: UInt32) async throws(ResponseError) -> Bool {
        try await databases.read(.state) { try Favorites.contains(kind, id, uid: uid, $0) }
    }

    /// - Returns: whether the item was a favorite.
    /// - Throws: `-32005` if the disk accepts no writes; then the favorite stays.
    package func remove(_ kind: Favorite.Kind, id: String, uid: UInt32) async throws(ResponseError) -> Bool {
        try await databases.changeState { database in
            try database.execute(
                "DELETE FROM favorites WHERE uid = ? AND kind = ? AND id = ?", [Int64(uid), kind.rawValue, id])
            return database.changesCount > 0
        }
    }

    /// A page of a user's favorites, newest first, with the stored facts and posts.
    ///
    /// - Parameters:
    ///   - kind: nil for all.
    ///   - search: the words that title or content must contain; nil for all favorites.
    /// - Throws: `-32602` for a cursor of another list or user, `-32004` for a search that takes longer than a second,
    ///   `-32005` if the disk cannot be read.
    package func list(
        _ kind: Favorite.Kind? = nil, matching search: SearchWords? = nil, uid: UInt32, cursor: String?, limit: Int
    ) async throws(ResponseError) -> Page<Favorite> {
        let list = ["favorites", String(uid), kind?.rawValue ?? ""] + (search?.words ?? [])
        let query = PageQuery(
            columns: "added_at, CAST(number AS TEXT), kind, id, title, content, digest",
            matches: "favorites WHERE uid = ?" + (kind == nil ? "" : " AND kind = ?"),
            arguments: [Int64(uid)] + (kind.map { [$0.rawValue] } ?? []), order: "added_at DESC, number DESC",
            after: "(added_at, number) < (?, ?)", cursorValues: { [$0.number, Int64($0.text)] })
        if let search {
            return try await page(of: query, list, matching: search, cursor: cursor, limit: limit)
        }
        return try await databases.read(.state) { database in
            try query.page(
                of: list, key: Favorites.cursorKey(database), cursor: cursor, limit: limit, database,
                read: Favorites.item)
        }
    }

    private static func cursorKey(_ database: Database) throws -> UInt64 {
        // The migration that created the table has stored a key.
        let key = try OpaqueInteger.fetchOne(database, "SELECT key FROM cursor_keys WHERE list = 'favorites'")
        return UInt64(bitPattern: key?.columnValue ?? 0)
    }

    /// The favorites that a search reads at a time, because other users wait for the state's only connection.
    private static let searchedAtOnce = 32

    private func page(
        of query: PageQuery, _ list: [String], matching search: SearchWords, cursor: String?, limit: Int
    ) async throws(ResponseError) -> Page<Favorite> {
        let deadline = ContinuousClock.now + databases.searchLimit
        let key = try await databases.read(.state) { try Favorites.cursorKey($0) }
        let after = try cursor.map { cursor throws(ResponseError) in try SealedCursor(cursor, of: list, key: key) }
        var page = Page<Favorite>(items: [])
        var (matches, bytes, end, hasMore) = (0, 0, SealedCursor?.none, false)
        var position: SealedCursor?
        repeat {
            guard ContinuousClock.now < deadline else { throw Databases.searchTimedOut }
            let part = try await databases.read(.state) { [position] database in
                try query.rows(after: position, limit: Favorites.searchedAtOnce, database) { row in
                    let (item, size) = Favorites.item(row)
                    let place = SealedCursor(number: (row[0] as OpaqueInteger).columnValue, text: row[1])
                    return (item.map { (item: $0, size: size, place: place) }, size)
                }
            }
            for (item, size, place) in part.items where search.match(item.searchedTexts) {
                matches += 1
                if hasMore { continue }
                if let after, (place.number, Int64(place.text) ?? 0) >= (after.number, Int64(after.text) ?? 0) {
                    continue
                }
                bytes += size
                hasMore = page.items.count == limit || (!page.items.isEmpty && bytes > maximumPageBytes)
                if hasMore { continue }
                page.items.append(item)
                end = place
            }
            position = part.hasMore ? part.end : nil
        } while position != nil && !(hasMore && matches > countedMatches)
        page.total = matches > countedMatches ? nil : matches
        page.next = hasMore ? end?.sealed(for: list, key: key) : nil
        return page
    }

    /// The ids of all users' favorite GIFs; empty if the disk cannot be read.
    ///
    /// Each user's newest GIF is first, then each user's second, so that a user with many favorites does not displace
    /// others.
    package func gifIDs(limit: Int) async -> [String] {
        await BackgroundThreads.background.run { [databases] access in
            // All users together may have a million favorites, so requests must not wait for this read.
            (try? databases.readApart(.state, access) { database in
                try String.fetchAll(
                    database,
                    """
                    SELECT id FROM (
                        SELECT id, added_at,
                            row_number() OVER (PARTITION BY uid ORDER BY added_at DESC, number DESC) AS rank
                        FROM favorites WHERE kind = 'gif'
                    ) GROUP BY id ORDER BY min(rank), max(added_at) DESC, id LIMIT ?
                    """, [limit])
            }) ?? []
        }
    }

    /// Adds exported favorites, all or none; existing favorites are unchanged.
    ///
    /// - Parameter items: untrusted, newest first.
    /// - Throws: `-32602` that names the item, `-32004` above a limit, `-32005` if the disk accepts no writes.
    package func `import`(
        _ items: [Favorite], uid: UInt32, at now: Timestamp = .now()
    ) async throws(ResponseError) -> FavoriteImport.Result {
        guard items.count <= FavoriteImport.maximumItems else {
            throw .invalidParams(
                "There are \(items.count) items, more than \(FavoriteImport.maximumItems).", parameter: "items",
                hint: "Import them in several requests.")
        }
        var checked: [Favorite] = []
        for (index, item) in items.enumerated() {
            do throws(FavoriteFault) { checked.append(try item.checked(at: now)) } catch {
                throw .invalidParams("Item \(index + 1) \(error.problem).", parameter: "items")
            }
        }
        return try await databases.changeState { [checked] database in
            // Oldest first, so that favorites of the same second keep their order.
            let added = try checked.reversed().count { try Favorites.insert($0, uid: uid, database) }
            return FavoriteImport.Result(added: added, known: checked.count - added)
        }
    }

    // MARK: Rows

    private static func contains(
        _ kind: Favorite.Kind, _ id: String, uid: UInt32, _ database: Database
    ) throws -> Bool {
        let sql = "SELECT EXISTS (SELECT 1 FROM favorites WHERE uid = ? AND kind = ? AND id = ?)"
        return try Bool.fetchOne(database, sql, [Int64(uid), kind.rawValue, id]) ?? false
    }

    /// - Returns: false for an existing favorite.
    /// - Throws: `-32004` above a limit, which rolls back the transaction.
    private static func insert(_ favorite: Favorite, uid: UInt32, _ database: Database) throws -> Bool {
        if try contains(favorite.kind, favorite.id, uid: uid, database) { return false }
        try store(favorite, uid: uid, database)
        // The totals already include the new favorite.
        let user = try FavoriteTotals(of: Int64(uid), database)
        if user.items > FavoriteList.maximum { throw isFull }
        if user.bytes > maximumBytes { throw isLarge }
        if try FavoriteTotals(of: FavoriteTotals.all, database).bytes > maximumBytesInAll { throw allAreLarge }
        return true
    }

    static func store(_ favorite: Favorite, uid: UInt32, _ database: Database) throws {
        let content = favorite.storedContent
        try database.execute(
            "INSERT INTO favorites (uid, kind, id, title, added_at, content, digest) VALUES (?, ?, ?, ?, ?, ?, ?)",
            [
                Int64(uid), favorite.kind.rawValue, favorite.id, favorite.title, favorite.addedAt, content,
                Favorite.digest(kind: favorite.kind.rawValue, id: favorite.id, title: favorite.title, content: content),
            ])
    }

    /// The assumed size of a GIF in bytes, which is added to the page later.
    private static let gifSize = 10_000

    /// - Parameter row: has the columns of ``list(_:uid:cursor:limit:)``.
    private static func item(_ row: Rows) -> (item: Favorite?, size: Int) {
        let (kind, id, title, stored): (String, String, String, String?) = (row[2], row[3], row[4], row[5])
        let isIntact = Favorite.digest(kind: kind, id: id, title: title, content: stored) == row[6]
        // A damaged favorite stays a favorite, because its id identifies the item.
        var favorite = Favorite(
            kind: Favorite.Kind(rawValue: kind), id: id, title: isIntact ? title : id, addedAt: row[0])
        let text = isIntact ? stored : nil
        // If the content cannot be read, id and title remain.
        let content = text.flatMap { try? JSON.parse($0) }
        switch favorite.kind {
        case .fact: favorite.fact = content.flatMap { try? Fact(json: $0) }
        case .post: favorite.post = content.flatMap { try? Post(json: $0) }
        default: break
        }
        return (favorite, stored?.utf8.count ?? gifSize)
    }

    // MARK: Limits

    /// The limit of ids, titles and contents of one user, in bytes.
    static let maximumBytes = 16 << 20
    /// The limit of all users, in bytes.
    static let maximumBytesInAll = 256 << 20

    static let isFull = ResponseError.busy(
        "You have \(FavoriteList.maximum) favorites, the limit.", hint: "Remove some, then add again.")
    static let isLarge = ResponseError.busy(
        "Your favorites would take more than \(maximumBytes >> 20) MiB, the limit.",
        hint: "Remove some with a long text, then add again.")
    static let allAreLarge = ResponseError.busy(
        "The favorites of all users would take more than \(maximumBytesInAll >> 20) MiB, the limit.",
        hint: "Remove some, or ask other users of this machine to, then add again.")
}

/// The number and the size of a user's favorites, or of all users' favorites.
struct FavoriteTotals {
    /// The row with the sum of all users, instead of a user id.
    static let all: Int64 = -1

    let items: Int
    let bytes: Int

    init(of uid: Int64, _ database: Database) throws {
        let sql = "SELECT items, bytes FROM favorite_totals WHERE uid = ?"
        (items, bytes) = try database.first(sql, [uid]) { ($0[0], $0[1]) } ?? (0, 0)
    }
}

extension Favorite {
    /// A checksum of the stored favorite.
    static func digest(kind: String, id: String, title: String, content: String?) -> OpaqueInteger {
        let hash = SipHash.hash(ofTexts: [kind, id, title, content ?? ""])
        return OpaqueInteger(columnValue: Int64(bitPattern: hash))
    }

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
