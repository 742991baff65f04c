import Glibc
import Testing

@testable import NorrisServer

/// Tests of the order of turns among connections and users.
struct FairQueueTests {
    private func drain(_ queue: inout FairQueue) -> [Int] {
        var connections: [Int] = []
        while let connection = queue.next() { connections.append(connection) }
        return connections
    }

    @Test func usersAndTheirConnectionsTakeTurns() {
        var queue = FairQueue()
        for (connection, user) in [(1, 0), (2, 0), (2, 0), (3, 1), (4, 2), (5, 1)] { queue.add(connection, of: user) }
        queue.add(6, of: 0, first: true)
        #expect(queue.next { $0 != 0 } == 3)
        #expect(queue.next { _ in false } == nil)
        queue.add(3, of: 1)
        #expect(drain(&queue) == [6, 4, 5, 1, 3, 2])
        #expect(queue.isEmpty)
    }
}

/// Tests of the queue for requests that wait for a disk or a network.
struct WorkQueueTests {
    /// Returns the user of a connection; connection 301 belongs to user 3.
    private static func user(of connection: Int) -> Int { connection / 100 }

    private func queue(_ connections: [Int]) -> WorkQueue {
        var queue = WorkQueue()
        for connection in connections { queue.add(connection, of: WorkQueueTests.user(of: connection), now: 0) }
        return queue
    }

    /// Begins all requests that may run now and returns their connections.
    private func begin(_ queue: inout WorkQueue, now: Int = 0) -> [Int] {
        var begun: [Int] = []
        while let connection = queue.next(now: now) {
            queue.began(of: WorkQueueTests.user(of: connection))
            begun.append(connection)
        }
        return begun
    }

    @Test func sixteenRunAtATime() {
        let all = (0..<4).flatMap { number in (0..<5).map { user in 100 * user + number } }
        var queue = queue(all)
        #expect(begin(&queue) == Array(all[..<16]))
        #expect(queue.running == 16)
        queue.ended(of: 4)
        #expect(begin(&queue) == [103])
        for user in [0, 1, 2] { queue.ended(of: user) }
        #expect(begin(&queue) == [203, 303, 403])
        #expect(queue.running == 16)
        queue.ended(of: 3)
        #expect(begin(&queue) == [])
        #expect(queue.running == 15)
    }

    @Test func usersTakeTurnsForWhatBecomesFree() {
        // Four users run 16 requests, and a fifth user waits after the remaining requests of these users.
        var queue = queue((0..<4).flatMap { user in (0..<10).map { 100 * user + $0 } })
        #expect(begin(&queue).count == 16)
        queue.add(400, of: 4, now: 0)
        for user in 0..<4 { queue.ended(of: user) }
        #expect(begin(&queue).sorted() == [4, 104, 204, 304])
        for user in 0..<4 { queue.ended(of: user) }
        #expect(begin(&queue).first == 400)
    }

    // MARK: Limit beside others

    /// A queue in which a user runs at most two requests while other users have requests.
    private func diskQueue(_ connections: [Int], now: Int = 0) -> WorkQueue {
        var queue = WorkQueue(maximumBesideOthers: 2)
        for connection in connections { queue.add(connection, of: WorkQueueTests.user(of: connection), now: now) }
        return queue
    }

    @Test func twoRequestsOfAUserRunBesideAnothers() {
        var queue = diskQueue([0, 1, 2, 100, 101, 102])
        #expect(begin(&queue) == [0, 100, 1, 101])
        // A running request counts, no matter how long ago it arrived.
        #expect(begin(&queue, now: 10 * Limit.workMemory) == [])
        for _ in 0..<2 { queue.ended(of: 1) }
        #expect(begin(&queue, now: 10 * Limit.workMemory) == [2, 102])
    }

    @Test func theRequestOfAnotherUserRunsAtOnceAndTheFirstHasTwoFromThenOn() {
        var queue = diskQueue(Array(0..<10))
        #expect(begin(&queue) == [0, 1, 2, 3])
        queue.add(100, of: 1, now: 5)
        #expect(begin(&queue, now: 5) == [100])
        for _ in 0..<2 { queue.ended(of: 0) }
        #expect(begin(&queue, now: 5) == [])
        queue.ended(of: 0)
        #expect(begin(&queue, now: 5) == [4])
    }
}

/// Tests of the division of the memory for input among users.
struct UserTableTests {
    private static let limit = 4 << 20

    private func add(_ bytes: Int, of user: Int, to table: inout UserTable) {
        table.count(MemoryUse(input: bytes), insteadOf: MemoryUse(), of: user)
    }

    @Test func aUserHasAnEqualPartOfTheInputWhileOthersHaveAny() {
        var table = UserTable()
        let users = (0..<4).map { table.enter(uid_t($0)) }
        add(Self.limit, of: users[0], to: &table)
        #expect(!table.exceedsShare(users[0], of: Self.limit))
        // Users without input do not count, and the last user may have its part, however much the others have.
        for user in users[1...2] { add(Self.limit / 3, of: user, to: &table) }
        #expect(users.map { table.exceedsShare($0, of: Self.limit) } == [true, false, false, false])
        add(1, of: users[2], to: &table)
        #expect(table.exceedsShare(users[2], of: Self.limit))
        table.count(MemoryUse(), insteadOf: MemoryUse(input: Self.limit), of: users[0])
        #expect(!table.exceedsShare(users[2], of: Self.limit))
    }

    @Test("A thousand users that take their part one after the other have at most eight times the limit together")
    func total() {
        var table = UserTable()
        var total = 0
        for number in 1...1_000 {
            let user = table.enter(uid_t(number))
            add(Self.limit / number, of: user, to: &table)
            total += Self.limit / number
            #expect(!table.exceedsShare(user, of: Self.limit))
            add(1, of: user, to: &table)
            #expect(table.exceedsShare(user, of: Self.limit))
        }
        #expect(total <= 8 * Self.limit)
    }
}

/// Tests of the length of a turn.
struct TurnTests {
    private final class Clock {
        var time = 0
    }

    @Test func aMillisecondEndsATurnAfterAnyLine() {
        let clock = Clock()
        var turn = Turn(start: 500, now: { clock.time })
        clock.time = 500 + 999_999
        turn.spend()
        #expect(!turn.isOver)
        clock.time += 1
        turn.spend()
        #expect(turn.isOver)
    }
}
