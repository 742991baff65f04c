import NorrisProtocol
import NorrisSystem

/// The schedules of all sources, and the choice of the next runs.
struct Planner: Sendable {
    /// The maximum number of concurrent runs. The number is larger than the probable number of slow upstreams, because
    /// a run that waits for a network costs nothing, and the decoding threads limit the work.
    static let maximumRuns = 16
    /// The longest wait before the clock is read again, because the clock may jump.
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

    /// Applies the sources of a configuration, and removes all others.
    ///
    /// - Parameter histories: the histories of new sources.
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

    /// Limits times that are too far ahead because the clock was set back.
    ///
    /// - Returns: the records to store, by source.
    mutating func limitTimes(_ now: Timestamp) -> [String: ScheduleRecord] {
        var changed: [String: ScheduleRecord] = [:]
        for name in names { changed[name] = schedules[name]?.limitTimes(now) }
        return changed
    }

    /// Begins the due runs.
    ///
    /// - Returns: the sources to fetch, each with the record to store during the run.
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

    /// The wait until the next run, if nothing else happens.
    func pause(_ now: Timestamp) -> Duration {
        // After the maximum number of runs has begun, the next run waits for the end of another.
        let isFull = schedules.values.count { $0.isRunning } >= Planner.maximumRuns
        let next = schedules.values.filter { !$0.isRunning && !isFull }.compactMap(\.nextRunAt?.seconds).min()
        guard let next else { return Planner.longestPause }
        return max(.seconds(1), min(.seconds(next - now.seconds), Planner.longestPause))
    }

    mutating func finish(_ name: String, _ outcome: FetchOutcome, now: Timestamp) {
        schedules[name]?.finish(outcome, now: now, using: &generator)
    }
}

/// A constant factor between 0.9 and 1.1 for each source of each machine, so that the machines of an office fetch at
/// different times.
struct Jitter: Sendable {
    /// An identifier of the machine, such as the content of machine-id(5). Only a hash is used.
    let machine: String

    func applied(to interval: Duration, of source: String) -> Duration {
        let hash = stableHash(machine + "\n" + source)
        return interval * (0.9 + 0.2 * (Double(hash >> 11) / Double(1 << 53)))
    }
}
