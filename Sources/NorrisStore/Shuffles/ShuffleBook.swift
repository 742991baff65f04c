package import NorrisProtocol

/// The shuffles of all users, and their changes since the last write to `state.db`.
struct ShuffleBook {
    /// The maximum number of shuffles of one user and of all users; above it the least recently used shuffle is
    /// removed.
    static let maximumPerUser = 64
    static let maximum = 1_024
    /// The maximum number of items that were served without a shuffle and wait for the next write.
    static let maximumNoted = 4_096

    /// A user and a filter.
    struct Key: Hashable {
        /// -1 for the daemon's shuffle of facts of the day.
        let uid: Int64
        let filter: ShuffleFilter
    }

    /// A row of `state.db`.
    struct Record: Equatable {
        let key: Key
        let shuffle: [UInt8]
        let usedAt: SequenceNumber

        /// The shuffles of all users.
        static func all(_ database: Database) throws -> [Record] {
            let sql = "SELECT uid, filter, shuffle, used_at FROM shuffles ORDER BY used_at DESC LIMIT ?"
            return try database.map(sql, [ShuffleBook.maximum]) { row -> Record? in
                let key = ShuffleFilter(key: row[1]).map { Key(uid: (row[0] as UserID).columnValue, filter: $0) }
                return key.map { Record(key: $0, shuffle: row[2], usedAt: row[3]) }
            }.compactMap { $0 }
        }

