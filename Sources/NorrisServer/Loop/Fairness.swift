import Glibc
import NorrisSystem

/// A queue in which users take turns, and the connections of each user take turns.
///
/// Users and connections are small indexes. An array of all users, or of all connections of a user, has a few thousand
/// elements at most, so removing its first element takes a microsecond at most.
struct FairQueue {
    /// The users with connections in the queue, in the order of their turns.
    private var users: [Int] = []
    /// The connections in the queue, by user.
    private var connections: [[Int]] = []
    /// Whether a connection is in the queue.
    private var isQueued: [Bool] = []

    var isEmpty: Bool { users.isEmpty }

    /// Adds a connection after, or before, the others of its user, unless the connection is in the queue.
    mutating func add(_ connection: Int, of user: Int, first: Bool = false) {
        while isQueued.count <= connection { isQueued.append(false) }
        while connections.count <= user { connections.append([]) }
        guard !isQueued[connection] else { return }
        isQueued[connection] = true
        if connections[user].isEmpty { users.append(user) }
        if first { connections[user].insert(connection, at: 0) } else { connections[user].append(connection) }
    }

    /// Removes and returns the next connection. The user's next connection comes after all other users.
    ///
    /// - Parameter isAllowed: whether a user may have a turn now; other users keep their position.
    mutating func next(where isAllowed: (_ user: Int) -> Bool = { _ in true }) -> Int? {
        guard let index = users.firstIndex(where: isAllowed) else { return nil }
        let user = users.remove(at: index)
        let connection = connections[user].remove(at: 0)
        isQueued[connection] = false
        if !connections[user].isEmpty { users.append(user) }
        return connection
    }
}

/// Requests that wait for a disk or a network. Limits the running requests of each user, with a lower limit while other
/// users have requests, and of all users.
struct WorkQueue {
    /// The running requests of a user while another user has requests.
    private let maximumBesideOthers: Int

    private var waiting = FairQueue()
    private var runningPerUser: [Int] = []
    private(set) var running = 0
    /// The last user with a request, and the last different user before.
    private var last = (user: -1, time: Int.min / 2)
    private var lastOther = (user: -1, time: Int.min / 2)

    init(maximumBesideOthers: Int = Limit.workPerUser) { self.maximumBesideOthers = maximumBesideOthers }

    /// - Parameters:
    ///   - first: for a partly answered batch, which uses memory until it is done.
    ///   - now: nanoseconds of the monotonic clock.
    mutating func add(_ connection: Int, of user: Int, first: Bool = false, now: Int) {
        while runningPerUser.count <= user { runningPerUser.append(0) }
        waiting.add(connection, of: user, first: first)
        if last.user != user { lastOther = last }
        last = (user, now)
    }

    /// Returns the next connection whose request may run; the caller then calls ``began(of:)``.
    mutating func next(now: Int) -> Int? {
        guard running < Limit.work, !waiting.isEmpty else { return nil }
        // Copies, because the queue must not be read during its mutation.
        let (perUser, running, last, lastOther, few) = (runningPerUser, running, last, lastOther, maximumBesideOthers)
        return waiting.next { user in
            let other = last.user == user ? lastOther : last
            let hasOthers = running > perUser[user] || now - other.time < Limit.workMemory
            return perUser[user] < (hasOthers ? few : Limit.workPerUser)
        }
    }

    mutating func began(of user: Int) {
        runningPerUser[user] += 1
        running += 1
    }

    mutating func ended(of user: Int) {
        runningPerUser[user] -= 1
        running -= 1
    }
}

/// The users with connections: a small index, the number of connections, and the memory of each.
struct UserTable {
    private struct User {
        var uid: uid_t
        var connections = 1
        var memory = MemoryUse()
    }

    private var numbers: [uid_t: Int] = [:]
    private var users: [User] = []
    private var free: [Int] = []
    /// The memory for replies of all connections.
    private(set) var replies = 0

    /// Counts one more connection.
    ///
    /// - Returns: the index of the user, constant while the user has a connection.
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

    /// Replaces the memory of a connection in the sum of its user.
    mutating func count(_ memory: MemoryUse, insteadOf old: MemoryUse, of number: Int) {
        users[number].memory.input += memory.input - old.input
        users[number].memory.replies += memory.replies - old.replies
        replies += memory.replies - old.replies
    }

    /// The memory of all connections of a user.
    func memory(of number: Int) -> MemoryUse { users[number].memory }

    /// Whether the input of a user exceeds its share of a limit: the limit divided by the number of users with input.
    /// Of n users, the one whose input grew last has at most an n-th, the one before at most the part of n - 1, and so
    /// on, so that 1,000 users have at most eight times the limit, and 65,536 users twelve times.
    func exceedsShare(_ number: Int, of limit: Int) -> Bool {
        users[number].memory.input > limit / max(1, users.count { $0.memory.input > 0 })
    }
}

/// One turn of a connection on the event loop: 64 lines, or one millisecond.
struct Turn {
    private(set) var isOver = false
    /// The time after the last line, in nanoseconds of the monotonic clock.
    private(set) var time: Int
    private var lines = 0
    private let end: Int
    /// Consecutive requests to one method, and the start of the first.
    private var run: (method: MethodRegistry.Entry?, count: Int, start: Int)
    private let now: () -> Int

    /// - Parameter start: nanoseconds of the monotonic clock.
    init(start: Int, now: @escaping () -> Int = monotonicNanoseconds) {
        (time, end) = (start, start + Limit.turnTime)
        run = (nil, 0, start)
        self.now = now
    }

    /// Counts a line, a notification, an entry of a batch or events. Reads the clock each time, because no size tells
    /// how long a request takes: a notification may take milliseconds and writes nothing.
    mutating func spend() {
        lines += 1
        time = now()
        isOver = lines >= Limit.turnLines || time >= end
    }

    /// Records an answered request. Consecutive requests to the same method are timed together.
    mutating func answered(_ method: MethodRegistry.Entry) {
        if method !== run.method {
            finish()
            run.method = method
        }
        run.count += 1
    }

    /// Records the time of the last requests to the same method.
    mutating func finish() {
        run.method?.meter.record(count: run.count, nanoseconds: time - run.start)
        run = (nil, 0, time)
    }
}
