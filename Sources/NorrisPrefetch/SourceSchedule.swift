package import NorrisProtocol

/// The schedule of one source: pure decisions over a clock that is a parameter and may jump.
package struct SourceSchedule: Sendable {
    /// The cached content of the source.
    package struct Content: Equatable, Sendable {
        /// The settings of the fetch.
        package var settings: String
        package var fetchedAt: Timestamp

        package init(settings: String, fetchedAt: Timestamp) { (self.settings, self.fetchedAt) = (settings, fetchedAt) }
    }

    /// The stored state of a source from an earlier process.
    package struct History: Equatable, Sendable {
        var record: ScheduleRecord
        var content: Content?

        package init(record: ScheduleRecord = ScheduleRecord(), content: Content? = nil) {
            (self.record, self.content) = (record, content)
        }
    }

    /// The number of runs by outcome, since the daemon started.
    package struct Runs: Equatable, Sendable {
        /// Runs with new items.
        package var added = 0
        /// Runs without new items; existing items may have changed.
        package var nothingNew = 0
        package var failed = 0
        /// Runs that had to wait, which are not failures of the upstream.
        package var postponed = 0

        package init(added: Int = 0, nothingNew: Int = 0, failed: Int = 0, postponed: Int = 0) {
            (self.added, self.nothingNew, self.failed, self.postponed) = (added, nothingNew, failed, postponed)
        }
    }

    /// The longest delay of a run that an upstream can request, by any header.
    static let maximumPutOff = Duration.seconds(86_400)
    /// The time after a failure in which no search is passed on.
    static let searchPause = Duration.seconds(60)
    /// The shortest time between two refreshes of a source by ordinary users.
    static let refreshPause = Duration.seconds(300)
    /// The time that a clock must stay behind the stored times before limited times are stored.
    static let rollbackConfirmation = Duration.seconds(600)

    package private(set) var policy: SourcePolicy
    /// The record, possibly with limited times; see ``limitTimes(_:)``.
    package private(set) var record: ScheduleRecord { didSet { rollback = nil } }
    package private(set) var content: Content? { didSet { rollback = nil } }
    /// The record and the content before their times were limited, and the time of the limitation; nil after any other
    /// change.
    private var rollback: (stored: History, since: Timestamp)?
    package private(set) var runs = Runs()
    /// The settings of the current run; nil between runs.
    private var running: String?
    /// Whether content was removed during the current run, possibly with content of that run.
    private var lostContent = false
    private var lastRefresh: Timestamp?
    /// Whether another run follows the current run, because the current run may fetch content older than a request to
    /// refresh.
    private var isRefreshWanted = false
    /// The time of the first of the consecutive failed runs since the machine last slept. Unlike the failure's time,
    /// searches do not change it. Not stored.
    private var failingSince: Timestamp?
    /// A search that timed out waiting for the source's lock; not a failure of the upstream.
    private var lockTimeout: SourceFailure?
    /// The refresh interval of this machine.
    private var interval: Duration

    init(policy: SourcePolicy, interval: Duration, history: History, now: Timestamp) {
        self.policy = policy
        self.interval = interval
        (record, content) = (history.record, history.content)
        if record.failures > 0 { failingSince = record.failure?.since ?? now }
        // Content that these settings never fetched was not removed.
        let neverCame = record.failures > 0 && record.settings == policy.settings && !record.hadContent
        if record.nextRunAt == nil || (content?.settings != policy.settings && !neverCame) { record.nextRunAt = now }
        _ = limitTimes(now)
    }

    package var isRunning: Bool { running != nil }

    /// The beginning of the next run, if nothing else happens; nil for a source that is not fetched.
    package var nextRunAt: Timestamp? {
        guard policy.isEnabled, let next = record.nextRunAt else { return nil }
        return [next, record.backoffUntil, record.retryAt].compactMap { $0 }.max()
    }

    /// The last failure until the next success, with the time of the next attempt.
    package var failure: SourceFailure? {
        var failure = record.failure
        failure?.retryAt = isRunning ? nil : nextRunAt
        return failure
    }

    /// The reason why a search is not passed on: the failure, with the time from which searches are passed on again, or
    /// a recent timeout of another search.
    ///
    /// - Parameter whileFresh: whether searches are passed on even if the content is fresh.
    package func searchFailure(_ now: Timestamp, whileFresh: Bool = false) -> SourceFailure? {
        if var failure {
            if whileFresh || !isFresh(now) { failure.retryAt = searchHolds.max() }
            return failure
        }
        guard let lockTimeout, lockTimeout.since.duration(to: now) < SourceSchedule.searchPause else { return nil }
        return lockTimeout
    }

    func isDue(_ now: Timestamp) -> Bool {
        guard !isRunning, let next = nextRunAt else { return false }
        return next <= now || isRefreshWanted
    }

    /// Whether the last success is recent enough and had the settings in force.
    package func isFresh(_ now: Timestamp) -> Bool {
        guard let content, content.settings == policy.settings else { return false }
        return content.fetchedAt.duration(to: now) <= policy.staleAfter
    }

    /// Whether runs fail and the last success, or else the first failed run, is too long ago.
    ///
    /// - Parameter unavailableSince: the time since when no run is possible; nil if runs are possible.
    package func isOverdue(_ now: Timestamp, unavailableSince: Timestamp? = nil) -> Bool {
        let start: Timestamp
        if let unavailableSince {
            start = content?.fetchedAt ?? unavailableSince
        } else if policy.isEnabled, record.failures > 0, let failingSince, !wasAsleep(now) {
            // While the machine slept or the daemon was stopped, content became old without a failure.
            let earliest = failingSince.advanced(by: .zero - interval)
            start = content?.settings == policy.settings ? max(content?.fetchedAt ?? earliest, earliest) : failingSince
        } else {
            return false
        }
        return start.duration(to: now) > policy.staleAfter
    }

    /// Whether the next run is long overdue, because the machine slept or the daemon was stopped.
    private func wasAsleep(_ now: Timestamp) -> Bool {
        guard !isRunning, let nextRunAt else { return false }
        return nextRunAt.duration(to: now) > max(interval, .seconds(60))
    }

    /// Whether a search may be passed on to the upstream.
    ///
    /// - Parameter whileFresh: whether fresh content may lack the searched items.
    func maySearch(_ now: Timestamp, whileFresh: Bool = false) -> Bool {
        guard policy.isEnabled, whileFresh || !isFresh(now) else { return false }
        return searchHolds.allSatisfy { $0 <= now }
    }

    /// The times before which no search is passed on. After a timeout behind a run, other searches do not wait for the
    /// same run; another search ends soon, so a timeout behind a search delays no other search.
    private var searchHolds: [Timestamp] {
        let pauses = [record.failedAt, isRunning ? lockTimeout?.since : nil]
        return [record.backoffUntil, record.retryAt].compactMap { $0 }
            + pauses.compactMap { $0?.advanced(by: SourceSchedule.searchPause) }
    }

    /// The reason why a run that has begun must wait: the upstream may have rate-limited a search in the meantime.
    func rateLimit(_ now: Timestamp) -> FetchFailure? {
        guard let retryAt = record.retryAt, retryAt > now else { return nil }
        return FetchFailure(
            kind: record.failure?.kind ?? .quota,
            message: record.failure?.message ?? "The upstream asked norrisd to wait.", isRetryable: true,
            retryAfter: now.duration(to: retryAt))
    }

    /// Applies a new configuration.
    mutating func apply(_ policy: SourcePolicy, interval: Duration, now: Timestamp) {
        let (oldPolicy, oldInterval) = (self.policy, self.interval)
        (self.policy, self.interval) = (policy, interval)
        if policy.settings != oldPolicy.settings {
            record.nextRunAt = now
        } else if interval < oldInterval, let fetchedAt = content?.fetchedAt, record.failures == 0 {
            record.nextRunAt = fetchedAt.advanced(by: interval)
        }
    }

    /// Begins a run.
    ///
    /// - Returns: the record to store now, so that a daemon that is killed repeatedly during runs does not burden the
    ///   upstream.
    mutating func start(_ now: Timestamp, using generator: inout some RandomNumberGenerator) -> ScheduleRecord {
        if wasAsleep(now) { failingSince = nil }
        running = policy.settings
        (lostContent, isRefreshWanted) = (false, false)
        var record = record
        record.failures += 1
        record.settings = policy.settings
        record.hadContent = content != nil
        record.backoffUntil = now.advanced(by: Backoff.delay(failures: record.failures, using: &generator))
        record.nextRunAt = record.backoffUntil
        return record
    }

    /// Ends the run.
    mutating func finish(_ outcome: FetchOutcome, now: Timestamp, using generator: inout some RandomNumberGenerator) {
        guard let settings = running else { return }
        running = nil
        switch outcome {
        case .cancelled: return
        case .contentGone:
            runs.nothingNew += 1
            content = nil
            record.nextRunAt = now
        case .postponed(let reason):
            runs.postponed += 1
            record.nextRunAt = now.advanced(by: reason.retryAfter ?? interval)
        case .fetched(let added, let notBefore):
            if added > 0 { runs.added += 1 } else { runs.nothingNew += 1 }
            record = ScheduleRecord()
            (lockTimeout, failingSince) = (nil, nil)
            content = lostContent ? nil : Content(settings: settings, fetchedAt: now)
            let putOff = min(notBefore ?? .zero, SourceSchedule.maximumPutOff)
            record.nextRunAt = now.advanced(by: max(interval, putOff))
        case .failed(let failure):
            runs.failed += 1
            record.failures += 1
            failingSince = failingSince?.past(now) ?? now
            note(failure, now)
            if failure.isRetryable {
                record.backoffUntil = now.advanced(by: Backoff.delay(failures: record.failures, using: &generator))
                record.nextRunAt = record.backoffUntil
            } else {
                record.backoffUntil = nil
                record.nextRunAt = now.advanced(by: interval)
            }
        }
        record.settings = settings
        record.hadContent = content != nil
        if settings != policy.settings || lostContent { record.nextRunAt = now }
    }

    /// Records the end of a search at the upstream.
    mutating func finishSearch(_ failure: FetchFailure?, now: Timestamp) {
        if let failure { return note(failure, now) }
        (record.failure, record.failedAt, lockTimeout) = (nil, nil, nil)
    }

    /// Records that a search timed out waiting for the source's lock.
    mutating func searchTimedOut(_ message: String, now: Timestamp) {
        lockTimeout = SourceFailure(kind: .timeout, message: message, since: now)
    }

    private mutating func note(_ failure: FetchFailure, _ now: Timestamp) {
        let since = record.failure?.since ?? now
        record.failure = SourceFailure(kind: failure.kind, message: failure.message, since: since)
        record.failedAt = now
        if let wait = failure.retryAfter { record.retryAt = now.advanced(by: min(wait, SourceSchedule.maximumPutOff)) }
    }

    /// Records that the stored content was removed.
    mutating func contentGone(_ now: Timestamp) {
        content = nil
        lostContent = isRunning
        record.nextRunAt = now
    }

    /// Makes a run due now despite backoff, but not despite a rate limit. During a run, the next run is due at its end.
    ///
    /// - Returns: the reason for a refusal.
    mutating func refresh(_ now: Timestamp, isAdministrator: Bool) -> RefreshRefusal? {
        guard policy.isEnabled else { return .disabled }
        if let retryAt = record.retryAt, retryAt > now { return .putOff(until: retryAt) }
        if !isAdministrator {
            let next = lastRefresh?.advanced(by: SourceSchedule.refreshPause)
            if let next, next > now { return .tooSoon(until: next) }
            lastRefresh = now
        }
        isRefreshWanted = isRunning
        record.nextRunAt = now
        record.backoffUntil = nil
        return nil
    }

    // MARK: Clock rollback

    /// Limits times that are further ahead than possible, because the clock was set back or is not set yet.
    ///
    /// The limited times are used at once, and stored after ``rollbackConfirmation``. Therefore a clock that is
    /// corrected soon changes nothing, and a clock that stays behind does not delay the next run again at every start.
    ///
    /// - Returns: the record to store, if any.
    mutating func limitTimes(_ now: Timestamp) -> ScheduleRecord? {
        lastRefresh = lastRefresh?.past(now)
        if let lockTimeout, lockTimeout.since > now { self.lockTimeout = nil }
        // The end of the run sets new times.
        guard !isRunning else { return nil }
        let stored = rollback?.stored ?? History(record: record, content: content)
        let limited = stored.limited(now, interval: interval)
        guard limited != stored else {
            if rollback != nil { (record, content) = (stored.record, stored.content) }
            return nil
        }
        guard let since = rollback?.since, since <= now else {
            (record, content) = (limited.record, limited.content)
            rollback = (stored, now)
            return nil
        }
        guard since.duration(to: now) >= SourceSchedule.rollbackConfirmation else { return nil }
        rollback = nil
        failingSince = failingSince?.past(now)
        return record
    }
}

