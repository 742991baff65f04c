import NorrisPrefetch
import Synchronization

/// The run of a source, which lasts until the test says how it ends, or until it is cancelled.
final class ScriptedFetch: Sendable {
    private struct State {
        var count = 0
        var run: CheckedContinuation<FetchOutcome, Never>?
        var watcher: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    /// How many runs have begun.
    var count: Int { state.withLock { $0.count } }

    @Sendable
    func fetch() async -> FetchOutcome {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let watcher = state.withLock { state in
                    state.count += 1
                    state.run = continuation
                    defer { state.watcher = nil }
                    return state.watcher
                }
                watcher?.resume()
                // It may have been cancelled before there was something to end.
                if Task.isCancelled { end(.cancelled) }
            }
        } onCancel: {
            end(.cancelled)
        }
    }

    /// Returns when a run is under way, or the test was cancelled.
    func untilAsked() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isRunning = state.withLock { state in
                    if state.run != nil || Task.isCancelled { return true }
                    state.watcher = continuation
                    return false
                }
                if isRunning { continuation.resume() }
            }
        } onCancel: {
            let watcher = state.withLock { state in
                defer { state.watcher = nil }
                return state.watcher
            }
            watcher?.resume()
        }
    }

    /// Ends the run under way, or the next one.
    func answer(_ outcome: FetchOutcome) async {
        await untilAsked()
        end(outcome)
    }

    private func end(_ outcome: FetchOutcome) {
        let run = state.withLock { state in
            defer { state.run = nil }
            return state.run
        }
        run?.resume(returning: outcome)
    }
}
