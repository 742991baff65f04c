import Glibc

/// A queue in which users take turns, and the connections of a user take turns within theirs.
///
/// Users and connections are small numbers. Each step takes the same time, however many there are.
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

    /// Adds a connection behind the others of its user, or before them, unless it is in the queue already.
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
    /// - Parameter isAllowed: users who may not have a turn now keep their position.
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

/// The users that have connections, by a small number each, and how many they have.
struct UserTable {
    private var numbers: [uid_t: Int] = [:]
    private var users: [(uid: uid_t, connections: Int)] = []
    private var free: [Int] = []

    /// Counts one more connection.
    ///
    /// - Returns: the user's number, which stays as long as the user has a connection.
    mutating func enter(_ uid: uid_t) -> Int {
        if let number = numbers[uid] {
            users[number].connections += 1
            return number
        }
        let number = free.popLast() ?? users.count
        if number == users.count { users.append((uid, 1)) } else { users[number] = (uid, 1) }
        numbers[uid] = number
        return number
    }

    mutating func leave(_ number: Int) {
        users[number].connections -= 1
        if users[number].connections == 0 {
            numbers[users[number].uid] = nil
            free.append(number)
        }
    }

    func connections(of uid: uid_t) -> Int {
        numbers[uid].map { users[$0].connections } ?? 0
    }
}

/// One turn of a connection on the event loop: 64 lines, or what can be done in a millisecond.
struct Turn {
    static let maximumLines = 64
    /// In nanoseconds.
    static let maximumTime = 1_000_000

    private(set) var isOver = false
    private var lines = 0
    private let end: Int
    /// How many bytes of replies there were when the clock was last read.
    private var written: Int
    /// Requests to one method that followed each other, and when the first of them began.
    private var run: (method: MethodRegistry.Method?, count: Int, start: Int)
    private let now: () -> Int

    /// - Parameters:
    ///   - start: nanoseconds of the monotonic clock.
    ///   - written: how many bytes of replies there are already.
    init(start: Int, written: Int, now: @escaping () -> Int = monotonicNanoseconds) {
        end = start + Turn.maximumTime
        run = (nil, 0, start)
        self.written = written
        self.now = now
    }

    /// A line, a notification or an entry of a batch is done. The clock is read after every eighth of them, and after
    /// one with a long reply.
    ///
    /// - Parameter written: how many bytes of replies there are now.
    mutating func spend(written: Int) {
        lines += 1
        if lines >= Turn.maximumLines {
            isOver = true
        } else if lines % 8 == 0 || written - self.written > 4096 {
            self.written = written
            if now() >= end { isOver = true }
        }
    }

    /// Replies are written elsewhere from now on, where there are so many bytes already.
    mutating func moved(written: Int) { self.written = written }

    /// A request was answered. Those to the same method that follow each other are timed together.
    mutating func answered(_ method: MethodRegistry.Method) {
        if method !== run.method {
            if run.method != nil { endRun(now()) }
            run.method = method
        }
        run.count += 1
    }

    /// The turn is over, at this time.
    mutating func finish(_ now: Int) {
        if run.method != nil { endRun(now) }
    }

    private mutating func endRun(_ now: Int) {
        run.method?.meter.record(count: run.count, nanoseconds: now - run.start)
        run = (nil, 0, now)
    }
}
