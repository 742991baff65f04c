package import NorrisProtocol

/// The shuffles of all users, and the last items that each user was served, in memory. ``FactStore/writeShuffles()``
/// writes the changes to `state.db`.
struct ShuffleBook {
    /// The maximum number of shuffles of one user and of all users; above it the least recently used shuffle is removed.
    static let maximumPerUser = 64
    static let maximum = 1_024
    /// The maximum number of users in memory; served items of further users are not recorded until the next write.
    static let maximumUsers = 4_096

    /// A shuffle; a class, so that a request finds it once and changes it in place.
    final class Entry {
        let uid: Int64
        let filter: FactFilter
        var shuffle: Shuffle
        /// The name that replaced Chuck Norris in the last served fact.
        fileprivate var name: String?
        fileprivate var usedAt: Int64

        init(uid: Int64, _ filter: FactFilter, _ shuffle: Shuffle, usedAt: Int64 = 0) {
            (self.uid, self.filter, self.shuffle, self.usedAt) = (uid, filter, shuffle, usedAt)
        }
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

    private final class User {
        let uid: Int64
        var entries: [FactFilter: Entry] = [:]
        /// The last used entry.
        var latest: Entry?
        /// The last items that were served without a shuffle.
        var served: [Favorite.Kind: Served] = [:]

        init(uid: Int64) { self.uid = uid }
    }

    /// -1 for the daemon's shuffle of facts of the day.
    private var users: [Int64: User] = [:]
    private var latest: User?
    private var count = 0
    /// Increases with every use.
    private var lastUse: Int64 = 0
    /// All uses up to this one are on disk.
    private var writtenUse: Int64 = 0

    var hasChanges: Bool { lastUse > writtenUse }

    /// The shuffle of a user for a filter, created if missing.
    @inline(__always) mutating func entry(_ uid: Int64, _ filter: FactFilter) -> Entry {
        if let entry = latest?.latest, entry.uid == uid, entry.filter == filter { return entry }
        return findEntry(uid, filter)
    }

    private mutating func findEntry(_ uid: Int64, _ filter: FactFilter) -> Entry {
        let user = user(uid)
        if let entry = user.entries[filter] {
            user.latest = entry
            return entry
        }
        let entry = Entry(uid: uid, filter, Shuffle(key: .random(in: .min ... .max)))
        add(entry, to: user)
        user.latest = entry
        return entry
    }

    private mutating func user(_ uid: Int64) -> User {
        let user = users[uid] ?? User(uid: uid)
        users[uid] = user
        latest = user
        return user
    }

    private mutating func add(_ entry: Entry, to user: User) {
        user.entries[entry.filter] = entry
        count += 1
        let isFull = user.entries.count > ShuffleBook.maximumPerUser
        guard isFull || count > ShuffleBook.maximum else { return }
        let others = (isFull ? [user] : Array(users.values)).flatMap(\.entries.values).filter { $0 !== entry }
        guard let oldest = others.min(by: { $0.usedAt < $1.usedAt }), let owner = users[oldest.uid] else { return }
        owner.entries[oldest.filter] = nil
        if owner.latest === oldest { owner.latest = nil }
        count -= 1
    }

    /// Records that a shuffle served a fact.
    @inline(__always) mutating func note(_ entry: Entry, name: String?) {
        lastUse += 1
        entry.usedAt = lastUse
        entry.name = name
    }

    /// Records that an item was served without a shuffle.
    mutating func note(_ item: Served.Item, _ kind: Favorite.Kind, uid: Int64, name: String? = nil) {
        guard users.count < ShuffleBook.maximumUsers || users[uid] != nil else { return }
        lastUse += 1
        user(uid).served[kind] = Served(uid: uid, kind: kind, item: item, name: name, usedAt: lastUse)
    }

    /// The items that a user was served since the start, or since the user was forgotten: the last one of each kind,
    /// newest first.
    func served(_ kinds: [Favorite.Kind], uid: Int64) -> [Served] {
        users[uid].map { user in served(user).filter { kinds.contains($0.kind) } } ?? []
    }

    private func served(_ user: User) -> [Served] {
        var served = user.served
        for entry in user.entries.values where entry.usedAt > served[.fact]?.usedAt ?? 0 && entry.uid >= 0 {
            guard let hash = entry.shuffle.last else { continue }
            served[.fact] = Served(
                uid: user.uid, kind: .fact, item: .hash(hash), name: entry.name, usedAt: entry.usedAt)
        }
        return served.values.sorted { $0.usedAt > $1.usedAt }
    }

    // MARK: On disk

    /// A shuffle as a row of `state.db`.
    struct Record {
        let uid: Int64
        let filter: FactFilter
        let shuffle: [UInt8]
        let usedAt: Int64
    }

    struct Changes {
        var records: [Record] = []
        /// Oldest first.
        var served: [Served] = []
        fileprivate let lastUse: Int64
    }

    /// The changes since the last ``noteWritten(_:)``.
    var changes: Changes {
        var changes = Changes(lastUse: lastUse)
        for user in users.values {
            for entry in user.entries.values where entry.usedAt > writtenUse {
                changes.records.append(
                    Record(
                        uid: entry.uid, filter: entry.filter, shuffle: entry.shuffle.encoded, usedAt: entry.usedAt))
            }
            changes.served += served(user).filter { $0.usedAt > writtenUse }
        }
        changes.served.sort { $0.usedAt < $1.usedAt }
        return changes
    }

    /// Records that changes are on disk.
    mutating func noteWritten(_ changes: Changes) {
        writtenUse = max(writtenUse, changes.lastUse)
        let written = writtenUse
        users = users.filter { !$0.value.entries.isEmpty || $0.value.served.values.contains { $0.usedAt > written } }
        latest = nil
    }

    /// Adds the stored shuffles, in any order.
    mutating func restore(_ records: [Record]) {
        for record in records {
            guard let shuffle = Shuffle(encoded: record.shuffle) else { continue }
            add(Entry(uid: record.uid, record.filter, shuffle, usedAt: record.usedAt), to: user(record.uid))
            lastUse = max(lastUse, record.usedAt)
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

extension ShuffleBook.Record {
    /// The stored shuffles of all users.
    static func all(_ database: Database) throws -> [ShuffleBook.Record] {
        let sql = "SELECT uid, filter, shuffle, used_at FROM shuffles ORDER BY used_at DESC LIMIT ?"
        return try database.map(sql, [ShuffleBook.maximum]) { row -> ShuffleBook.Record? in
            let usedAt = (row[3] as SequenceNumber).columnValue
            return FactFilter(key: row[1]).map { filter in
                ShuffleBook.Record(
                    uid: (row[0] as UserID).columnValue, filter: filter, shuffle: row[2], usedAt: usedAt)
            }
        }.compactMap { $0 }
    }

    /// Stores shuffles, and deletes the least recently used shuffles above the limits. Above the limit of all users a
    /// shuffle that would grow is not stored, and is lost with the process.
    static func write(_ records: [ShuffleBook.Record], _ database: Database) throws {
        for record in records {
            _ = try UserState.change(uid: record.uid, database) { database in
                try database.execute(
                    """
                    INSERT INTO shuffles (uid, filter, shuffle, used_at) VALUES (?, ?, ?, ?)
                    ON CONFLICT (uid, filter) DO UPDATE SET shuffle = excluded.shuffle, used_at = excluded.used_at
                    """, [record.uid, record.filter.key, record.shuffle, record.usedAt])
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
