package import Logging
package import NorrisProtocol
import NorrisText

/// What each user searched for last, on the disk when a call returns.
package struct RecentSearches: Sendable {
    private let databases: Databases
    private let logger: Logger

    package init(databases: Databases, logger: Logger) {
        self.databases = databases
        self.logger = logger
    }

    /// Puts a search before the user's others. Nothing is written if it is the newest already, or a blank text.
    ///
    /// A disk that takes no writes is noted, and costs the search itself nothing.
    package func record(
        uid: UInt32, kind: RecentList.Search.Kind, query: String, at: Timestamp = .now()
    ) async {
        let query = RecentSearches.shown(query)
        guard !query.isEmpty else { return }
        _ = try? await databases.write(.state, logger: logger) { database in
            try RecentSearches.keep(Int64(uid), kind.rawValue, query, at.seconds, database)
        }
    }

    /// Newest first.
    ///
    /// - Throws: `-32005` where the disk cannot be read.
    package func list(uid: UInt32) async throws(ResponseError) -> [RecentList.Search] {
        try await databases.read(.state, logger: logger) { database in
            try Row.fetchAll(
                database,
                sql: "SELECT kind, query, at FROM recent_searches WHERE uid = ? ORDER BY number DESC",
                arguments: [Int64(uid)]
            ).map { row in
                RecentList.Search(
                    kind: RecentList.Search.Kind(rawValue: row[0]), query: row[1], at: Timestamp(seconds: row[2])
                )
            }
        }
    }

    /// Forgets a user's searches.
    ///
    /// - Returns: how many there were.
    /// - Throws: `-32005` where the disk takes no writes; then they are still there.
    package func clear(uid: UInt32) async throws(ResponseError) -> Int {
        try await databases.write(.state, logger: logger, throwing: ResponseError.self) { database in
            try database.execute(sql: "DELETE FROM recent_searches WHERE uid = ?", arguments: [Int64(uid)])
            return database.changesCount
        }
    }

    /// A query as the list shows it: searches that differ in case or in the space around them are one.
    private static func shown(_ query: String) -> String {
        sanitizedLine(sanitizedLine(query).lowercased())
    }

    private static func keep(
        _ uid: Int64, _ kind: String, _ query: String, _ at: Int64, _ database: Database
    ) throws {
        let isNewest = try Bool.fetchOne(
            database,
            sql: """
                SELECT kind = ? AND query = ? AND at = ? FROM recent_searches
                WHERE uid = ? ORDER BY number DESC LIMIT 1
                """,
            arguments: [kind, query, at, uid]
        )
        if isNewest == true { return }
        try database.execute(
            sql: "INSERT OR REPLACE INTO recent_searches (uid, kind, query, at) VALUES (?, ?, ?, ?)",
            arguments: [uid, kind, query, at]
        )
        // After the older one of a double has gone, so that a repeat never costs another search its place.
        try database.execute(
            sql: """
                DELETE FROM recent_searches WHERE uid = ? AND number NOT IN
                (SELECT number FROM recent_searches WHERE uid = ? ORDER BY number DESC LIMIT ?)
                """,
            arguments: [uid, uid, RecentList.maximum]
        )
    }
}
