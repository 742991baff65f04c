import NorrisFetchProtocol
import NorrisPrefetch
import NorrisProtocol
import NorrisTestSupport
import Synchronization

/// A host that records events and lets a test wait for them.
final class RecordingHost: PrefetchHost {
    enum Event: Equatable {
        case began(String)
        case finished(String, Int)
        case failed(String, SourceFailure.Kind)
    }

    private struct State {
        var stored: [String: ScheduleRecord] = [:]
        var events: [Event] = []
        var read = 0

        mutating func take(_ event: Event) -> Bool {
            guard let index = events[read...].firstIndex(of: event) else { return false }
            read = index + 1
            return true
        }
    }

    private let state = Mutex(State())

    var stored: [String: ScheduleRecord] { state.withLock { $0.stored } }
    var events: [Event] { state.withLock { $0.events } }

    func history(of source: String) -> SourceSchedule.History {
        SourceSchedule.History(record: stored[source] ?? ScheduleRecord())
    }

    func store(_ record: ScheduleRecord, of source: String) { state.withLock { $0.stored[source] = record } }

    func schedules(of prefix: String) -> [String: ScheduleRecord] {
        let known = stored.filter { $0.key.hasPrefix(prefix) }
        return Dictionary(uniqueKeysWithValues: known.map { (String($0.key.dropFirst(prefix.count)), $0.value) })
    }

    func began(_ source: String) { note(.began(source)) }
    func finished(_ source: String, added: Int, newest: [NorrisProtocol.Event.NewItem]) {
        note(.finished(source, added))
    }
    func arrived(_ source: String, added: Int, newest: [NorrisProtocol.Event.NewItem]) {}
    func failed(_ source: String, _ failure: SourceFailure) { note(.failed(source, failure.kind)) }

    private func note(_ event: Event) {
        state.withLock { $0.events.append(event) }
    }

    /// Returns when this event has been recorded, and skips the events before.
    func heard(_ event: Event) async {
        await eventually { state.withLock { $0.take(event) } }
    }
}

/// A fetch that lasts until the test ends it or until it is cancelled.
final class ScriptedFetch: Sendable {
    private let state = Mutex((count: 0, run: CheckedContinuation<FetchOutcome, Never>?.none))

    var count: Int { state.withLock { $0.count } }

    @Sendable func fetch() async -> FetchOutcome {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                state.withLock { $0 = ($0.count + 1, continuation) }
                // The task may have been cancelled before the continuation existed.
                if Task.isCancelled { end(.cancelled) }
            }
        } onCancel: {
            end(.cancelled)
        }
    }

    func untilFetched() async {
        await eventually { state.withLock { $0.run != nil } }
    }

    /// Ends the current run or the next run.
    func finish(_ outcome: FetchOutcome) async {
        await untilFetched()
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
