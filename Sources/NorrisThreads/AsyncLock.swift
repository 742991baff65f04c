import Synchronization

/// A lock that a task holds across suspensions. Waiting tasks acquire the lock in the order of their calls.
package final class AsyncLock: Sendable {
    private struct State {
        var isLocked = false
        var tickets = 0
        var waiters: [(ticket: Int, continuation: CheckedContinuation<Bool, Never>)] = []
    }

    private let state = Mutex(State())

    package init() {}

    package var isLocked: Bool { state.withLock { $0.isLocked } }

    /// Waits until the lock is free and acquires it.
    ///
    /// - Returns: false if the task is cancelled before the lock is free.
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

    package func unlock() {
        let next = state.withLock { state -> CheckedContinuation<Bool, Never>? in
            guard state.waiters.isEmpty else { return state.waiters.removeFirst().continuation }
            state.isLocked = false
            return nil
        }
        next?.resume(returning: true)
    }
}