extension SourceSchedule.History {
    /// The history with all times at most as far ahead as possible.
    ///
    /// - Parameter interval: the time between two runs of the source.
    fileprivate func limited(_ now: Timestamp, interval: Duration) -> SourceSchedule.History {
        var limited = self
        func limit(_ time: inout Timestamp?, to limit: Duration) {
            time = time.map { min($0, now.advanced(by: limit)) }
        }
        limit(&limited.record.nextRunAt, to: longestWait(now, interval: interval))
        limit(&limited.record.backoffUntil, to: Backoff.cap)
        limit(&limited.record.retryAt, to: SourceSchedule.maximumPutOff)
        limited.record.failedAt = record.failedAt?.past(now)
        if let failure = record.failure { limited.record.failure?.since = failure.since.past(now) }
        if let content { limited.content?.fetchedAt = content.fetchedAt.past(now) }
        return limited
    }

    /// The longest possible wait for the next run.
    private func longestWait(_ now: Timestamp, interval: Duration) -> Duration {
        var longest = max(interval, SourceSchedule.maximumPutOff)
        // For a clock that was set back by more than a step: otherwise a source with an interval of an hour would wait
        // for a day.
        if let content, content.fetchedAt > now.advanced(by: interval) { longest = interval }
        // A retry keeps its distance from the failure. Both times are in one record, so they are consistent.
        if let failedAt = record.failedAt, let next = record.nextRunAt, failedAt > now, next >= failedAt {
            longest = min(longest, failedAt.duration(to: next))
        }
        return longest
    }
}
