import NorrisFetchProtocol
import NorrisProtocol
import NorrisSystem

/// The schedules of all sources, which decide the due runs and the time of the next check.
struct Planner: Sendable {
    /// The largest number of concurrent runs, which equals the number of processes that fetch for them.
    static let maximumRuns = 4
    /// Sources whose last run succeeded go before those that hang, but not forever.
    static let failurePenalty = Duration.seconds(10)

    /// The sources in the order of the configuration.
    private var names: [String] = []
    var schedules: [String: SourceSchedule] = [:]
    var hosts = HostTurns()
    private let jitter: Jitter
    private var generator: any RandomNumberGenerator & Sendable

    init(jitter: Jitter, generator: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()) {
        self.jitter = jitter
        self.generator = generator
    }

    /// Applies a configuration, and removes sources that it does not name. `histories` has an entry per new source, and
    /// per known one that begins again with it.
    mutating func configure(
        _ policies: [(name: String, policy: SourcePolicy)], histories: [String: SourceSchedule.History], now: Timestamp
    ) {
        names = policies.map(\.name)
        let known = schedules
        schedules = [:]
        for (name, policy) in policies {
            let interval = jitter.applied(to: policy.refresh, of: name)
            if var schedule = known[name], histories[name] == nil {
                schedule.apply(policy, interval: interval)
                schedules[name] = schedule
            } else {
                let history = histories[name] ?? SourceSchedule.History()
                schedules[name] = SourceSchedule(policy: policy, interval: interval, history: history, now: now)
            }
        }
        spreadHolds()
    }

    /// Begins due runs, those first whose last run is longest ago; a failed run counts as later by ``failurePenalty``.
    /// The last run is left free for a source whose last run succeeded quickly, so that sources that hang do not hold
    /// it up. Such sources that became due at one time do not take it together, because all of them may hang. A source
    /// whose host another one is asking, or whose gap has not passed, stays due.
    ///
    /// - Returns: the sources to fetch, each with the record to store during its run.
    mutating func begin(_ now: Timestamp, _ elapsed: Duration) -> [(name: String, record: ScheduleRecord)] {
        hosts.noticeClock(now)
        spreadHolds()
        for name in names { schedules[name]?.noticeClock(now) }
        let running = schedules.values.filter(\.isRunning)
        let begins = running.filter(\.isProven).compactMap(\.runningSince)
        let due = names.compactMap { name -> (name: String, mayBeLast: Bool, lastRun: Timestamp)? in
            guard let schedule = schedules[name], schedule.isDue(now), let dueAt = schedule.nextRun(now) else {
                return nil
            }
            let lastRun = schedule.record.lastRunAt ?? Timestamp(seconds: 0)
            let penalty = schedule.record.failures > 0 ? Planner.failurePenalty : .zero
            let mayBeLast = schedule.isProven && begins.allSatisfy { $0 < dueAt }
            return (name, mayBeLast, lastRun.advanced(by: penalty))
        }
        let free = Planner.maximumRuns - running.count
        let sorted = due.sorted { $0.lastRun < $1.lastRun }
        var taken = Set(running.compactMap(\.policy.host))
        // Only a run that began earlier may hang.
        let chosen = (free == 1 ? sorted.filter(\.mayBeLast) : sorted).filter { source in
            guard hosts.gap > .zero, let host = schedules[source.name]?.policy.host else { return true }
            return hosts.gapLeft(host, elapsed) == .zero && taken.insert(host).inserted
        }
        return chosen.prefix(max(free - 1, min(free, 1))).compactMap { source in
            (schedules[source.name]?.start(now, using: &generator)).map { (source.name, $0) }
        }
    }

    /// The time until the next run, unless the schedules or the time of day change; nil without a next run.
    func pause(_ now: Timestamp) -> Duration? {
        // When the maximum of runs is reached, only the end of a run permits another.
        let isFull = schedules.values.count { $0.isRunning } >= Planner.maximumRuns
        let next = schedules.values.filter { !$0.isRunning && !isFull }.compactMap { $0.nextRun(now)?.seconds }.min()
        return next.map { .seconds(max($0 - now.seconds, 1)) }
    }

    mutating func finish(_ name: String, _ outcome: FetchOutcome, now: Timestamp) {
        schedules[name]?.finish(outcome, now: now, using: &generator)
    }

    // MARK: Hosts

    /// Notes the reply to a fetch of a source, and returns whether it is a refusal.
    mutating func note(_ reply: HostReply, to source: String, at host: String, _ now: Timestamp) -> Bool {
        defer { spreadHolds() }
        schedules[source]?.target = reply.host
        return hosts.note(reply, to: host, now)
    }

    /// The reason why a source must not be fetched now.
    mutating func refusal(of source: String, at host: String, _ now: Timestamp) -> FetchFailure? {
        if schedules[source]?.hasPass == true {
            schedules[source]?.hasPass = false
            return nil
        }
        let hold = hosts.hold(of: host, answeredBy: schedules[source]?.target)
        guard let hold, let end = hold.record.retryAt, end > now else { return nil }
        let reason = hold.record.failure?.message ?? ""
        return FetchFailure(
            kind: .http, message: "\(hold.host) allows no request until \(end) (\(reason)).",
            postponed: Int(end.seconds - now.seconds))
    }

    /// The held hosts, with the number of enabled sources that wait.
    func heldHosts(_ now: Timestamp) -> [ServerStatus.HeldHost] {
        let waiting = schedules.values.filter(\.policy.isEnabled).map {
            hosts.hold(of: $0.policy.host, answeredBy: $0.target)?.host
        }
        return hosts.holds.sorted { $0.key < $1.key }.compactMap { host, hold in
            guard let end = hold.retryAt, end > now else { return nil }
            let count = waiting.count { $0 == host }
            return .init(host: host, until: end, reason: hold.failure?.message ?? "", sources: count)
        }
    }

    private mutating func spreadHolds() {
        guard !hosts.holds.isEmpty else { return }
        for name in names {
            let hold = schedules[name].flatMap { hosts.hold(of: $0.policy.host, answeredBy: $0.target) }
            schedules[name]?.hostHold = hold?.record.retryAt
        }
    }
}

/// A constant factor of 0.9...1.1 per source and machine, so that the machines of an office do not fetch all at once.
package struct Jitter: Sendable {
    /// An identifier of the machine, such as the content of machine-id(5). Only its hash is used.
    private let machine: String

    package init(machine: String) { self.machine = machine }

    package func applied(to interval: Duration, of source: String) -> Duration {
        let hash = stableHash(machine + "\n" + source)
        return interval * (0.9 + 0.2 * (Double(hash >> 11) / Double(1 << 53)))
    }
}
