import Synchronization

/// Lets one large document be decoded at a time, so that large documents wait for each other, and small ones for none.
final class LargeDocuments: Sendable {
    static let shared = LargeDocuments()

    private struct State {
        var isBusy = false
        var waiting: [(id: UInt64, continuation: CheckedContinuation<Bool, Never>)] = []
        var lastID: UInt64 = 0
    }

    private let state = Mutex(State())

    /// Returns when no other large document is being decoded; ``leave()`` must follow.
    func enter() async throws(UpstreamError) {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        let hasEntered = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let result: Bool? = state.withLock { state in
                    if Task.isCancelled { return false }
                    if state.isBusy {
                        state.waiting.append((id, continuation))
                        return nil
                    }
                    state.isBusy = true
                    return true
                }
                if let result { continuation.resume(returning: result) }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                state.waiting.firstIndex { $0.id == id }.map { state.waiting.remove(at: $0) }
            }
            waiter?.continuation.resume(returning: false)
        }
        if !hasEntered { throw .cancelled }
    }

    /// Lets the next document in.
    func leave() {
        let next = state.withLock { state -> CheckedContinuation<Bool, Never>? in
            if !state.waiting.isEmpty { return state.waiting.removeFirst().continuation }
            state.isBusy = false
            return nil
        }
        next?.resume(returning: true)
    }
}
