package import NorrisProtocol
import NorrisSystem

/// A user's order of the facts of a filter, which serves every matching fact once before it repeats any fact.
///
/// A fact's place in the order is a keyed hash of its id. So the key and the place of the last fact describe the
/// shuffle, whatever facts arrive, change or go. A cycle is one pass through the order; the next cycle has another key.
struct Shuffle {
    private var key: UInt64
    /// The place of the last fact that the cycle has passed; nil at the beginning.
    private var place: UInt64?
    /// Hashes of the ids that the cycle has passed without serving, because the same reply contains them from the cycle
    /// before, or because they were the last of that cycle. They are served at the end of the cycle. At most as many as
    /// facts in a reply.
    private var deferred: [UInt64] = []
    /// The hash of the id of the last served fact.
    private(set) var last: UInt64?
    private var window = Window()

    /// The next facts of the order, from one catalogue. Sorting a part of the facts at a time takes a few microseconds,
    /// and a few kilobytes for each shuffle, however many facts there are.
    private struct Window {
        /// ``FactCatalogue/version``; 0 for none.
        var version = 0
        /// The facts in their order: the place in the upper bits, the number of the fact in the lower ones, because one
        /// number is sorted faster than two.
        var facts: [UInt64] = []
        /// The index of the next fact.
        var next = 0
        /// The last place of the window.
        var end: UInt64?
        /// The number of places in a window.
        var width: UInt64 = .max
    }

    /// Enough for the numbers of ``FactCatalogue/maximumCount`` facts.
    private static let numberMask: UInt64 = 1 << 18 - 1

    /// The place of a fact, a keyed hash of its id.
    private func place(_ hash: UInt64) -> UInt64 { mix(hash ^ key) & ~Shuffle.numberMask }

    init(key: UInt64) { self.key = key }

    /// The next fact; nil if the reply already contains all matching facts.
    ///
    /// - Parameter served: the hashes of the facts in the reply.
    mutating func next(_ filter: FactFilter, from catalogue: FactCatalogue, without served: [UInt64] = []) -> UInt32? {
        if let number = nextInCycle(filter, catalogue, served) { return number }
        // The rest of the cycle is in the reply, so the reply contains everything.
        guard deferred.isEmpty else { return nil }
        let end = self
        (key, place, window.end) = (mix(key), nil, nil)
        if let number = nextInCycle(filter, catalogue, served) { return number }
        self = end
        return nil
    }

    private mutating func nextInCycle(
        _ filter: FactFilter, _ catalogue: FactCatalogue, _ served: [UInt64]
    ) -> UInt32? {
        while let number = nextInOrder(filter, catalogue) {
            let hash = catalogue.hash(number)
            // Only the first fact of a cycle can be the last served one.
            if hash == last || served.contains(hash) {
                deferred.append(hash)
            } else if deferred.isEmpty || !deferred.contains(hash) {
                last = hash
                return number
            }
        }
        // A fact that was removed, or no longer matches, is skipped.
        deferred.removeAll { hash in catalogue.number(ofHash: hash).map { !catalogue.matches($0, filter) } ?? true }
        guard let index = deferred.firstIndex(where: { !served.contains($0) }) else { return nil }
        last = deferred.remove(at: index)
        return last.flatMap(catalogue.number(ofHash:))
    }

    @inline(__always) private mutating func nextInOrder(_ filter: FactFilter, _ catalogue: FactCatalogue) -> UInt32? {
        if window.next == window.facts.count || window.version != catalogue.version { fillWindow(filter, catalogue) }
        guard window.next < window.facts.count else { return nil }
        let fact = window.facts[window.next]
        window.next += 1
        place = fact & ~Shuffle.numberMask
        return UInt32(truncatingIfNeeded: fact & Shuffle.numberMask)
    }

    /// The number of facts in a window, and the fraction of all matching facts if that is more.
    private static let windowSize = 512
    private static let windowFraction = 64

    private mutating func fillWindow(_ filter: FactFilter, _ catalogue: FactCatalogue) {
        if window.version != catalogue.version {
            var count = 0
            catalogue.forEach(filter) { _, _ in count += 1 }
            let size = max(Shuffle.windowSize, count / Shuffle.windowFraction)
            let width = count <= size ? .max : .max / UInt64(count) * UInt64(size)
            window = Window(version: catalogue.version, end: place, width: width)
        }
        window.next = 0
        window.facts.removeAll(keepingCapacity: true)
        while window.facts.isEmpty, window.end != .max {
            // The places up to and including `passed` are in the past.
            let passed = window.end
            let (sum, isBeyond) = (passed ?? 0).addingReportingOverflow(window.width)
            let end = isBeyond ? .max : sum
            catalogue.forEach(filter) { number, hash in
                let place = place(hash)
                guard place <= end, passed.map({ place > $0 }) ?? true else { return }
                window.facts.append(place | UInt64(number))
            }
            window.end = end
        }
        window.facts.sort()
    }
}

