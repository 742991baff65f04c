package import NorrisProtocol

/// Decides when to fetch one source, without side effects. The clock is passed in, and may jump.
package struct SourceSchedule: Sendable {
    package struct Content: Equatable, Sendable {
        /// The settings used for the fetch.
        package var settings: String
        /// The time when the upstream sent the content, to norrisd or to a cache.
        package var fetchedAt: Timestamp
        /// Whether a cache sent the content although it was no longer fresh.
        package var isStale: Bool

        package init(settings: String, fetchedAt: Timestamp, isStale: Bool = false) {
            (self.settings, self.fetchedAt, self.isStale) = (settings, fetchedAt, isStale)
        }
    }

    package struct History: Equatable, Sendable {
        var record: ScheduleRecord
        var content: Content?

        package init(record: ScheduleRecord = ScheduleRecord(), content: Content? = nil) {
            (self.record, self.content) = (record, content)
        }
    }

    /// The numbers of runs since the daemon started, by result.
    package struct Runs: Equatable, Sendable {
        /// Runs with new items.
        package var added = 0
        /// Runs without new items; existing items may have changed or been removed.
        package var nothingNew = 0
        package var failed = 0
        /// Runs that had to wait without a failure of the upstream.
        package var postponed = 0

        package init(added: Int = 0, nothingNew: Int = 0, failed: Int = 0, postponed: Int = 0) {
            (self.added, self.nothingNew, self.failed, self.postponed) = (added, nothingNew, failed, postponed)
        }
    }

    /// The longest delay of a run that an upstream can demand by any header.
    static let maximumPutOff = Duration.seconds(86_400)
    /// The time after a failure during which no search is sent.
    static let searchPause = Duration.seconds(60)
    /// The shortest interval between two refreshes by ordinary users.
    static let refreshPause = Duration.seconds(300)
    /// The time for which a clock must stay behind the stored times before limited times replace them.
    static let rollbackConfirmation = Duration.seconds(600)

    package private(set) var policy: SourcePolicy
    /// The current record, whose times may be earlier than the stored times: see ``limitTimes(_:)``.
    package private(set) var record: ScheduleRecord { didSet { rollback = nil } }
    package private(set) var content: Content? { didSet { rollback = nil } }
    /// The record and content before ``limitTimes(_:)`` changed both, and the time of the change. Reset by other
    /// changes.
    private var rollback: (stored: History, since: Timestamp)?
    package private(set) var runs = Runs()
    /// The settings and the upstream of the current run; nil between runs.
    private var running: (settings: String, upstream: String)?
    /// Whether content was removed during the current run, possibly with the run's results.
    private var lostContent = false
    private var lastRefresh: Timestamp?
    /// Whether another run must follow, because the current run may have fetched before a refresh was requested.
    private var isRefreshWanted = false
    /// The first of consecutive failed runs since the machine last slept. Searches do not change this time. Not stored.
    private var failingSince: Timestamp?
    /// The last timeout of a search that waited for the source's lock, which is not a failure of the upstream.
    private var lockTimeout: SourceFailure?
    /// The refresh interval with the jitter of this machine.
    private var interval: Duration

    package init(policy: SourcePolicy, interval: Duration, history: History, now: Timestamp) {
        self.policy = policy
        self.interval = interval
        (record, content) = (history.record, history.content)
        if let upstream = record.upstream, upstream != policy.upstream { forgetFailures() }
        if record.failures > 0 { failingSince = record.failure?.since ?? now }
        // Missing content makes a run due, unless these settings have already failed to fetch content.
        let neverCame = record.failures > 0 && record.settings == policy.settings && !record.hadContent
        if record.nextRunAt == nil || (content?.settings != policy.settings && !neverCame) { record.nextRunAt = now }
        _ = limitTimes(now)
    }

    package var isRunning: Bool { running != nil }

    /// The time of the next run, unless the schedule changes; nil for a disabled source.
    package var nextRunAt: Timestamp? {
        guard policy.isEnabled, let next = record.nextRunAt else { return nil }
        return [next, record.backoffUntil, record.retryAt].compactMap { $0 }.max()
    }

    /// The last failure since the last success, with the time of the next attempt.
    package var failure: SourceFailure? {
        var failure = record.failure
        failure?.retryAt = isRunning ? nil : nextRunAt
        return failure
    }

    /// The reason why searches are not sent: the last failure with the time of the next permitted search, or a recent
    /// timeout of another search. `whileFresh` tells whether searches are sent even if the content is fresh.
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
        // At the end of time every interval is over at once.
        return next <= now && now < .last || isRefreshWanted
    }

    /// Whether the content was fetched with the current settings, at most `staleAfter` ago.
    package func isFresh(_ now: Timestamp) -> Bool {
        guard let content, content.settings == policy.settings, !content.isStale else { return false }
        return content.fetchedAt.duration(to: now) <= policy.staleAfter
    }

    /// Whether runs fail, and the last success, or without one the first failure, was longer than `staleAfter` ago.
    ///
    /// - Parameter unavailableSince: the time since which no run is possible; nil if runs are possible.
    package func isOverdue(_ now: Timestamp, unavailableSince: Timestamp? = nil) -> Bool {
        let start: Timestamp
        if let unavailableSince {
            start = content?.fetchedAt ?? unavailableSince
        } else if policy.isEnabled, record.failures > 0, let failingSince, !wasAsleep(now) {
            // The time in which the machine slept or the daemon was stopped does not count.
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

    /// Whether a search may be sent. With `whileFresh`, a search is sent even if the content is fresh.
    func maySearch(_ now: Timestamp, whileFresh: Bool = false) -> Bool {
        guard policy.isEnabled, whileFresh || !isFresh(now) else { return false }
        return searchHolds.allSatisfy { $0 <= now }
    }

    /// The times before which no search is sent. A lock timeout during a run holds other searches back, because they
    /// would wait too. A lock timeout behind another search does not, because that search ends soon.
    private var searchHolds: [Timestamp] {
        let pauses = [record.failedAt, isRunning ? lockTimeout?.since : nil]
        return [record.backoffUntil, record.retryAt].compactMap { $0 }
            + pauses.compactMap { $0?.advanced(by: SourceSchedule.searchPause) }
    }

    /// The reason to postpone a run that has begun, because the upstream has rate-limited a search in the meantime.
    func rateLimit(_ now: Timestamp) -> FetchFailure? {
        guard let retryAt = record.retryAt, retryAt > now else { return nil }
        return FetchFailure(
            kind: record.failure?.kind ?? .quota,
            message: record.failure?.message ?? "The upstream asked norrisd to wait.", isRetryable: true,
            retryAfter: now.duration(to: retryAt))
    }

    mutating func apply(_ policy: SourcePolicy, interval: Duration, now: Timestamp) {
        let (oldPolicy, oldInterval) = (self.policy, self.interval)
        (self.policy, self.interval) = (policy, interval)
        if policy.upstream != oldPolicy.upstream { forgetFailures() }
        if policy.settings != oldPolicy.settings {
            record.nextRunAt = now
        } else if interval < oldInterval, let fetchedAt = content?.fetchedAt, record.failures == 0 {
            record.nextRunAt = fetchedAt.advanced(by: interval)
        }
    }

    /// Removes backoff, rate limit and failures, which belong to another URL.
    private mutating func forgetFailures() {
        record = ScheduleRecord(nextRunAt: record.nextRunAt, settings: record.settings, hadContent: record.hadContent)
        (lockTimeout, failingSince) = (nil, nil)
    }

    /// Begins a run. Returns the record to store now. The record counts a failure in advance, so that a daemon that is
    /// killed repeatedly during runs does not burden the upstream.
    package mutating func start(_ now: Timestamp, using generator: inout some RandomNumberGenerator) -> ScheduleRecord {
        if wasAsleep(now) { failingSince = nil }
        running = (policy.settings, policy.upstream)
        (lostContent, isRefreshWanted) = (false, false)
        var record = record
        record.failures += 1
        (record.settings, record.upstream) = (policy.settings, policy.upstream)
        record.hadContent = content != nil
        record.backoffUntil = now.advanced(by: Backoff.delay(failures: record.failures, using: &generator))
        record.nextRunAt = record.backoffUntil
        return record
    }

    package mutating func finish(
        _ outcome: FetchOutcome, now: Timestamp, using generator: inout some RandomNumberGenerator
    ) {
        guard let (settings, upstream) = running else { return }
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
        case .fetched(let added, _, let notBefore, let age, let isStale):
            if added > 0 { runs.added += 1 } else { runs.nothingNew += 1 }
            record = ScheduleRecord()
            (lockTimeout, failingSince) = (nil, nil)
            let fetchedAt = now.advanced(by: .zero - age)
            content = lostContent ? nil : Content(settings: settings, fetchedAt: fetchedAt, isStale: isStale)
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
        // The URL may have changed during the run.
        if upstream != policy.upstream { forgetFailures() }
        (record.settings, record.upstream) = (settings, policy.upstream)
        record.hadContent = content != nil
        if settings != policy.settings || lostContent { record.nextRunAt = now }
    }

    mutating func finishSearch(_ failure: FetchFailure?, now: Timestamp) {
        if let failure { return note(failure, now) }
        (record.failure, record.failedAt, lockTimeout) = (nil, nil, nil)
    }

    mutating func searchTimedOut(_ message: String, now: Timestamp) {
        lockTimeout = SourceFailure(kind: .timeout, message: message, since: now)
    }

    private mutating func note(_ failure: FetchFailure, _ now: Timestamp) {
        let since = record.failure?.since ?? now
        record.failure = SourceFailure(
            kind: failure.kind, message: failure.message, since: since, feedURL: failure.feedURL)
        record.failedAt = now
        if let wait = failure.retryAfter { record.retryAt = now.advanced(by: min(wait, SourceSchedule.maximumPutOff)) }
    }

    /// Makes a run due, because the stored content was removed.
    mutating func contentGone(_ now: Timestamp) {
        content = nil
        lostContent = isRunning
        record.nextRunAt = now
    }

    /// Makes a run due now, despite backoff but not a rate limit, or after the current run. Returns why if refused.
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

    /// Limits times too far ahead, after the clock was set back or before it is set. Returns the record to store.
    ///
    /// The limited times apply at once, but are stored only after ``rollbackConfirmation``. Therefore a clock that is
    /// soon corrected changes nothing, and a clock that stays behind does not delay the next run again at every start.
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
    /// Limits all times to the latest possible ones. `interval` is the time between two runs of the source.
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

    private func longestWait(_ now: Timestamp, interval: Duration) -> Duration {
        var longest = max(interval, SourceSchedule.maximumPutOff)
        // The clock was set back by more than an interval. Without this limit, an hourly source would wait for a day.
        if let content, content.fetchedAt > now.advanced(by: interval) { longest = interval }
        // A retry keeps its distance from the failure. Both times are from one record, and therefore consistent.
        if let failedAt = record.failedAt, let next = record.nextRunAt, failedAt > now, next >= failedAt {
            longest = min(longest, failedAt.duration(to: next))
        }
        return longest
    }
}
