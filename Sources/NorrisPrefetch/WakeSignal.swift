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

/// A lock held across suspensions; tasks get it in the order in which they came.
package final class AsyncLock: Sendable {
    private struct State {
        var isLocked = false
        var tickets = 0
        var waiters: [(ticket: Int, continuation: CheckedContinuation<Bool, Never>)] = []
    }

    private let state = Mutex(State())

    package init() {}

    var isLocked: Bool { state.withLock { $0.isLocked } }

    /// - Returns: false where the task was cancelled before it got the lock.
    package func lock() async -> Bool {
        let ticket = state.withLock { state in
            state.tickets += 1
            return state.tickets
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isLocked: Bool? = state.withLock { state in
                    if Task.isCancelled { return false }
                    if state.isLocked {
                        state.waiters.append((ticket, continuation))
                        return nil
                    }
                    state.isLocked = true
                    return true
                }
                if let isLocked { continuation.resume(returning: isLocked) }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                state.waiters.firstIndex { $0.ticket == ticket }.map { state.waiters.remove(at: $0).continuation }
            }
            waiter?.resume(returning: false)
        }
    }

    /// - Returns: false where the time has passed before, too.
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

    package func unlock() {
        let next = state.withLock { state -> CheckedContinuation<Bool, Never>? in
            guard state.waiters.isEmpty else { return state.waiters.removeFirst().continuation }
            state.isLocked = false
            return nil
        }
        next?.resume(returning: true)
    }
}