extension Shuffle {
    /// The stored form: a byte with the version of the form, then little-endian words of 64 bits. The place and the
    /// last fact each follow a word that is 0 if there is none.
    var encoded: [UInt8] {
        let words = [key, place == nil ? 0 : 1, place ?? 0, last == nil ? 0 : 1, last ?? 0] + deferred
        return words.reduce(into: [3]) { bytes, word in withUnsafeBytes(of: word.littleEndian) { bytes += $0 } }
    }

    /// nil for invalid bytes.
    init?(encoded bytes: [UInt8]) {
        guard bytes.first == 3, bytes.count >= 41, bytes.count % 8 == 1 else { return nil }
        let words = stride(from: 1, to: bytes.count, by: 8).map { start in
            bytes.withUnsafeBytes { UInt64(littleEndian: $0.loadUnaligned(fromByteOffset: start, as: UInt64.self)) }
        }
        key = words[0]
        place = words[1] == 0 ? nil : words[2]
        last = words[3] == 0 ? nil : words[4]
        // No reply has more facts, and none has a fact twice.
        for hash in words[5...].prefix(100) where !deferred.contains(hash) { deferred.append(hash) }
    }
}

/// The shuffles of all users, and the last items that each user was served, in memory. ``FactStore/writeShuffles()``
/// writes the changes to `state.db`.
struct ShuffleBook {
    /// The maximum number of shuffles of one user and of all users; above it the least recently used shuffle is
    /// removed.
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
    /// The last use before the start. The item of an earlier use is only on disk, with its name.
    private var restoredUse: Int64 = 0
    /// All uses up to this one are on disk.
    private var writtenUse: Int64 = 0
    /// The number of calls of ``noteLost()``, so that a write under way does not count afterwards.
    private var losses = 0

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
        for index in user.entries.values where entries[index].usedAt > served[.fact]?.usedAt ?? restoredUse {
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
        fileprivate let losses: Int
    }

    /// The changes since the last ``noteWritten(_:)``.
    var changes: Changes {
        let items = users.keys.filter { $0 >= 0 }.flatMap { served(Favorite.Kind.all, uid: $0) }
        return Changes(
            entries: entries.filter { $0.usedAt > writtenUse },
            served: items.filter { $0.usedAt > writtenUse }.sorted { $0.usedAt < $1.usedAt }, lastUse: lastUse,
            losses: losses)
    }

    /// Makes ``changes`` contain everything, because the file was replaced.
    mutating func noteLost() {
        (restoredUse, writtenUse) = (0, -1)
        losses += 1
    }

    /// Records that changes are on disk.
    mutating func noteWritten(_ changes: Changes) {
        guard changes.losses == losses else { return }
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
        (restoredUse, writtenUse) = (lastUse, lastUse)
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
        return try database.map(sql, [ShuffleBook.maximum]) { row in
            guard let filter = FactFilter(key: try row[1]), let shuffle = Shuffle(encoded: try row[2]) else {
                throw row.damage("a shuffle")
            }
            return .init(uid: try row[0], filter: filter, shuffle: shuffle, usedAt: try row[3])
        }
    }

    /// Stores shuffles, and deletes the least recently used shuffles above the limits. Above the limit of all users,
    /// the shuffles of a new user are not stored, and are lost with the process.
    static func write(_ entries: [ShuffleBook.Entry], _ database: Database) throws {
        for entry in entries where try entry.uid < 0 || !UserState.isFull(for: entry.uid, database) {
            try database.execute(
                "REPLACE INTO shuffles (uid, filter, shuffle, used_at) VALUES (?, ?, ?, ?)",
                [entry.uid, entry.filter.key, entry.shuffle.encoded, entry.usedAt])
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
    /// Stores the item. Above the limit of all users, the items of a new user are not stored.
    func write(uid: Int64, _ database: Database) throws {
        if try UserState.isFull(for: uid, database) { return }
        let last: Int64? = try database.value("SELECT max(number) FROM served WHERE uid = ?", [uid])
        try database.execute(
            "REPLACE INTO served (uid, kind, id, name, number) VALUES (?, ?, ?, ?, ?)",
            [uid, kind.rawValue, id, name, (last ?? 0) + 1])
    }
}
