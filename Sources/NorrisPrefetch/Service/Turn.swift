import Synchronization

/// Lets one task in at a time, first come first served.
final class Turn: Sendable {
    private struct State {
        var isTaken = false
        var nextTicket = 0
        var waiters: [(ticket: Int, continuation: CheckedContinuation<Bool, Never>)] = []
    }

    private let state = Mutex(State())

    /// Waits for the turn; whoever has it gives it back.
    ///
    /// - Returns: false where the task was cancelled before it was its turn.
    func take() async -> Bool {
        let ticket = state.withLock { state in
            state.nextTicket += 1
            return state.nextTicket
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isTaken: Bool? = state.withLock { state in
                    if Task.isCancelled { return false }
                    if state.isTaken {
                        state.waiters.append((ticket, continuation))
                        return nil
                    }
                    state.isTaken = true
                    return true
                }
                if let isTaken { continuation.resume(returning: isTaken) }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                state.waiters.firstIndex { $0.ticket == ticket }.map { state.waiters.remove(at: $0).continuation }
            }
            waiter?.resume(returning: false)
        }
    }

    /// Waits for the turn, but not longer than a time.
    func take(within duration: Duration, on clock: some WallClock) async -> Bool {
        await withTaskGroup(of: Bool?.self) { tasks in
            tasks.addTask { await self.take() }
            tasks.addTask {
                try? await clock.sleep(for: duration)
                return nil
            }
            var isTaken = false
            for await result in tasks {
                isTaken = result ?? isTaken
                tasks.cancelAll()
            }
            return isTaken
        }
    }

    func giveBack() {
        let next = state.withLock { state in
            if state.waiters.isEmpty {
                state.isTaken = false
                return CheckedContinuation<Bool, Never>?.none
            }
            return state.waiters.removeFirst().continuation
        }
        next?.resume(returning: true)
    }
}
