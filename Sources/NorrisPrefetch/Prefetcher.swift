package import Logging
package import NorrisFetchProtocol
package import NorrisProtocol
package import NorrisThreads
import ServiceLifecycle
import Synchronization

/// The interface to the daemon, which stores records and publishes events. Never called on the event loop.
package protocol PrefetchHost: Sendable {
    func history(of source: String) async -> SourceSchedule.History

    /// The stored records of all names with a prefix, by the rest of the name.
    func schedules(of prefix: String) async -> [String: ScheduleRecord]

    func store(_ record: ScheduleRecord, of source: String) async

    func began(_ source: String)
    func finished(_ source: String, added: Int, newest: [Event.NewItem])
    /// New items are stored.
    func arrived(_ source: String, added: Int, newest: [Event.NewItem])
    func failed(_ source: String, _ failure: SourceFailure)
}

/// Fetches each source according to its schedule, with one run or search of a source at a time. Only runs and searches
/// wait for a network. All other calls use the schedules in memory.
package final class Prefetcher: Service {
    package struct Source: Sendable {
        package let name: String
        package let policy: SourcePolicy
        package let fetch: @Sendable () async -> FetchOutcome

        package init(name: String, policy: SourcePolicy, fetch: @escaping @Sendable () async -> FetchOutcome) {
            (self.name, self.policy, self.fetch) = (name, policy, fetch)
        }
    }

    private struct State {
        var planner: Planner
        var fetches: [String: @Sendable () async -> FetchOutcome] = [:]
        /// The locks of runs and searches, which remain as long as their sources.
        var locks: [String: AsyncLock] = [:]
        /// The work that follows the running run of a source, and the work to begin.
        var following: [String: @Sendable () async -> Void] = [:]
        var work: [@Sendable () async -> Void] = []
        /// The locks of hosts, in which fetches have their turns.
        var turns: [String: AsyncLock] = [:]
    }

    /// The names of the records of hosts begin with this text, and those of sources do not.
    private static let hostPrefix = "host:"

    /// The shortest time left in which a search sends a request.
    private static let shortestRequest = Duration.milliseconds(250)

    private let state: Mutex<State>
    private let changes = Atomic<Int>(0)
    private let host: any PrefetchHost
    private let clock: any WallClock
    private let searchTime: Duration
    private let logger: Logger
    private let wakeUp = WakeSignal()

    /// - Parameters:
    ///   - machine: an identifier of the machine, such as the content of machine-id(5).
    ///   - searchTime: the time limit of a search, including the wait for the source's lock.
    package init(host: any PrefetchHost, machine: String, clock: any WallClock, searchTime: Duration, logger: Logger) {
        self.host = host
        self.clock = clock
        self.searchTime = searchTime
        self.logger = logger
        state = Mutex(State(planner: Planner(jitter: Jitter(machine: machine))))
    }

    /// Applies the sources of the first or a new configuration, and the time between two fetches of a host.
    package func configure(_ sources: [Source], hostGap: Duration = .zero) async {
        let known = state.withLock { $0.planner.schedules }
        var histories: [String: SourceSchedule.History] = [:]
        // Also of sources without a run, because the file of the schedules may have been replaced.
        for source in sources where known[source.name].map({ $0.record.lastRunAt == nil && !$0.isRunning }) ?? true {
            histories[source.name] = await host.history(of: source.name)
        }
        let holds = await host.schedules(of: Prefetcher.hostPrefix)
        change { [histories] state in
            state.planner.hosts.gap = hostGap
            state.planner.hosts.holds.merge(holds) { known, _ in known }
            state.planner.configure(sources.map { ($0.name, $0.policy) }, histories: histories, now: clock.now)
            state.fetches = Dictionary(uniqueKeysWithValues: sources.map { ($0.name, $0.fetch) })
            state.locks = state.locks.filter { state.fetches[$0.key] != nil }
        }
        wakeUp.set()
    }

    /// Rises whenever a schedule may have changed, so that derived data may be outdated.
    package var version: Int { changes.load(ordering: .acquiring) }

    private func change<Result>(_ body: (inout State) -> Result) -> Result {
        defer { changes.add(1, ordering: .releasing) }
        return state.withLock { body(&$0) }
    }

    package func schedule(of source: String) -> SourceSchedule? {
        state.withLock { $0.planner.schedules[source] }
    }

    /// The lock that a run or a search of a source holds.
    package func lock(of source: String) -> AsyncLock {
        state.withLock { state in
            let lock = state.locks[source] ?? AsyncLock()
            state.locks[source] = lock
            return lock
        }
    }

    // MARK: Runs

    package func run() async throws {
        await cancelWhenGracefulShutdown {
            await withDiscardingTaskGroup { runs in
                while !Task.isCancelled {
                    let (now, elapsed) = (self.clock.now, self.clock.elapsed)
                    let (begun, pause) = self.change { ($0.planner.begin(now, elapsed), $0.planner.pause(now)) }
                    for work in self.state.withLock({ state in
                        defer { state.work = [] }
                        return state.work
                    }) { runs.addTask { await work() } }
                    for (name, record) in begun {
                        runs.addTask { await self.fetch(name, storing: record) }
                    }
                    await self.wakeUp.wait(atMost: pause, on: self.clock)
                }
            }
        }
    }

    /// Begins what is due. To be called from time to time, because the time of day may jump.
    package func readClock() { wakeUp.set() }

    private func fetch(_ name: String, storing record: ScheduleRecord) async {
        let (lock, identity) = (lock(of: name), schedule(of: name)?.identity)
        var outcome = FetchOutcome.cancelled
        let isLocked = await lock.lock()
        if isLocked {
            host.began(name)
            await host.store(record, of: name)
            logger.debug("source.started", metadata: ["source": "\(name)"])
            if let fetch = state.withLock({ $0.fetches[name] }) { outcome = await fetch() }
        }
        await change(name) {
            if $0.schedules[name]?.identity === identity { $0.finish(name, outcome, now: self.clock.now) }
        }
        switch outcome {
        // Clients may wait for the end of the run.
        case _ where schedule(of: name).map { $0.identity !== identity } ?? true:
            let reason = "The source was removed during its run."
            host.failed(name, SourceFailure(kind: .offline, message: reason, since: clock.now))
        case .fetched(let added, let newest, _): host.finished(name, added: added, newest: newest)
        case .failed: if let failure = schedule(of: name)?.failure(clock.now) { host.failed(name, failure) }
        case .postponed(let reason):
            let (now, next) = (clock.now, schedule(of: name)?.nextRun(clock.now))
            host.failed(name, SourceFailure(kind: reason.kind, message: reason.message, since: now, retryAt: next))
        case .cancelled: break
        }
        // Unlocked last, so that the next owner sees the schedule of this run, and publishes after it.
        if isLocked { lock.unlock() }
        beginFollowing(name)
    }

    /// Begins work after the running run of a source, however it ends. It does not delay the next run, and a stop of
    /// the service cancels it.
    package func follow(_ name: String, _ work: @escaping @Sendable () async -> Void) {
        state.withLock { $0.following[name] = work }
    }

    private func beginFollowing(_ name: String) {
        state.withLock { state in state.following.removeValue(forKey: name).map { state.work.append($0) } }
        wakeUp.set()
    }

    /// Publishes the event of items that are stored after their run.
    package func announce(_ items: [Event.NewItem], added: Int, of name: String) {
        host.arrived(name, added: added, newest: items)
    }

    /// Publishes the events of a successful run outside of the schedule.
    package func announceRun(of name: String, added: Int, newest: [Event.NewItem]) {
        host.began(name)
        host.finished(name, added: added, newest: newest)
        beginFollowing(name)
    }

    /// Makes a source due after its stored content was removed, unless backoff or a hold delays the run.
    package func contentGone(_ name: String) async {
        await change(name) { $0.schedules[name]?.contentGone() }
        wakeUp.set()
    }

    /// Makes a run of a source due, despite its schedule, and with `passesHold` despite its host's hold.
    package func refresh(
        _ name: String, isAdministrator: Bool, passesHold: Bool = false
    ) throws(RefreshRefusal) {
        let now = clock.now
        let refusal = change { state -> RefreshRefusal? in
            guard state.planner.schedules[name] != nil else { return .unknown }
            return state.planner.schedules[name]?.refresh(
                now, isAdministrator: isAdministrator, passesHold: passesHold)
        }
        if let refusal { throw refusal }
        wakeUp.set()
    }

    // MARK: Hosts

    /// The hosts that are held now.
    package var heldHosts: [ServerStatus.HeldHost] { state.withLock { $0.planner.heldHosts(clock.now) } }

    /// Fetches one document in the turn of its host, and notes what the reply says about further ones.
    ///
    /// - Throws: also a postponed failure, without a request, if the host is held.
    package func inTurn<Item>(
        of source: String, at host: String,
        _ fetch: () async throws(FetchFailure) -> (head: FetchHead, items: [Item])
    ) async throws(FetchFailure) -> (head: FetchHead, items: [Item]) {
        let turn = state.withLock { state -> AsyncLock? in
            guard state.planner.hosts.gap > .zero else { return nil }
            let turn = state.turns[host] ?? AsyncLock()
            state.turns[host] = turn
            return turn
        }
        if let turn {
            guard await turn.lock() else { throw FetchFailure(kind: .offline, message: "norrisd stops.") }
            let gap = state.withLock { $0.planner.hosts.gapLeft(host, clock.elapsed) }
            if gap > .zero { try? await clock.sleep(for: gap) }
        }
        defer { turn?.unlock() }
        if let refusal = change({ $0.planner.refusal(of: source, at: host, clock.now) }) { throw refusal }
        do throws(FetchFailure) {
            let fetched = try await fetch()
            _ = await note(fetched.head.reply, to: source, at: host)
            return fetched
        } catch {
            // No request was sent.
            if error.found != nil, error.reply == nil { throw error }
            var failure = error
            if await note(error.reply, to: source, at: host) {
                failure.isRetryable = true
                failure.reply?.isLimit = true
            }
            throw failure
        }
    }

    /// Notes the end of a fetch, stores the hold of the host that replied, and returns whether it refused.
    private func note(_ reply: HostReply?, to source: String, at host: String) async -> Bool {
        let (isRefusal, before, after) = change { state in
            let before = state.planner.hosts.holds
            state.planner.hosts.end(host, clock.elapsed)
            let isRefusal = reply.map { state.planner.note($0, to: source, at: host, clock.now) } ?? false
            return (isRefusal, before, state.planner.hosts.holds)
        }
        if let name = reply?.host, let hold = after[name], hold != before[name] {
            await self.host.store(hold, of: Prefetcher.hostPrefix + name)
        }
        return isRefusal
    }

    // MARK: Searches

    /// Whether the schedule permits a search now.
    package func maySearch(_ name: String) -> Bool {
        guard let schedule = schedule(of: name), schedule.policy.isEnabled else { return false }
        return schedule.searchHold(clock.now) == nil
    }

    /// Sends a search to a source's upstream if the schedule permits it.
    ///
    /// - Parameter request: receives its time limit; returns nil if it was not sent, or if its result says nothing
    ///   about the upstream.
    /// - Returns: nil if the upstream did not answer or was not asked.
    package func search<Value: Sendable>(
        _ name: String, _ request: @Sendable (Duration) async throws(FetchFailure) -> Value?
    ) async -> Value? {
        let lock = lock(of: name)
        let start = clock.elapsed
        let isLocked = await lock.lock(within: searchTime, on: clock)
        defer { if isLocked { lock.unlock() } }
        let timeLeft = searchTime - (clock.elapsed - start)
        // The previous run or search may have changed the schedule.
        guard isLocked, timeLeft >= Prefetcher.shortestRequest, maySearch(name) else { return nil }
        var value: Value?
        var failure: FetchFailure?
        do throws(FetchFailure) {
            value = try await request(timeLeft)
        } catch {
            failure = error
        }
        if Task.isCancelled || (value == nil && failure == nil) { return nil }
        // A timeout is not the upstream's fault if the wait for the lock shortened the request.
        if failure?.kind == .timeout, timeLeft < searchTime - Prefetcher.shortestRequest { return nil }
        await change(name) { [failure] in $0.schedules[name]?.finishSearch(failure, now: self.clock.now) }
        return value
    }

    // MARK: Changes

    /// Changes a schedule, stores its record, and logs recovery and each new kind of failure.
    private func change(_ name: String, _ change: (inout Planner) -> Void) async {
        let (before, after) = self.change { state in
            let before = state.planner.schedules[name]
            change(&state.planner)
            return (before, state.planner.schedules[name])
        }
        guard let before, let after else { return }
        // Logged before storing, because clients already see the changed schedule in memory.
        if let failure = after.failure(clock.now), before.record.failure?.kind != failure.kind {
            logger.warning(
                "source.failed",
                metadata: [
                    "source": "\(name)", "error.kind": "\(failure.kind.rawValue)", "error": "\(failure.message)",
                    "retry.at": "\(failure.retryAt?.description ?? "")",
                ])
        } else if after.record.failure == nil, before.record.failure != nil {
            logger.notice("source.recovered", metadata: ["source": "\(name)"])
        }
        // The end of a run always replaces the record that its start stored.
        if before.record != after.record || before.isRunning { await host.store(after.record, of: name) }
    }
}
