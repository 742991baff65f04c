import NorrisSystem
import ServiceLifecycle
import Synchronization

/// Wakes one waiting task, or, if none waits yet, the next that will.
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

    /// Returns when the signal is set, or when the task is cancelled. One task waits at a time.
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
            // At worst one wake-up too many.
            set()
        }
    }

    /// Returns when the signal is set, or after the time.
    package func wait(atMost duration: Duration, on clock: any WallClock) async {
        await withTaskGroup(of: Void.self) { tasks in
            tasks.addTask { await self.wait() }
            tasks.addTask { try? await clock.sleep(for: duration) }
            await tasks.next()
            tasks.cancelAll()
        }
    }

    /// The loop of a service, until the service is told to stop. That sets the signal: it cuts a wait for it short, and
    /// nothing else.
    package func repeatUntilStopped(_ body: () async -> Void) async {
        await withGracefulShutdownHandler {
            while !Task.isShuttingDownGracefully, !Task.isCancelled { await body() }
        } onGracefulShutdown: {
            self.set()
        }
    }
}

extension AsyncLock {
    /// Takes the lock within a time.
    ///
    /// - Returns: false if the time has passed or the task was cancelled before the lock was free.
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
