package import NorrisThreads
import ServiceLifecycle
import Synchronization

/// Wakes the waiting task, or if none waits, the next task that waits.
package final class WakeSignal: Sendable {
    private struct State {
        var isSet = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    package init() {}

    package func set() {
        let waiter = state.withLock { state in
            defer { state.waiter = nil }
            state.isSet = state.waiter == nil
            return state.waiter
        }
        waiter?.resume()
    }

    /// Returns when the signal is set or the task is cancelled. Only one task may wait at a time.
    package func wait() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isSet = state.withLock { state in
                    if !state.isSet { state.waiter = continuation }
                    defer { state.isSet = false }
                    return state.isSet
                }
                if isSet { continuation.resume() }
            }
        } onCancel: {
            // May cause one superfluous wake-up later.
            set()
        }
    }

    /// Returns when the signal is set or the time has passed; without a time when the signal is set.
    package func wait(atMost duration: Duration?, on clock: any WallClock) async {
        guard let duration else { return await wait() }
        await withTaskGroup(of: Void.self) { tasks in
            tasks.addTask { await self.wait() }
            tasks.addTask { try? await clock.sleep(for: duration) }
            await tasks.next()
            tasks.cancelAll()
        }
    }

    /// Repeats the body until the service is told to stop. The stop sets the signal, which ends a wait for it, and
    /// cancels the value that the body gets.
    package func repeatUntilStopped(_ body: (Cancellation) async -> Void) async {
        let stop = Cancellation()
        await withGracefulShutdownHandler {
            while !stop.isCancelled, !Task.isCancelled { await body(stop) }
        } onGracefulShutdown: {
            stop.cancel()
            self.set()
        }
    }
}

extension AsyncLock {
    /// Acquires the lock. Returns false if the time has passed or the task was cancelled first.
    func lock(within duration: Duration, on clock: any WallClock) async -> Bool {
        await withTaskGroup(of: Bool?.self) { tasks in
            tasks.addTask { await self.lock() }
            tasks.addTask {
                try? await clock.sleep(for: duration)
                return nil
            }
            var isLocked = false
            for await result in tasks {
                isLocked = result ?? isLocked
                tasks.cancelAll()
            }
            return isLocked
        }
    }
}
