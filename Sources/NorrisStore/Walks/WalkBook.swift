/// All walks of all users, and which of them have moved since they were last written down.
struct WalkBook {
    /// The most walks a user has; past it the one not used for longest is forgotten.
    static let maximumPerUser = 64

    /// Whose walk, and which.
    struct Key: Hashable {
        /// -1 for the daemon's own walk, that of the facts of the day.
        let uid: Int64
        let filter: WalkFilter
    }

    /// A walk as `state.db` keeps it.
    struct Record: Equatable {
        let key: Key
        /// nil for a walk that was forgotten.
        let position: [UInt8]?
        let usedAt: Int64
    }

    private struct Entry {
        var walk: Walk
        var usedAt: Int64
    }

    private var users: [Int64: [WalkFilter: Entry]] = [:]
    private var moved: Set<Key> = []
    private var forgotten: Set<Key> = []
    /// Rises with every use, so that "oldest" needs no clock; starts behind what was read from the disk.
    private var lastUse: Int64 = 0

    /// Puts back a walk that was written down.
    mutating func restore(_ walk: Walk, key: Key, usedAt: Int64) {
        users[key.uid, default: [:]][key.filter] = Entry(walk: walk, usedAt: usedAt)
        lastUse = max(lastUse, usedAt)
    }

    func hasWalk(_ key: Key) -> Bool {
        users[key.uid]?[key.filter] != nil
    }

    /// Adds a walk where there is none; the one not used for longest makes room.
    mutating func begin(_ walk: Walk, key: Key) {
        makeRoom(for: key)
        users[key.uid, default: [:]][key.filter] = Entry(walk: walk, usedAt: lastUse)
    }

    /// Moves a walk that there is.
    mutating func move<Result>(_ key: Key, _ body: (inout Walk) -> Result) -> Result {
        lastUse += 1
        moved.insert(key)
        // In place through both dictionaries: no copy of a walk.
        let lastUse = lastUse
        return { (entry: inout Entry?) -> Result in
            guard entry != nil else { preconditionFailure("A walk is begun before it is moved") }
            entry?.usedAt = lastUse
            return body(&entry!.walk)  // Not nil: guarded two lines above.
        }(&users[key.uid, default: [:]][key.filter])
    }

    /// What is to be written since the last call.
    mutating func takeChanges() -> [Record] {
        var records = forgotten.map { Record(key: $0, position: nil, usedAt: 0) }
        for key in moved {
            guard let entry = users[key.uid]?[key.filter] else { continue }
            records.append(Record(key: key, position: entry.walk.position.encoded, usedAt: entry.usedAt))
        }
        moved = []
        forgotten = []
        return records
    }

    /// Marks what could not be written, so that the next call of ``takeChanges()`` gives it again.
    mutating func giveBack(_ records: [Record]) {
        for record in records {
            if record.position != nil { moved.insert(record.key) } else { forgotten.insert(record.key) }
        }
    }

    var hasChanges: Bool { !moved.isEmpty || !forgotten.isEmpty }

    private mutating func makeRoom(for key: Key) {
        forgotten.remove(key)
        guard let walks = users[key.uid], walks.count >= WalkBook.maximumPerUser,
            let oldest = walks.min(by: { $0.value.usedAt < $1.value.usedAt })?.key
        else { return }
        users[key.uid]?[oldest] = nil
        let gone = Key(uid: key.uid, filter: oldest)
        moved.remove(gone)
        forgotten.insert(gone)
    }
}
