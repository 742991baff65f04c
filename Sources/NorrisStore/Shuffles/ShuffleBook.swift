package import NorrisProtocol

/// The shuffles of all users, and the last items that each user was served, in memory. ``FactStore/writeShuffles()``
/// writes the changes to `state.db`.
struct ShuffleBook {
    /// The maximum number of shuffles of one user and of all users; above it the least recently used shuffle is removed.
    static let maximumPerUser = 64
    static let maximum = 1_024
    /// The maximum number of users in memory; served items of further users are not recorded until the next write.
    static let maximumUsers = 4_096

    /// A user's shuffle for a filter; a row of `state.db`.
    struct Entry {
        let uid: Int64
        let filter: FactFilter
        var shuffle: Shuffle
        /// The name that replaced Chuck Norris in the last served fact.
        var name: String?
        var usedAt: Int64 = 0
    }

    /// An item that was served to a user.
    struct Served {
        enum Item {
            case hash(UInt64)
            case id(String)
        }

        let uid: Int64
        let kind: Favorite.Kind
        let item: Item
        let name: String?
        let usedAt: Int64
    }

    private struct User {
        /// The index of each shuffle in ``entries``.
        var entries: [FactFilter: Int] = [:]
        /// The last items that were served without a shuffle.
        var served: [Favorite.Kind: Served] = [:]
    }

    private(set) var entries: [Entry] = []
    /// -1 is the daemon, with the shuffle of the facts of the day.
    private var users: [Int64: User] = [:]
    /// The index of the last used shuffle.
    private var latest = 0
    /// Increases with every use.
    private var lastUse: Int64 = 0
    /// All uses up to this one are on disk.
    private var writtenUse: Int64 = 0

    /// The next fact of a user's shuffle; see ``Shuffle/next(_:from:without:)``.
    ///
    /// - Parameter filter: the filter of the shuffle.
    @inline(__always) mutating func next(
        _ index: Int, _ filter: FactFilter, from catalogue: FactCatalogue, without served: [UInt64] = []
    ) -> UInt32? { entries[index].shuffle.next(filter, from: catalogue, without: served) }

    /// The index of a user's shuffle for a filter, created if missing. Valid until the next call.
    @inline(__always) mutating func index(_ uid: Int64, _ filter: FactFilter) -> Int {
        if latest < entries.count, entries[latest].uid == uid, entries[latest].filter == filter { return latest }
        latest = findIndex(uid, filter)
        return latest
    }

    private mutating func findIndex(_ uid: Int64, _ filter: FactFilter) -> Int {
        users[uid]?.entries[filter]
            ?? add(Entry(uid: uid, filter: filter, shuffle: Shuffle(key: .random(in: .min ... .max))))
    }

    /// Adds a shuffle; above a limit in the place of the least recently used one.
    private mutating func add(_ entry: Entry) -> Int {
        let own = users[entry.uid]?.entries ?? [:]
        let isFull = own.count >= ShuffleBook.maximumPerUser
        let replaceable =
            isFull ? Array(own.values) : entries.count >= ShuffleBook.maximum ? Array(entries.indices) : []
        let index: Int
        if let oldest = replaceable.min(by: { entries[$0].usedAt < entries[$1].usedAt }) {
            index = oldest
            users[entries[index].uid]?.entries[entries[index].filter] = nil
            entries[index] = entry
        } else {
            index = entries.count
            entries.append(entry)
        }
        users[entry.uid, default: User()].entries[entry.filter] = index
        return index
    }

    /// Records that a shuffle served a fact.
    @inline(__always) mutating func note(_ index: Int, name: String?) {
        lastUse += 1
        entries[index].usedAt = lastUse
        entries[index].name = name
    }

    /// Records that an item was served without a shuffle.
    mutating func note(_ item: Served.Item, _ kind: Favorite.Kind, uid: Int64, name: String? = nil) {
        guard users.count < ShuffleBook.maximumUsers || users[uid] != nil else { return }
        lastUse += 1
        let served = Served(uid: uid, kind: kind, item: item, name: name, usedAt: lastUse)
        users[uid, default: User()].served[kind] = served
    }

