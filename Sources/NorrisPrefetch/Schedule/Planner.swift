import NorrisProtocol

/// The schedules of all sources: which are due, and when to look again.
struct Planner: Sendable {
    /// How many sources are fetched at a time.
    static let maximumRuns = 4
    /// How long to wait at most before the clock is looked at again: it may have jumped.
    static let longestPause = Duration.seconds(60)

    /// In the order of the configuration.
    private var names: [String] = []
    private(set) var schedules: [String: SourceSchedule] = [:]
    private let jitter: Jitter
    private var generator: any RandomNumberGenerator & Sendable

    init(jitter: Jitter, generator: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()) {
        self.jitter = jitter
        self.generator = generator
    }

    /// What was kept of a source, and what the cache holds of it.
    typealias History = (record: SourceSchedule.Record, content: SourceSchedule.Content?)

    /// Takes over what the configuration says; sources it does not name any more are forgotten.
    ///
    /// - Parameter histories: of the sources that are new here.
    mutating func configure(
        _ policies: [(name: String, policy: SourcePolicy)], histories: [String: History], now: Timestamp
    ) {
        names = policies.map(\.name)
        let old = schedules
        schedules = [:]
        for (name, policy) in policies {
            if var known = old[name] {
                known.apply(policy, name: name, jitter: jitter, now: now)
                schedules[name] = known
            } else {
                let (record, content) = histories[name] ?? (SourceSchedule.Record(), nil)
                schedules[name] = SourceSchedule(
                    name: name, policy: policy, jitter: jitter, record: record, content: content, now: now
                )
            }
        }
    }

    /// Looks whether the clock was set back.
    ///
    /// - Returns: the records that are to be kept, by source.
    mutating func settle(_ now: Timestamp) -> [String: SourceSchedule.Record] {
        var changed: [String: SourceSchedule.Record] = [:]
        for name in names { changed[name] = schedules[name]?.settle(now) }
        return changed
    }

    /// Begins what is due.
    ///
    /// - Returns: the sources to fetch, each with what to keep of it meanwhile.
    mutating func begin(_ now: Timestamp) -> [(name: String, record: SourceSchedule.Record)] {
        var begun: [(name: String, record: SourceSchedule.Record)] = []
        var running = schedules.values.count { $0.isRunning }
        for name in names where running < Planner.maximumRuns {
            guard schedules[name]?.isDue(now) == true,
                let record = schedules[name]?.start(now, using: &generator)
            else { continue }
            begun.append((name, record))
            running += 1
        }
        return begun
    }

    /// How long to wait for the next run, unless something happens.
    func pause(_ now: Timestamp) -> Duration {
        // Where all places are taken, the end of a run is waited for.
        let isFull = schedules.values.count { $0.isRunning } >= Planner.maximumRuns
        let next = schedules.values.filter { !$0.isRunning && !isFull }.compactMap(\.nextRunAt?.seconds).min()
        guard let next else { return Planner.longestPause }
        return max(.seconds(1), min(.seconds(next - now.seconds), Planner.longestPause))
    }

    mutating func finish(_ name: String, _ outcome: FetchOutcome, now: Timestamp) {
        schedules[name]?.finish(outcome, now: now, using: &generator)
    }

    /// - Returns: nil for a source that is not known.
    @discardableResult
    mutating func update<Result, Failure: Error>(
        _ name: String, _ body: (inout SourceSchedule) throws(Failure) -> Result
    ) throws(Failure) -> Result? {
        guard var schedule = schedules[name] else { return nil }
        defer { schedules[name] = schedule }
        return try body(&schedule)
    }
}
