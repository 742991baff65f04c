import NorrisPrefetch
import NorrisProtocol
import Synchronization

/// A host that remembers what it is told, and lets a test wait for it.
final class RecordingHost: PrefetchHost {
    enum Event: Equatable {
        case began(String)
        case finished(String, Int)
        case failed(String, SourceFailure.Kind)
    }

    fileprivate struct State {
        var kept: [String: SourceSchedule.Record] = [:]
        var all: [Event] = []
        var unread: [Event] = []
        var reader: (Event, CheckedContinuation<Void, Never>)?
    }

    private let state = Mutex(State())

    var kept: [String: SourceSchedule.Record] { state.withLock { $0.kept } }
    var heardAll: [Event] { state.withLock { $0.all } }

    func history(of source: String) -> (record: SourceSchedule.Record, content: SourceSchedule.Content?) {
        (SourceSchedule.Record(), nil)
    }

    func keep(_ record: SourceSchedule.Record, of source: String) {
        state.withLock { $0.kept[source] = record }
    }

    func began(_ source: String) { hear(.began(source)) }
    func finished(_ source: String, added: Int) { hear(.finished(source, added)) }
    func failed(_ source: String, _ failure: SourceFailure) { hear(.failed(source, failure.kind)) }

    /// Returns when this event has come, or the test was cancelled; events before it are passed over.
    func heard(_ event: Event) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isThere = state.withLock { state in
                    if state.take(event) || Task.isCancelled { return true }
                    state.reader = (event, continuation)
                    return false
                }
                if isThere { continuation.resume() }
            }
        } onCancel: {
            let reader = state.withLock { state in
                defer { state.reader = nil }
                return state.reader
            }
            reader?.1.resume()
        }
    }

    private func hear(_ event: Event) {
        let reader = state.withLock { state -> CheckedContinuation<Void, Never>? in
            state.all.append(event)
            state.unread.append(event)
            guard let (wanted, continuation) = state.reader, state.take(wanted) else { return nil }
            state.reader = nil
            return continuation
        }
        reader?.resume()
    }
}

extension RecordingHost.State {
    fileprivate mutating func take(_ event: RecordingHost.Event) -> Bool {
        guard let index = unread.firstIndex(of: event) else { return false }
        unread.removeFirst(index + 1)
        return true
    }
}
