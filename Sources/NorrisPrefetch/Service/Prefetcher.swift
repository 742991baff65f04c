package import Logging
import NorrisProtocol
import ServiceLifecycle
import Synchronization

/// Fetches each source when its schedule says so; runs and searches of a source take turns.
///
/// Nothing here waits for a network but those; whoever asks meanwhile is answered from the schedules in memory.
package final class Prefetcher: Service {
    /// A source and how its content is fetched and stored.
    package struct Source: Sendable {
        package let name: String
        package let policy: SourcePolicy
        package let fetch: @Sendable () async -> FetchOutcome

        package init(name: String, policy: SourcePolicy, fetch: @escaping @Sendable () async -> FetchOutcome) {
            self.name = name
            self.policy = policy
            self.fetch = fetch
        }
    }

    private struct State {
        var planner: Planner
        var fetches: [String: @Sendable () async -> FetchOutcome] = [:]
        var turns: [String: Turn] = [:]

        mutating func turn(of name: String) -> Turn {
            if let turn = turns[name] { return turn }
            let turn = Turn()
            turns[name] = turn
            return turn
        }
    }

    /// How much of the time of a search is worth a request.
    private static let shortestRequest = Duration.milliseconds(250)

    private let state: Mutex<State>
    private let changes = Atomic<Int>(0)
    private let host: any PrefetchHost
    private let clock: any WallClock
    private let searchTime: Duration
    private let logger: Logger
    private let wakeUp = WakeSignal()

    /// - Parameter searchTime: how long a search waits for an upstream, its turn included.
    package convenience init(
        host: any PrefetchHost, machine: String, clock: any WallClock, searchTime: Duration, logger: Logger
    ) {
        let planner = Planner(jitter: Jitter(machine: machine))
        self.init(host: host, planner: planner, clock: clock, searchTime: searchTime, logger: logger)
    }

    init(host: any PrefetchHost, planner: Planner, clock: any WallClock, searchTime: Duration, logger: Logger) {
        self.host = host
        self.clock = clock
        self.searchTime = searchTime
        self.logger = logger
        state = Mutex(State(planner: planner))
    }

    /// Takes over the sources of a configuration, the first or a new one.
    package func configure(_ sources: [Source]) {
        let known = state.withLock { $0.planner.schedules }
        var histories: [String: Planner.History] = [:]
        for source in sources where known[source.name] == nil {
            histories[source.name] = host.history(of: source.name)
        }
        change { state in
            state.planner.configure(sources.map { ($0.name, $0.policy) }, histories: histories, now: clock.now)
            state.fetches = [:]
            for source in sources { state.fetches[source.name] = source.fetch }
        }
        wakeUp.set()
    }

    /// Rises whenever a schedule may have changed: what was made of schedules before may be out of date.
    package var version: Int { changes.load(ordering: .acquiring) }

    private func change<Result>(_ body: (inout State) -> Result) -> Result {
        defer { changes.add(1, ordering: .releasing) }
        return state.withLock { body(&$0) }
    }

    /// The schedule of a source as it is now.
    package func schedule(of source: String) -> SourceSchedule? {
        state.withLock { $0.planner.schedules[source] }
    }

    package func run() async throws {
        await cancelWhenGracefulShutdown {
            await self.work()
        }
    }

    private func work() async {
        await withDiscardingTaskGroup { runs in
            while !Task.isCancelled {
                let now = clock.now
                let settled = change { $0.planner.settle(now) }
                for (name, record) in settled { host.keep(record, of: name) }
                let (begun, pause) = change { ($0.planner.begin(now), $0.planner.pause(now)) }
                for (name, record) in begun {
                    runs.addTask { await self.fetch(name, keeping: record) }
                }
                await wakeUp.wait(atMost: pause, on: clock)
            }
        }
    }

    private func fetch(_ name: String, keeping record: SourceSchedule.Record) async {
        let turn = state.withLock { $0.turn(of: name) }
        var outcome = FetchOutcome.cancelled
        let isTaken = await turn.take()
        if isTaken {
            host.began(name)
            if let hold = schedule(of: name)?.hold(clock.now) {
                outcome = .postponed(hold)
            } else {
                host.keep(record, of: name)
                logger.debug("source.started", metadata: ["source": "\(name)"])
                if let fetch = state.withLock({ $0.fetches[name] }) { outcome = await fetch() }
            }
        }
        note(name) { $0.finish(name, outcome, now: self.clock.now) }
        // Whoever has the next turn finds the schedule as this one left it.
        if isTaken { turn.giveBack() }
        if case .fetched(let added, _) = outcome { host.finished(name, added: added) }
        if case .failed = outcome, let failure = schedule(of: name)?.failure { host.failed(name, failure) }
        if case .postponed(let reason) = outcome {
            let (now, next) = (clock.now, schedule(of: name)?.nextRunAt)
            host.failed(name, SourceFailure(kind: reason.kind, message: reason.message, since: now, retryAt: next))
        }
        wakeUp.set()
    }

    /// Whether a search would be passed on to the source's upstream now.
    package func mayAsk(_ name: String, whileFresh: Bool = false) -> Bool {
        schedule(of: name)?.mayAsk(clock.now, whileFresh: whileFresh) ?? false
    }

    /// Passes a search on to a source's upstream, if this is the time to.
    ///
    /// - Parameters:
    ///   - whileFresh: whether also while the source's content is fresh as a whole.
    ///   - request: is given the time it may take, and returns whether the upstream takes this search at all.
    /// - Returns: whether the upstream answered. Where it did not, or was left alone, the schedule says why.
    package func ask(
        _ name: String, whileFresh: Bool = false,
        _ request: @Sendable (Duration) async throws(FetchFailure) -> Bool
    ) async -> Bool {
        guard mayAsk(name, whileFresh: whileFresh) else { return false }
        let turn = state.withLock { $0.turn(of: name) }
        let start = clock.elapsed
        let isTaken = await turn.take(within: searchTime, on: clock)
        defer { if isTaken { turn.giveBack() } }
        let timeLeft = searchTime - (clock.elapsed - start)
        guard isTaken, timeLeft >= Prefetcher.shortestRequest else {
            return waitedInVain(name)
        }
        // Whoever had the turn may have brought news.
        guard mayAsk(name, whileFresh: whileFresh) else { return false }
        var failure: FetchFailure?
        do throws(FetchFailure) {
            guard try await request(timeLeft) else { return false }
        } catch {
            failure = error
        }
        // What was called off says nothing of the upstream.
        guard !Task.isCancelled else { return false }
        if failure?.kind == .timeout, timeLeft < searchTime - Prefetcher.shortestRequest {
            // Most of the time went into the wait for others.
            return waitedInVain(name)
        }
        note(name) { planner in
            planner.update(name) { $0.finishSearch(failure, now: self.clock.now) }
        }
        return failure == nil
    }

    private func waitedInVain(_ name: String) -> Bool {
        let message = "The source \(name) is being asked by others, which takes longer than a search waits."
        let now = clock.now
        _ = change { $0.planner.update(name) { $0.noteVainWait(message, now: now) } }
        return false
    }

    /// The stored content of a source is gone: it is due at once, if nothing holds it.
    package func contentGone(_ name: String) {
        note(name) { planner in
            planner.update(name) { $0.contentGone(self.clock.now) }
        }
        wakeUp.set()
    }

    /// Begins a run of a source soon, whatever its schedule says.
    package func refresh(_ name: String, isAdministrator: Bool) throws(RefreshRefusal) {
        let now = clock.now
        let refusal = change { state -> RefreshRefusal? in
            do throws(RefreshRefusal) {
                let known: Void? = try state.planner.update(name) { (schedule) throws(RefreshRefusal) in
                    try schedule.requestRefresh(now, isAdministrator: isAdministrator)
                }
                return known == nil ? .unknown : nil
            } catch {
                return error
            }
        }
        if let refusal { throw refusal }
        wakeUp.set()
    }

    /// The thread for what may take long and is in no hurry.
    package static var background: any TaskExecutor { ThreadExecutor.background }

    /// The threads that decode what upstreams answer.
    package static var decoding: any TaskExecutor { DecodingThreads.shared }

    /// Changes a schedule, keeps what came of it, and says in the log where a source begins or ceases to fail: once,
    /// however often it is tried.
    private func note(_ name: String, _ change: (inout Planner) -> Void) {
        let (before, after) = self.change { state in
            let before = state.planner.schedules[name]
            change(&state.planner)
            return (before, state.planner.schedules[name])
        }
        guard let before, let after else { return }
        // At the end of a run what was kept at its start is replaced in any case.
        if before.record != after.record || before.isRunning { host.keep(after.record, of: name) }
        if let failure = after.failure {
            guard before.record.failure?.kind != failure.kind else { return }
            logger.warning(
                "source.failed",
                metadata: [
                    "source": "\(name)", "error.kind": "\(failure.kind.rawValue)", "error": "\(failure.message)",
                    "retry.at": "\(failure.retryAt.map { "\($0)" } ?? "")",
                ]
            )
        } else if before.record.failure != nil {
            logger.notice("source.recovered", metadata: ["source": "\(name)"])
        }
    }
}
