import NorrisPrefetch
package import NorrisProtocol
import Synchronization

/// A clock that a test sets. A sleeping task wakes when its time has come.
package final class ManualClock: WallClock {
    private struct Sleeper {
        let ticket: Int
        /// In elapsed time.
        let until: Timestamp
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        /// The elapsed time, from the start of the clock.
        var elapsed: Timestamp
        /// The difference between the time of day and the elapsed time, in seconds.
        var offset: Int64 = 0
        var tickets = 0
        var sleepers: [Sleeper] = []
        var watchers: [Watcher] = []

        func isTrue(_ watcher: Watcher) -> Bool { sleepers.count { $0.ticket > watcher.ticket } >= watcher.count }
    }

    private struct Watcher {
        let count: Int
        let ticket: Int
        let continuation: CheckedContinuation<Void, Never>
    }

    private let state: Mutex<State>

    package init(_ now: Timestamp = Timestamp(seconds: 1_000_000)) { state = Mutex(State(elapsed: now)) }

    package var now: Timestamp { state.withLock { Timestamp(seconds: $0.elapsed.seconds + $0.offset) } }

    package var elapsed: Duration { .seconds(state.withLock { $0.elapsed.seconds }) }

    package func sleep(for duration: Duration) async throws {
        let ticket = state.withLock { state in
            state.tickets += 1
            return state.tickets
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let (isOver, watchers) = state.withLock { state in
                    if Task.isCancelled { return (true, [CheckedContinuation<Void, Never>]()) }
                    let until = state.elapsed.advanced(by: duration)
                    state.sleepers.append(Sleeper(ticket: ticket, until: until, continuation: continuation))
                    let due = state.watchers.filter(state.isTrue)
                    state.watchers.removeAll(where: state.isTrue)
                    return (false, due.map(\.continuation))
                }
                if isOver { continuation.resume(throwing: CancellationError()) }
                for watcher in watchers { watcher.resume() }
            }
        } onCancel: {
            let sleeper = state.withLock { state in
                state.sleepers.firstIndex { $0.ticket == ticket }.map { state.sleepers.remove(at: $0) }
            }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }

    /// Sets the time, also backwards, and wakes the tasks whose time has come.
    package func set(_ now: Timestamp) {
        let due = state.withLock { state in
            let elapsed = now.seconds - state.offset
            state.elapsed = Timestamp(seconds: elapsed)
            let due = state.sleepers.filter { $0.until.seconds <= elapsed }
            state.sleepers.removeAll { $0.until.seconds <= elapsed }
            return due
        }
        for sleeper in due { sleeper.continuation.resume() }
    }

    /// Sets only the time of day, as an administrator does.
    package func setTimeOfDay(_ now: Timestamp) { state.withLock { $0.offset = now.seconds - $0.elapsed.seconds } }

    package func advance(by duration: Duration) { set(now.advanced(by: duration)) }

    /// The number of sleeps so far.
    package var sleeps: Int { state.withLock { $0.tickets } }

    /// Returns when a number of tasks sleep, or when the test is cancelled, for example by its time limit.
    ///
    /// - Parameter sleeps: an earlier value of `sleeps`; only later sleeps count.
    package func untilAsleep(_ count: Int = 1, since sleeps: Int = 0) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isSo = state.withLock { state in
                    let watcher = Watcher(count: count, ticket: sleeps, continuation: continuation)
                    if state.isTrue(watcher) || Task.isCancelled { return true }
                    state.watchers.append(watcher)
                    return false
                }
                if isSo { continuation.resume() }
            }
        } onCancel: {
            let watchers = state.withLock { state in
                defer { state.watchers = [] }
                return state.watchers.map(\.continuation)
            }
            for watcher in watchers { watcher.resume() }
        }
    }
}

extension Timestamp {
    /// 2026-06-15T12:30:00Z, for tests with dated content. In the middle of an hour and of a day, so that no test
    /// depends on the time of its run.
    package static let ofTests = Timestamp(seconds: 1_781_526_600)
}
