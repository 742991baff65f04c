import NorrisPrefetch
package import NorrisProtocol
import Synchronization

/// A clock that a test turns: whoever sleeps is woken when its time has come.
package final class ManualClock: WallClock {
    private struct Sleeper {
        let ticket: Int
        /// By the time that elapsed.
        let until: Timestamp
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        /// The time that elapsed, from where the clock began.
        var elapsed: Timestamp
        /// How many seconds the time of day is before that, or behind.
        var offset: Int64 = 0
        var tickets = 0
        var sleepers: [Sleeper] = []
        var watchers: [(Int, CheckedContinuation<Void, Never>)] = []
    }

    private let state: Mutex<State>

    package init(_ now: Timestamp = Timestamp(seconds: 1_000_000)) {
        state = Mutex(State(elapsed: now))
    }

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
                    let due = state.watchers.filter { $0.0 <= state.sleepers.count }.map(\.1)
                    state.watchers.removeAll { $0.0 <= state.sleepers.count }
                    return (false, due)
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

    /// Sets the time, backwards too, and wakes those whose time has come.
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

    /// Sets the time of day alone, as an administrator does: no time elapses.
    package func setTimeOfDay(_ now: Timestamp) {
        state.withLock { $0.offset = now.seconds - $0.elapsed.seconds }
    }

    package func advance(by duration: Duration) {
        set(now.advanced(by: duration))
    }

    /// Returns when so many sleep, or the test was cancelled, as by its time limit: who slept then does so no more.
    package func untilAsleep(_ count: Int = 1) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isSo = state.withLock { state in
                    if state.sleepers.count >= count || Task.isCancelled { return true }
                    state.watchers.append((count, continuation))
                    return false
                }
                if isSo { continuation.resume() }
            }
        } onCancel: {
            let watchers = state.withLock { state in
                defer { state.watchers = [] }
                return state.watchers.map(\.1)
            }
            for watcher in watchers { watcher.resume() }
        }
    }
}