    /// The items that a user was served since the start, or since the user was forgotten: the last one of each kind,
    /// newest first.
    func served(_ kinds: [Favorite.Kind], uid: Int64) -> [Served] {
        guard let user = users[uid] else { return [] }
        var served = user.served
        for index in user.entries.values where entries[index].usedAt > served[.fact]?.usedAt ?? 0 {
            guard let hash = entries[index].shuffle.last else { continue }
            served[.fact] = Served(
                uid: uid, kind: .fact, item: .hash(hash), name: entries[index].name, usedAt: entries[index].usedAt)
        }
        return served.values.filter { kinds.contains($0.kind) }.sorted { $0.usedAt > $1.usedAt }
    }

    // MARK: On disk

    struct Changes {
        var entries: [Entry] = []
        /// Oldest first.
        var served: [Served] = []
        fileprivate let lastUse: Int64
    }

    /// The changes since the last ``noteWritten(_:)``.
    var changes: Changes {
        let items = users.keys.filter { $0 >= 0 }.flatMap { served(Favorite.Kind.all, uid: $0) }
        return Changes(
            entries: entries.filter { $0.usedAt > writtenUse },
            served: items.filter { $0.usedAt > writtenUse }.sorted { $0.usedAt < $1.usedAt }, lastUse: lastUse)
    }

    /// Records that changes are on disk.
    mutating func noteWritten(_ changes: Changes) {
        writtenUse = max(writtenUse, changes.lastUse)
        let written = writtenUse
        users = users.filter { !$0.value.entries.isEmpty || $0.value.served.values.contains { $0.usedAt > written } }
    }

    /// Adds the stored shuffles, in any order.
    mutating func restore(_ stored: [Entry]) {
        for entry in stored {
            _ = add(entry)
            lastUse = max(lastUse, entry.usedAt)
        }
        writtenUse = lastUse
    }
}

/// The last item of a kind that was served to a user, for example to add it to the favorites.
package struct ServedItem: Sendable {
    package let kind: Favorite.Kind
    package let id: String
    /// The name that replaced Chuck Norris.
    package let name: String?
}

extension ShuffleBook.Entry {
    /// The stored shuffles of all users.
    static func all(_ database: Database) throws -> [ShuffleBook.Entry] {
        let sql = "SELECT uid, filter, shuffle, used_at FROM shuffles ORDER BY used_at DESC LIMIT ?"
        return try database.map(sql, [ShuffleBook.maximum]) { row -> ShuffleBook.Entry? in
            let (uid, usedAt): (UserID, SequenceNumber) = (row[0], row[3])
            guard let filter = FactFilter(key: row[1]), let shuffle = Shuffle(encoded: row[2]) else { return nil }
            return .init(uid: uid.columnValue, filter: filter, shuffle: shuffle, usedAt: usedAt.columnValue)
        }.compactMap { $0 }
    }

    /// Stores shuffles, and deletes the least recently used shuffles above the limits. Above the limit of all users a
    /// shuffle that would grow is not stored, and is lost with the process.
    static func write(_ entries: [ShuffleBook.Entry], _ database: Database) throws {
        for entry in entries {
            _ = try UserState.change(uid: entry.uid, database) { database in
                try database.execute(
                    """
                    INSERT INTO shuffles (uid, filter, shuffle, used_at) VALUES (?, ?, ?, ?)
                    ON CONFLICT (uid, filter) DO UPDATE SET shuffle = excluded.shuffle, used_at = excluded.used_at
                    """, [entry.uid, entry.filter.key, entry.shuffle.encoded, entry.usedAt])
            }
        }
        try database.execute(
            """
            DELETE FROM shuffles WHERE (uid, filter) IN (
                SELECT uid, filter FROM (
                    SELECT uid, filter, row_number() OVER (ORDER BY used_at DESC) AS number,
                        row_number() OVER (PARTITION BY uid ORDER BY used_at DESC) AS own
                    FROM shuffles
                ) WHERE number > ? OR own > ?
            )
            """, [ShuffleBook.maximum, ShuffleBook.maximumPerUser])
    }
}

extension ServedItem {
    /// Stores the item. Above the limit of all users, an item that would take more space is not stored.
    func write(uid: Int64, _ database: Database) throws {
        _ = try UserState.change(uid: uid, database) { database in
            try database.execute(
                """
                INSERT INTO served (uid, kind, id, name, number)
                VALUES (?, ?, ?, ?, (SELECT ifnull(max(number), 0) + 1 FROM served WHERE uid = ?))
                ON CONFLICT (uid, kind)
                    DO UPDATE SET id = excluded.id, name = excluded.name, number = excluded.number
                """, [uid, kind.rawValue, id, name, uid])
        }
    }
}
