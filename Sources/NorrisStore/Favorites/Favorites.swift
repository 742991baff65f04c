package import Logging
package import NorrisProtocol

/// What each user keeps, on the disk when a call returns.
package struct Favorites: Sendable {
    let databases: Databases
    let logger: Logger

    package init(databases: Databases, logger: Logger) {
        self.databases = databases
        self.logger = logger
    }

    /// Keeps an item for a user, as it is now; one that is kept already stays as it was.
    ///
    /// Of a GIF only id and title are kept.
    ///
    /// - Returns: whether it was not kept before.
    /// - Throws: `-32004` past a limit, `-32005` where the disk takes no writes.
    package func add(_ favorite: Favorite, uid: UInt32) async throws(ResponseError) -> Bool {
        try await databases.changeState(logger) { database in
            if try FavoriteRecord.isKept(favorite.kind, favorite.id, uid: uid, database) { return false }
            try Favorites.insert(favorite, uid: uid, database)
            return true
        }
    }

    package func contains(_ kind: Favorite.Kind, id: String, uid: UInt32) async throws(ResponseError) -> Bool {
        try await databases.read(.state, logger: logger) { try FavoriteRecord.isKept(kind, id, uid: uid, $0) }
    }

    /// - Returns: whether it was kept before.
    /// - Throws: `-32005` where the disk takes no writes; then it is still kept.
    package func remove(_ kind: Favorite.Kind, id: String, uid: UInt32) async throws(ResponseError) -> Bool {
        try await databases.changeState(logger) { database in
            try database.execute(
                sql: "DELETE FROM favorites WHERE uid = ? AND kind = ? AND id = ?",
                arguments: [Int64(uid), kind.rawValue, id]
            )
            return database.changesCount > 0
        }
    }

    /// A page of what a user keeps, newest first, with the facts and posts as they were.
    ///
    /// - Parameter kind: nil for all.
    /// - Throws: `-32602` for a cursor that is not of this list and user, `-32005` where the disk cannot be read.
    package func list(
        _ kind: Favorite.Kind? = nil, uid: UInt32, cursor: String?, limit: Int
    ) async throws(ResponseError) -> Page<Favorite> {
        let list = ["favorites", String(uid), kind?.rawValue ?? ""]
        return try await databases.read(.state, logger: logger) { database in
            let key = UInt64(bitPattern: try Favorites.cursorKey(database))
            return try FavoriteRecord.query(kind, uid: uid)
                .page(of: list, key: key, cursor: cursor, limit: limit, database, read: FavoriteRecord.item)
        }
    }

    /// The ids of GIFs that anybody keeps; none where the disk cannot be read.
    ///
    /// Each user's newest come first, then each user's second: whoever keeps a thousand pushes nobody else's out.
    package func gifIDs(limit: Int) async -> [String] {
        let ids = try? await databases.read(.state, logger: logger) { database in
            try String.fetchAll(
                database,
                sql: """
                    SELECT id FROM (
                        SELECT id, added_at,
                            row_number() OVER (PARTITION BY uid ORDER BY added_at DESC, number DESC) AS place
                        FROM favorites WHERE kind = 'gif'
                    ) GROUP BY id ORDER BY min(place), max(added_at) DESC, id LIMIT ?
                    """,
                arguments: [limit]
            )
        }
        return ids ?? []
    }

    /// Stores a favourite that is not stored yet.
    ///
    /// - Throws: `-32004` past a limit, which undoes the transaction.
    static func insert(_ favorite: Favorite, uid: UInt32, _ database: Database) throws {
        try FavoriteRecord.insert(favorite, uid: uid, database)
        // They count it already.
        let user = try FavoriteTotals(of: Int64(uid), database)
        if user.items > FavoriteList.maximum { throw isFull }
        if user.bytes > maximumBytes { throw isLarge }
        if try FavoriteTotals(of: FavoriteTotals.all, database).bytes > maximumBytesInAll { throw allAreLarge }
    }

    /// Of ids, titles and contents of one user, in bytes.
    static let maximumBytes = 16 << 20
    /// Of those of all users, in bytes.
    static let maximumBytesInAll = 256 << 20

    static let isFull = ResponseError.busy(
        "A user may keep \(FavoriteList.maximum) favorites, and that is reached.",
        hint: "Remove some, then add again."
    )
    static let isLarge = ResponseError.busy(
        "A user's favorites may take \(maximumBytes >> 20) MiB, and with this they would take more.",
        hint: "Remove some with a long text, then add again."
    )
    static let allAreLarge = ResponseError.busy(
        "The favorites of all users may take \(maximumBytesInAll >> 20) MiB, and with this they would take more.",
        hint: "Remove some, or ask other users of this machine to, then add again."
    )

    private static func cursorKey(_ database: Database) throws -> Int64 {
        // Put there by the migration that made the table.
        try Int64.fetchOne(database, sql: "SELECT key FROM cursor_keys WHERE list = 'favorites'") ?? 0
    }
}
