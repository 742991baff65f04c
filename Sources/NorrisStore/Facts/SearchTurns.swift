import Dispatch
import Glibc
import Synchronization

/// Lets searches take turns on the processors: as many run as there are, and every few milliseconds one lets another
/// go on whose user has had less of their time.
///
/// So a search waits for its own work and little more, however many searches others have running.
final class SearchTurns: Sendable {
    static let shared = SearchTurns(slots: max(1, sysconf(CInt(_SC_NPROCESSORS_ONLN))))

    /// In nanoseconds.
    private static let slice = 4_000_000

    private let queue: Mutex<SearchQueue<DispatchSemaphore>>

    init(slots: Int) { queue = Mutex(SearchQueue(slots: slots)) }

    /// Runs a search, which calls what it gets after each step. Blocking.
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

/// Which searches run and which wait, by the time that those of their users have had: decisions without threads.
struct SearchQueue<Waiter> {
    private struct User {
        /// Searches that run or wait.
        var searches = 0
        /// In nanoseconds.
        var spent: Int
    }

    private let slots: Int
    private var running = 0
    private var waiting: [(user: UInt32, waiter: Waiter)] = []
    /// Those who have searches.
    private var users: [UInt32: User] = [:]

    init(slots: Int) { self.slots = slots }

    /// A search begins.
    ///
    /// - Returns: whether it runs; otherwise its waiter is returned by a later call.
    mutating func begin(_ user: UInt32, _ waiter: Waiter) -> Bool {
        // Who comes is equal to those who have had the least: time without searches is not saved up.
        let least = users.values.map(\.spent).min() ?? 0
        users[user, default: User(spent: least)].searches += 1
        guard running == slots else {
            running += 1
            return true
        }
        waiting.append((user, waiter))
        return false
    }

    /// A search has run for a while.
    ///
    /// - Returns: who goes on in its place, where there is somebody with less; the search waits then.
    mutating func pause(_ user: UInt32, _ waiter: Waiter, spent: Int) -> Waiter? {
        users[user]?.spent += spent
        guard let next = least(), spentBy(waiting[next].user) < spentBy(user) else { return nil }
        let entry = waiting.remove(at: next)
        waiting.append((user, waiter))
        return entry.waiter
    }

    /// A search that was running ends.
    ///
    /// - Returns: who goes on in its place.
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

    /// The one that waits longest of those whose users have had least.
    private func least() -> Int? {
        waiting.indices.min { spentBy(waiting[$0].user) < spentBy(waiting[$1].user) }
    }
}
