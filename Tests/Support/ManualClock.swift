import NorrisPrefetch
package import NorrisProtocol
import Synchronization

/// A clock that a test advances. A sleeping task wakes when its time has come.
package final class ManualClock: WallClock {
    private struct Sleeper {
        let ticket: Int
        let until: Timestamp
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var now: Timestamp
        var tickets = 0
        var sleepers: [Sleeper] = []
    }

    private let state: Mutex<State>

    package init(_ now: Timestamp = Timestamp(seconds: 1_000_000)) { state = Mutex(State(now: now)) }

    package var now: Timestamp { state.withLock { $0.now } }

    package var elapsed: Duration { .seconds(now.seconds) }

    package func sleep(for duration: Duration) async throws {
        let ticket = state.withLock { state in
            state.tickets += 1
            return state.tickets
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isCancelled = state.withLock { state in
                    if Task.isCancelled { return true }
                    let until = state.now.advanced(by: duration)
                    state.sleepers.append(Sleeper(ticket: ticket, until: until, continuation: continuation))
                    return false
                }
                if isCancelled { continuation.resume(throwing: CancellationError()) }
            }
        } onCancel: {
            let sleeper = state.withLock { state in
                state.sleepers.firstIndex { $0.ticket == ticket }.map { state.sleepers.remove(at: $0) }
            }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }

    /// Wakes the tasks whose time has come.
    package func advance(by duration: Duration) {
        let due = state.withLock { state in
            let now = state.now.advanced(by: duration)
            state.now = now
            let due = state.sleepers.filter { $0.until <= now }
            state.sleepers.removeAll { $0.until <= now }
            return due
        }
        for sleeper in due { sleeper.continuation.resume() }
    }

    /// The number of sleeps so far.
    package var sleeps: Int { state.withLock { $0.tickets } }

    /// Returns when a task sleeps, or when the test is cancelled, for example by its time limit.
    ///
    /// - Parameter sleeps: an earlier value of `sleeps`; only later sleeps count.
    package func untilAsleep(since sleeps: Int = 0) async {
        await eventually { state.withLock { $0.sleepers.contains { $0.ticket > sleeps } } }
    }
}

extension Timestamp {
    /// 2026-06-15T12:30:00Z, for tests with dated content. In the middle of an hour and of a day, so that no test
    /// depends on the time of its run.
    package static let ofTests = Timestamp(seconds: 1_781_526_600)
}
