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

    /// A walk in the book. A class, so that a request finds it once and changes it in place.
    final class Entry {
        fileprivate let key: Key
        var walk: Walk
        fileprivate var usedAt: Int64
        /// Whether it has moved since it was last written down.
        fileprivate var isMoved = false

        fileprivate init(key: Key, walk: Walk, usedAt: Int64) {
            self.key = key
            self.walk = walk
            self.usedAt = usedAt
        }
    }

    /// The walks of one user.
    private final class User {
        let uid: Int64
        var walks: [WalkFilter: Entry] = [:]
        /// The one that was asked for last: it is asked for again and again.
        var latest: Entry?
        /// The fact that was served last.
        var served: Served?

        init(uid: Int64) { self.uid = uid }
    }

    /// A fact that was served: from a walk as it went out, whose id is looked for only when somebody asks.
    enum Served {
        case wire([UInt8])
        case id(String)
    }

    private var users: [Int64: User] = [:]
    /// The one who asked last.
    private var latest: User?
    private var moved: [Entry] = []
    private var forgotten: Set<Key> = []
    /// Rises with every use, so that "oldest" needs no clock; starts behind what was read from the disk.
    private var lastUse: Int64 = 0

    private mutating func user(_ uid: Int64) -> User {
        if let latest, latest.uid == uid { return latest }
        let user = users[uid] ?? User(uid: uid)
        users[uid] = user
        latest = user
        return user
    }

    /// Puts back a walk that was written down.
    mutating func restore(_ walk: Walk, key: Key, usedAt: Int64) {
        user(key.uid).walks[key.filter] = Entry(key: key, walk: walk, usedAt: usedAt)
        lastUse = max(lastUse, usedAt)
    }

    func hasWalk(_ key: Key) -> Bool {
        users[key.uid]?.walks[key.filter] != nil
    }

    /// The walk of a key, which is about to move.
    ///
    /// - Parameter begin: makes a walk where there is none; the one not used for longest makes room.
    mutating func walk(of uid: Int64, _ filter: WalkFilter, begin: () -> Walk) -> Entry {
        let user = user(uid)
        lastUse += 1
        if let latest = user.latest, latest.isMoved, latest.key.filter == filter {
            latest.usedAt = lastUse
            return latest
        }
        let entry = user.walks[filter] ?? Entry(key: Key(uid: uid, filter: filter), walk: begin(), usedAt: 0)
        if user.walks[filter] == nil {
            makeRoom(for: entry.key, user)
            user.walks[filter] = entry
        }
        entry.usedAt = lastUse
        user.latest = entry
        if !entry.isMoved {
            entry.isMoved = true
            moved.append(entry)
        }
        return entry
    }

    /// Notes what the user whose walk was asked for last was served.
    func noteLatest(_ served: Served) {
        latest?.served = served
    }

    /// Notes what a user was served last.
    mutating func note(_ served: Served, uid: Int64) {
        user(uid).served = served
    }

    func lastServed(uid: Int64) -> Served? {
        users[uid]?.served
    }

    /// Forgets the walks that go over any of the categories.
    mutating func forget(_ categories: Set<String>) {
        for user in users.values {
            for filter in user.walks.keys where !categories.isDisjoint(with: filter.categories) {
                user.walks[filter] = nil
                forgotten.insert(Key(uid: user.uid, filter: filter))
                if user.latest?.key.filter == filter { user.latest = nil }
            }
        }
    }

    /// What is to be written since the last call.
    mutating func takeChanges() -> [Record] {
        var records = forgotten.map { Record(key: $0, position: nil, usedAt: 0) }
        for entry in moved where users[entry.key.uid]?.walks[entry.key.filter] === entry {
            entry.isMoved = false
            records.append(Record(key: entry.key, position: entry.walk.position.encoded, usedAt: entry.usedAt))
        }
        moved = []
        forgotten = []
        return records
    }

    /// Marks what could not be written, so that the next call of ``takeChanges()`` gives it again.
    mutating func giveBack(_ records: [Record]) {
        for record in records {
            if record.position == nil {
                forgotten.insert(record.key)
            } else if let entry = users[record.key.uid]?.walks[record.key.filter], !entry.isMoved {
                entry.isMoved = true
                moved.append(entry)
            }
        }
    }

    var hasChanges: Bool { !moved.isEmpty || !forgotten.isEmpty }

    private mutating func makeRoom(for key: Key, _ user: User) {
        forgotten.remove(key)
        guard user.walks.count >= WalkBook.maximumPerUser,
            let oldest = user.walks.min(by: { $0.value.usedAt < $1.value.usedAt })?.key
        else { return }
        user.walks[oldest] = nil
        forgotten.insert(Key(uid: key.uid, filter: oldest))
    }
}
