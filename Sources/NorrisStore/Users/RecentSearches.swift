package import NorrisProtocol
import NorrisText
import NorrisThreads
import Synchronization

/// The recent searches of each user. A search is recorded in memory, and ``write()`` stores it, so that no search waits
/// for a disk.
package final class RecentSearches: Sendable {
    /// The maximum number of users with searches in memory; searches of further users are not recorded.
    private static let maximumUsers = 4_096

    private let databases: Databases
    /// The searches that are not on disk, newest first, at most ``RecentList/maximum`` of each user.
    private let unwritten = Mutex<[UInt32: [RecentList.Search]]>([:])
    private let changed = Callback()

    package init(databases: Databases) { self.databases = databases }

    /// Calls the body on any thread when ``write()`` has something to write.
    package func onChange(_ body: @escaping @Sendable () -> Void) { changed.set(body) }

    /// Adds a search as the user's newest. A blank search is not recorded.
    package func record(uid: UInt32, kind: RecentList.Search.Kind, query: String, at: Timestamp = .now()) {
        // Case and surrounding space do not distinguish searches.
        let searched = sanitizedLine(sanitizedLine(query).lowercased())
        let query = String(String.UnicodeScalarView(searched.unicodeScalars.prefix(SearchQuery.maximumLength)))
        guard !query.isEmpty else { return }
        unwritten.withLock { users in
            guard users.count < RecentSearches.maximumUsers || users[uid] != nil else { return }
            users[uid] = RecentSearches.joined([.init(kind: kind, query: query, at: at)], users[uid] ?? [])
        }
        // Each time, because a write under way has already read the searches.
        changed.call()
    }

    /// Newer searches before older ones, without repetitions.
    private static func joined(
        _ newer: [RecentList.Search], _ older: [RecentList.Search]
    ) -> [RecentList.Search] {
        let rest = older.filter { old in
            !newer.contains { $0.kind == old.kind && $0.query.hasSameBytes(as: old.query) }
        }
        return Array((newer + rest).prefix(RecentList.maximum))
    }

    /// Newest first.
    package func list(uid: UInt32) async throws(ResponseError) -> [RecentList.Search] {
        // In this order, because a write moves searches from memory to the disk.
        let unwritten = unwritten.withLock { $0[uid] ?? [] }
        let stored = try await databases.read(databases.state) { try RecentSearches.stored(uid: Int64(uid), $0) }
        return RecentSearches.joined(unwritten, stored)
    }

    private static func stored(uid: Int64, _ database: Database) throws -> [RecentList.Search] {
        let sql = "SELECT searches FROM recent_searches WHERE uid = ?"
        return try database.first(sql, [uid]) { try $0.content(0) } ?? []
    }

    /// Removes a user's searches.
    ///
    /// - Returns: the number of searches.
    /// - Throws: `-32005` if the disk accepts no writes; then the searches stay.
    package func clear(uid: UInt32) async throws(ResponseError) -> Int {
        try await databases.changeState { [self] database in
            let stored = try RecentSearches.stored(uid: Int64(uid), database)
            try database.execute("DELETE FROM recent_searches WHERE uid = ?", [Int64(uid)])
            let newer = unwritten.withLock { $0[uid] ?? [] }
            // On the connection's thread, as in write(), so that no write stores a removed search.
            database.afterCommit { [self] in unwritten.withLock { if $0[uid] == newer { $0[uid] = nil } } }
            return RecentSearches.joined(newer, stored).count
        }
    }

    /// Stores the recorded searches. Above the limit of all users, the searches of a new user are not stored.
    ///
    /// - Returns: false if the write failed; the next call tries again.
    @discardableResult package func write() async -> Bool {
        guard unwritten.withLock({ !$0.isEmpty }) else { return true }
        do {
            try await databases.write(databases.state, isCancellable: false) { [self] database in
                let users = unwritten.withLock { $0 }
                for (uid, newer) in users where try !UserState.isFull(for: Int64(uid), database) {
                    let searches = RecentSearches.joined(newer, try RecentSearches.stored(uid: Int64(uid), database))
                    try database.execute(
                        "REPLACE INTO recent_searches (uid, searches) VALUES (?, ?)", [Int64(uid), searches.jsonText])
                }
                database.afterCommit {
                    self.unwritten.withLock { left in
                        for (uid, written) in users where left[uid] == written { left[uid] = nil }
                    }
                }
            }
            return true
        } catch {
            return false
        }
    }
}
