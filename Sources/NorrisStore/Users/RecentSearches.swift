package import NorrisProtocol
import NorrisText

/// The recent searches of each user. Changes are on disk when a call returns.
package struct RecentSearches: Sendable {
    private let databases: Databases

    package init(databases: Databases) { self.databases = databases }

    /// Adds a search as the user's newest. Nothing is written for a blank search, or a repetition of the newest.
    ///
    /// A failed write is recorded, and the search itself succeeds. Above the limit of all users the search is not
    /// recorded.
    package func record(uid: UInt32, kind: RecentList.Search.Kind, query: String, at: Timestamp = .now()) async {
        // Case and surrounding space do not distinguish searches.
        let searched = sanitizedLine(sanitizedLine(query).lowercased())
        let query = String(String.UnicodeScalarView(searched.unicodeScalars.prefix(SearchWords.maximumLength)))
        guard !query.isEmpty else { return }
        _ = try? await databases.write(.state) { database in
            let (uid, kind) = (Int64(uid), kind.rawValue)
            let isNewest = try Bool.fetchOne(
                database,
                """
                SELECT kind = ? AND query = ? AND at = ? FROM recent_searches
                WHERE uid = ? ORDER BY number DESC LIMIT 1
                """, [kind, query, at, uid])
            if isNewest == true { return }
            _ = try UserState.change(uid: uid, database) { database in
                // Deleted first, so that a repeated search displaces no other.
                try database.execute(
                    "DELETE FROM recent_searches WHERE uid = ? AND kind = ? AND query = ?", [uid, kind, query])
                try database.execute(
                    "INSERT INTO recent_searches (uid, kind, query, at) VALUES (?, ?, ?, ?)", [uid, kind, query, at])
                try database.execute(
                    """
                    DELETE FROM recent_searches WHERE uid = ? AND number NOT IN
                    (SELECT number FROM recent_searches WHERE uid = ? ORDER BY number DESC LIMIT ?)
                    """, [uid, uid, RecentList.maximum])
            }
        }
    }

    /// Newest first.
    package func list(uid: UInt32) async throws(ResponseError) -> [RecentList.Search] {
        try await databases.read(.state) { database in
            let sql = "SELECT kind, query, at FROM recent_searches WHERE uid = ? ORDER BY number DESC"
            return try database.map(sql, [Int64(uid)]) { row in
                RecentList.Search(kind: RecentList.Search.Kind(rawValue: row[0]), query: row[1], at: row[2])
            }
        }
    }

    /// Removes a user's searches.
    ///
    /// - Returns: the number of searches.
    /// - Throws: `-32005` if the disk accepts no writes; then the searches stay.
    package func clear(uid: UInt32) async throws(ResponseError) -> Int {
        try await databases.writeState { database in
            try database.execute("DELETE FROM recent_searches WHERE uid = ?", [Int64(uid)])
            return database.changesCount
        }
    }
}
