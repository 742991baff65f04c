import NorrisProtocol
import NorrisSystem

/// The schedules of all sources: which are due, and when to look again.
struct Planner: Sendable {
    /// The number of sources that are fetched at a time. More than slow upstreams are likely to occupy, because a run
    /// that waits for a network costs nothing; the decoding threads bound the work.
    static let maximumRuns = 16
    /// How long to wait at most before the clock is read again: it may have jumped.
    static let longestPause = Duration.seconds(60)

    /// In the order of the configuration.
    private var names: [String] = []
    var schedules: [String: SourceSchedule] = [:]
    private let jitter: Jitter
    private var generator: any RandomNumberGenerator & Sendable

    init(jitter: Jitter, generator: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()) {
        self.jitter = jitter
        self.generator = generator
    }

    /// Takes over what the configuration says; sources it does not name any more are forgotten.
    ///
    /// - Parameter histories: of the sources that are new here.
    mutating func configure(
        _ policies: [(name: String, policy: SourcePolicy)], histories: [String: SourceSchedule.History], now: Timestamp
    ) {
        names = policies.map(\.name)
        let known = schedules
        schedules = [:]
        for (name, policy) in policies {
            let interval = jitter.applied(to: policy.refresh, of: name)
            if var schedule = known[name] {
                schedule.apply(policy, interval: interval, now: now)
                schedules[name] = schedule
            } else {
                let history = histories[name] ?? SourceSchedule.History()
                schedules[name] = SourceSchedule(policy: policy, interval: interval, history: history, now: now)
            }
        }
    }

    /// Limits times that lie too far ahead because the clock was set back.
    ///
    /// - Returns: the records to store, by source.
    mutating func limitTimes(_ now: Timestamp) -> [String: ScheduleRecord] {
        var changed: [String: ScheduleRecord] = [:]
        for name in names { changed[name] = schedules[name]?.limitTimes(now) }
        return changed
    }

    /// Begins what is due.
    ///
    /// - Returns: the sources to fetch, each with what to store of it meanwhile.
    mutating func begin(_ now: Timestamp) -> [(name: String, record: ScheduleRecord)] {
        var begun: [(name: String, record: ScheduleRecord)] = []
        var running = schedules.values.count { $0.isRunning }
        for name in names where running < Planner.maximumRuns && schedules[name]?.isDue(now) == true {
            guard let record = schedules[name]?.start(now, using: &generator) else { continue }
            begun.append((name, record))
            running += 1
        }
        return begun
    }

    /// How long to wait for the next run, unless something happens.
    func pause(_ now: Timestamp) -> Duration {
        // With the most runs under way, the end of one is waited for.
        let isFull = schedules.values.count { $0.isRunning } >= Planner.maximumRuns
        let next = schedules.values.filter { !$0.isRunning && !isFull }.compactMap(\.nextRunAt?.seconds).min()
        guard let next else { return Planner.longestPause }
        return max(.seconds(1), min(.seconds(next - now.seconds), Planner.longestPause))
    }

    mutating func finish(_ name: String, _ outcome: FetchOutcome, now: Timestamp) {
        schedules[name]?.finish(outcome, now: now, using: &generator)
    }
}

/// A factor between 0.9 and 1.1 for each source of each machine, always the same, so that the machines of an office do
/// not all fetch at one time.
struct Jitter: Sendable {
    /// An identifier of this machine, such as the content of machine-id(5); only a hash of it is used.
    let machine: String

    func applied(to interval: Duration, of source: String) -> Duration {
        let hash = stableHash(machine + "\n" + source)
        return interval * (0.9 + 0.2 * (Double(hash >> 11) / Double(1 << 53)))
    }
}
