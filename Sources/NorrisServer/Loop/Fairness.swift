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

/// Requests that wait for a disk or a network: so many of a user run at a time, fewer while others have some too, and
/// so many in all.
struct WorkQueue {
    static let maximumPerUser = 4
    static let maximum = 16
    /// How long after a request its user counts among the others, in nanoseconds.
    static let memory = 1_000_000_000

    /// How many of a user run at a time while another user has requests.
    private let maximumBesideOthers: Int

    private var waiting = FairQueue()
    private var perUser: [(waiting: Int, running: Int)] = []
    private(set) var running = 0
    /// Who had a request last, and who of the others before that.
    private var last = (user: -1, time: Int.min / 2)
    private var lastOther = (user: -1, time: Int.min / 2)

    init(maximumBesideOthers: Int = WorkQueue.maximumPerUser) { self.maximumBesideOthers = maximumBesideOthers }

    /// - Parameters:
    ///   - first: for a batch that is half answered and holds memory until it is done.
    ///   - now: nanoseconds of the monotonic clock.
    mutating func add(_ connection: Int, of user: Int, first: Bool = false, now: Int) {
        while perUser.count <= user { perUser.append((0, 0)) }
        perUser[user].waiting += 1
        waiting.add(connection, of: user, first: first)
        if last.user != user { lastOther = last }
        last = (user, now)
    }

    /// The next connection whose request may run now; ``began(of:)`` is called for it.
    mutating func next(now: Int) -> Int? {
        guard running < WorkQueue.maximum, !waiting.isEmpty else { return nil }
        // Copies, because the queue must not be read while it changes.
        let (perUser, running, last, lastOther, few) = (perUser, running, last, lastOther, maximumBesideOthers)
        return waiting.next { user in
            let other = last.user == user ? lastOther : last
            let hasOthers = running > perUser[user].running || now - other.time < WorkQueue.memory
            return perUser[user].running < (hasOthers ? few : WorkQueue.maximumPerUser)
        }
    }

    mutating func began(of user: Int) {
        perUser[user].waiting -= 1
        perUser[user].running += 1
        running += 1
    }

    mutating func ended(of user: Int) {
        perUser[user].running -= 1
        running -= 1
    }

    /// Whether a user has requests that run or wait.
    func hasRequests(of user: Int) -> Bool { user < perUser.count && perUser[user] != (0, 0) }
}

/// The users that have connections, by a small number each, how many they have, and what is held for them.
struct UserTable {
    private struct User {
        var uid: uid_t
        var connections = 1
        var held = Held()
    }

    private var numbers: [uid_t: Int] = [:]
    private var users: [User] = []
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
        if number == users.count { users.append(User(uid: uid)) } else { users[number] = User(uid: uid) }
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

    /// Counts what is held for a connection of a user, in place of what was.
    mutating func count(_ held: Held, insteadOf old: Held, of number: Int) {
        users[number].held.input += held.input - old.input
        users[number].held.replies += held.replies - old.replies
    }

    /// What is held for all connections of a user.
    func held(of number: Int) -> Held { users[number].held }
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
    /// How many bytes of requests were read since then.
    private var read = 0
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
    /// long ones and long replies.
    ///
    /// - Parameters:
    ///   - read: how many bytes the line or entry has.
    ///   - written: how many bytes of replies there are now.
    mutating func spend(read: Int, written: Int) {
        lines += 1
        self.read += read
        if lines >= Turn.maximumLines {
            isOver = true
        } else if lines % 8 == 0 || written - self.written + self.read > 4096 {
            (self.read, self.written) = (0, written)
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
