/// A queue in which users take turns, and the connections of a user take turns within theirs.
///
/// Users and connections are small numbers that their owner gives out. Each step takes the same time, however many
/// there are.
struct FairQueue {
    private struct User {
        var first = -1
        var last = -1
        /// The next user in the queue.
        var next = -1
        var isQueued = false
    }

    private struct Entry {
        /// The next connection of the same user.
        var next = -1
        var isQueued = false
    }

    private var users: [User] = []
    private var entries: [Entry] = []
    private var firstUser = -1
    private var lastUser = -1

    var isEmpty: Bool { firstUser < 0 }

    /// Puts a connection behind the others of its user, or before them; nothing changes where it is in the queue already.
    mutating func add(_ connection: Int, of user: Int, first: Bool = false) {
        while entries.count <= connection { entries.append(Entry()) }
        while users.count <= user { users.append(User()) }
        guard !entries[connection].isQueued else { return }
        let others = users[user].first
        entries[connection] = Entry(next: first ? others : -1, isQueued: true)
        if first || others < 0 { users[user].first = connection } else { entries[users[user].last].next = connection }
        if !first || others < 0 { users[user].last = connection }
        if !users[user].isQueued { append(user: user) }
    }

    /// Takes the connection whose turn it is; its user's next one comes after all other users.
    ///
    /// - Parameter isAllowed: users who may not have a turn now keep their places.
    mutating func next(where isAllowed: (_ user: Int) -> Bool = { _ in true }) -> Int? {
        var previous = -1
        var user = firstUser
        while user >= 0, !isAllowed(user) { (previous, user) = (user, users[user].next) }
        guard user >= 0 else { return nil }
        let after = users[user].next
        if previous < 0 { firstUser = after } else { users[previous].next = after }
        if lastUser == user { lastUser = previous }
        users[user].isQueued = false
        let connection = users[user].first
        users[user].first = entries[connection].next
        entries[connection].isQueued = false
        if users[user].first >= 0 { append(user: user) }
        return connection
    }

    private mutating func append(user: Int) {
        users[user].next = -1
        users[user].isQueued = true
        if lastUser < 0 { firstUser = user } else { users[lastUser].next = user }
        lastUser = user
    }
}

/// Requests that wait for a disk or a network: so many of a user run at a time, and so many in all.
struct WorkQueue {
    static let maximumPerUser = 4
    static let maximum = 16

    private var waiting = FairQueue()
    private var perUser: [Int] = []
    private(set) var running = 0

    /// - Parameter first: for a batch that is half answered and holds memory until it is done.
    mutating func add(_ connection: Int, of user: Int, first: Bool = false) {
        while perUser.count <= user { perUser.append(0) }
        waiting.add(connection, of: user, first: first)
    }

    /// The next connection whose request may run now; ``began(of:)`` is called for it.
    mutating func next() -> Int? {
        guard running < WorkQueue.maximum, !waiting.isEmpty else { return nil }
        let perUser = perUser
        return waiting.next { perUser[$0] < WorkQueue.maximumPerUser }
    }

    mutating func began(of user: Int) {
        perUser[user] += 1
        running += 1
    }

    mutating func ended(of user: Int) {
        perUser[user] -= 1
        running -= 1
    }
}