        /// Stores shuffles, and deletes the least recently used shuffles above the limits. Above the limit of all users
        /// a shuffle that would grow is not stored, and is lost with the process.
        static func write(_ records: [Record], _ database: Database) throws {
            guard !records.isEmpty else { return }
            for record in records {
                _ = try UserState.change(uid: record.key.uid, database) { database in
                    try database.execute(
                        """
                        INSERT INTO shuffles (uid, filter, shuffle, used_at) VALUES (?, ?, ?, ?)
                        ON CONFLICT (uid, filter) DO UPDATE SET shuffle = excluded.shuffle, used_at = excluded.used_at
                        """, [record.key.uid, record.key.filter.key, record.shuffle, record.usedAt])
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

    /// A shuffle in the book; a class, so that a request finds it once and changes it in place.
    final class Entry {
        let key: Key
        // Allocated by the initializer and freed by the deinitializer, and used under the store's lock. Not a variable
        // of this class, whose accesses the runtime would check at each draw.
        private let storage: UnsafeMutablePointer<Shuffle>
        /// The ordinals that were drawn for a request that could not be served; the next request uses them.
        var drawn: [UInt32] = []
        /// The filter's lists, as positions in ``FactIndex/lists``.
        let lists: [Int]
        fileprivate var usedAt: SequenceNumber
        /// The name that replaced Chuck Norris in the last served fact.
        fileprivate var name: String?
        /// Whether the shuffle has changed since the last write.
        fileprivate var isChanged = false
        /// Whether ``shuffle`` is prepared for its lists, which must all be in memory.
        var isAttached: Bool

        init(key: Key, shuffle: Shuffle, lists: [Int], usedAt: SequenceNumber = SequenceNumber(), isAttached: Bool) {
            self.key = key
            storage = .allocate(capacity: 1)
            storage.initialize(to: shuffle)
            self.lists = lists
            self.usedAt = usedAt
            self.isAttached = isAttached
        }

        deinit {
            storage.deinitialize(count: 1)
            storage.deallocate()
        }

        var shuffle: Shuffle { storage.pointee }

        @inline(__always) func change<Result>(_ body: (inout Shuffle) -> Result) -> Result { body(&storage.pointee) }
    }

    /// The shuffles of one user.
    private final class User {
        let uid: Int64
        var shuffles: [ShuffleFilter: Entry] = [:]
        /// The last used shuffle, which is probably used next.
        var latest: Entry?

        init(uid: Int64) { self.uid = uid }

        /// The last use of the least recently used shuffle.
        var leastUse: SequenceNumber { shuffles.values.map(\.usedAt).min() ?? SequenceNumber() }
    }

    private var users: [Int64: User] = [:]
    /// The last user of a shuffle.
    private var latest: User?
    private var count = 0
    private var changed: [Entry] = []
    /// The items that were served without a shuffle since the last write.
    private var noted: [ServedItem.Key: Served] = [:]
    /// The result of ``takeChanges()`` that is not on disk yet.
    private var writing: [ServedItem.Key: Served] = [:]
    /// Increases with every use; begins after the stored uses.
    private var lastUse = SequenceNumber()

    /// An item that was served to a user. A fact of a shuffle is identified by its ordinal; its id is read on demand.
    struct Served {
        enum What {
            case ordinal(UInt32)
            case id(String)
        }

        let key: ServedItem.Key
        let what: What
        var name: String?
        let usedAt: SequenceNumber
    }

    var hasChanges: Bool { !changed.isEmpty || !noted.isEmpty }

    /// Adds a stored shuffle.
    mutating func restore(_ entry: Entry) {
        let user = user(entry.key.uid)
        guard user.shuffles.updateValue(entry, forKey: entry.key.filter) == nil else { return }
        count += 1
        lastUse = max(lastUse, entry.usedAt)
    }

    /// The shuffle of a user for a filter.
    ///
    /// - Parameter make: makes one where there is none; past a limit the least recently used one is forgotten.
    mutating func entry(_ uid: Int64, _ filter: ShuffleFilter, make: (Key) -> Entry) -> Entry {
        let user = user(uid)
        if let latest = user.latest, latest.key.filter == filter { return latest }
        if let entry = user.shuffles[filter] {
            user.latest = entry
            return entry
        }
        let entry = make(Key(uid: uid, filter: filter))
        if user.shuffles.count >= ShuffleBook.maximumPerUser {
            forgetOldest(of: user)
        } else if count >= ShuffleBook.maximum {
            let oldest = users.values.filter { !$0.shuffles.isEmpty }.min { ($0.leastUse < $1.leastUse) }
            if let oldest { forgetOldest(of: oldest) }
        }
        // The user's only shuffle may have been removed.
        users[uid] = user
        user.shuffles[filter] = entry
        user.latest = entry
        count += 1
        return entry
    }

    /// Records that a shuffle served a fact.
    @inline(__always) mutating func note(_ entry: Entry, name: String?) {
        lastUse = lastUse.advanced(by: 1)
        entry.usedAt = lastUse
        entry.name = name
        if !entry.isChanged {
            entry.isChanged = true
            changed.append(entry)
        }
    }

    /// Records that an item was served without a shuffle.
    mutating func note(_ key: ServedItem.Key, _ what: Served.What, name: String? = nil) {
        guard noted.count < ShuffleBook.maximumNoted || noted[key] != nil else { return }
        lastUse = lastUse.advanced(by: 1)
        noted[key] = Served(key: key, what: what, name: name, usedAt: lastUse)
    }

    /// The last item that was served to a user since the last write.
    func served(_ key: ServedItem.Key) -> Served? {
        let fromShuffles = key.kind == .fact ? users[key.uid]?.shuffles.values.lazy.compactMap(served) : nil
        let others = [noted[key], writing[key]].compactMap { $0 }
        return ((fromShuffles.map(Array.init) ?? []) + others).max { $0.usedAt < $1.usedAt }
    }

    /// The last fact that a shuffle served; nil if it is written.
    private func served(_ entry: Entry) -> Served? {
        guard entry.isChanged, entry.key.uid >= 0, let ordinal = entry.shuffle.last else { return nil }
        return Served(
            key: .init(uid: entry.key.uid, kind: .fact), what: .ordinal(ordinal), name: entry.name, usedAt: entry.usedAt
        )
    }

    /// Removes all shuffles, because the facts were replaced. Stored shuffles restart at their next use.
    mutating func removeAll() { (users, latest, count, changed, noted, writing) = ([:], nil, 0, [], [:], [:]) }

    /// Returns the changes since the last call.
    mutating func takeChanges() -> (records: [Record], served: [Served]) {
        var records: [Record] = []
        var latest = noted
        for entry in changed where users[entry.key.uid]?.shuffles[entry.key.filter] === entry {
            if let served = served(entry), latest[served.key].map({ $0.usedAt < served.usedAt }) ?? true {
                latest[served.key] = served
            }
            entry.isChanged = false
            let shuffle = entry.shuffle.encoded(with: entry.drawn)
            records.append(Record(key: entry.key, shuffle: shuffle, usedAt: entry.usedAt))
        }
        (changed, noted, writing) = ([], [:], latest)
        return (records, latest.values.sorted { $0.usedAt < $1.usedAt })
    }

    /// Records that the result of ``takeChanges()`` is on disk.
    mutating func noteWritten() { writing = [:] }

    /// Restores changes that could not be written, so that the next ``takeChanges()`` returns them again.
    mutating func restoreChanges(_ records: [Record], _ served: [Served]) {
        for record in records {
            guard let entry = users[record.key.uid]?.shuffles[record.key.filter], !entry.isChanged else { continue }
            entry.isChanged = true
            changed.append(entry)
        }
        for served in served.suffix(ShuffleBook.maximumNoted) where noted[served.key] == nil {
            noted[served.key] = served
        }
        writing = [:]
    }

    private mutating func user(_ uid: Int64) -> User {
        if let latest, latest.uid == uid { return latest }
        let user = users[uid] ?? User(uid: uid)
        users[uid] = user
        latest = user
        return user
    }

    private mutating func forgetOldest(of user: User) {
        guard let oldest = user.shuffles.min(by: { $0.value.usedAt < $1.value.usedAt })?.key else { return }
        user.shuffles[oldest] = nil
        if user.latest?.key.filter == oldest { user.latest = nil }
        if user.shuffles.isEmpty {
            users[user.uid] = nil
            if latest === user { latest = nil }
        }
        count -= 1
    }
}

/// The last item of a kind that was served to a user, for example to add it to the favorites.
package struct ServedItem: Sendable {
    /// A user and a kind.
    struct Key: Hashable {
        let uid: Int64
        let kind: Favorite.Kind
    }

    let key: Key
    package let id: String
    /// The name that replaced Chuck Norris.
    package let name: String?

    package var kind: Favorite.Kind { key.kind }

    /// Stores the item. Above the limit of all users, an item that would take more space is not stored.
    func write(_ database: Database) throws {
        _ = try UserState.change(uid: key.uid, database) { database in
            try database.execute(
                """
                INSERT INTO served (uid, kind, id, name, number)
                VALUES (?, ?, ?, ?, (SELECT ifnull(max(number), 0) + 1 FROM served WHERE uid = ?))
                ON CONFLICT (uid, kind)
                    DO UPDATE SET id = excluded.id, name = excluded.name, number = excluded.number
                """, [key.uid, key.kind.rawValue, id, name, key.uid])
        }
    }
}
