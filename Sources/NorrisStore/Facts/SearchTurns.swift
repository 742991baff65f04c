import Dispatch
import Glibc
import Synchronization

/// Shares the processors among searches: as many run as there are processors, and every few milliseconds a search
/// yields to a search whose user has used less time.
///
/// Therefore a search waits little longer than its own work, however many searches others run.
final class SearchTurns: Sendable {
    static let shared = SearchTurns(slots: max(1, sysconf(CInt(_SC_NPROCESSORS_ONLN))))

    /// In nanoseconds.
    private static let slice = 4_000_000

    private let queue: Mutex<SearchQueue<DispatchSemaphore>>

    init(slots: Int) { queue = Mutex(SearchQueue(slots: slots)) }

    /// Runs a search, which calls its parameter after each step. Blocking.
    func run<Value>(for user: UInt32, _ search: (_ step: () -> Void) throws -> Value) rethrows -> Value {
        let signal = DispatchSemaphore(value: 0)
        if !queue.withLock({ $0.begin(user, signal) }) { signal.wait() }
        var since = SearchTurns.now()
        defer { queue.withLock { $0.end(user, spent: SearchTurns.now() - since) }?.signal() }
        return try search {
            let spent = SearchTurns.now() - since
            guard spent >= SearchTurns.slice else { return }
            if let next = queue.withLock({ $0.pause(user, signal, spent: spent) }) {
                next.signal()
                signal.wait()
            }
            since = SearchTurns.now()
        }
    }

    private static func now() -> Int {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }
}

/// The running and waiting searches, ordered by the used time of their users: decisions without threads.
struct SearchQueue<Waiter> {
    private struct User {
        /// The number of running or waiting searches.
        var searches = 0
        /// In nanoseconds.
        var spent: Int
    }

    private let slots: Int
    private var running = 0
    private var waiting: [(user: UInt32, waiter: Waiter)] = []
    /// The users with searches.
    private var users: [UInt32: User] = [:]

    init(slots: Int) { self.slots = slots }

    /// Begins a search.
    ///
    /// - Returns: whether it runs; otherwise a later call returns its waiter.
    mutating func begin(_ user: UInt32, _ waiter: Waiter) -> Bool {
        // A new user begins with the least used time of all, because time without searches is not saved.
        let least = users.values.map(\.spent).min() ?? 0
        users[user, default: User(spent: least)].searches += 1
        guard running == slots else {
            running += 1
            return true
        }
        waiting.append((user, waiter))
        return false
    }

    /// Pauses a running search.
    ///
    /// - Returns: the waiter that continues instead, if a user has used less time; then the search waits.
    mutating func pause(_ user: UInt32, _ waiter: Waiter, spent: Int) -> Waiter? {
        users[user]?.spent += spent
        guard let next = least(), spentBy(waiting[next].user) < spentBy(user) else { return nil }
        let entry = waiting.remove(at: next)
        waiting.append((user, waiter))
        return entry.waiter
    }

    /// Ends a running search.
    ///
    /// - Returns: the waiter that continues instead.
    mutating func end(_ user: UInt32, spent: Int) -> Waiter? {
        users[user]?.spent += spent
        users[user]?.searches -= 1
        if users[user]?.searches == 0 { users[user] = nil }
        guard let next = least() else {
            running -= 1
            return nil
        }
        return waiting.remove(at: next).waiter
    }

    private func spentBy(_ user: UInt32) -> Int { users[user]?.spent ?? 0 }

    /// The longest waiting search of the users with the least used time.
    private func least() -> Int? {
        waiting.indices.min { spentBy(waiting[$0].user) < spentBy(waiting[$1].user) }
    }
}
