package import NorrisFetchProtocol
package import NorrisProtocol

/// Decides when to fetch one source, without side effects. The clock is passed in, and may jump.
///
/// The next run is due at the later of two times: the last run plus the interval, or plus the wait that replaces the
/// interval (backoff after a failure, caching headers after a success); and the end of the host's hold. A time of the
/// last run in the future is from before the clock was set back, and counts as now.
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
        /// See ``SourceSchedule/target``.
        var target: String?

        package init(record: ScheduleRecord = ScheduleRecord(), content: Content? = nil, target: String? = nil) {
            (self.record, self.content, self.target) = (record, content, target)
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

    /// The longest delay that an upstream can demand.
    static let maximumPutOff = Duration.seconds(86_400)
    /// A source that fails for a shorter time does not degrade the daemon.
    static let shortestOutage = Duration.seconds(86_400)
    /// The wait of a source that has answered 410 (Gone), which a change or an administrator ends.
    private static let forever = Duration.seconds(1 << 32)
    /// The time after a failure during which no search is sent.
    static let searchPause = Duration.seconds(60)
    /// The shortest interval between two refreshes by ordinary users.
    static let refreshPause = Duration.seconds(SourceRefresh.pause * 60)
    /// A source with longer runs holds up others.
    static let longestQuickRun = Duration.seconds(2)
    /// The limits of ``backoff(failures:using:)``.
    static let (shortestBackoff, longestBackoff) = (Duration.seconds(4), Duration.seconds(3600))

    /// Distinguishes the schedules of a source and of an earlier source with the same name.
    final class Identity: Sendable {}

    let identity = Identity()
    package private(set) var policy: SourcePolicy
    package private(set) var record: ScheduleRecord
    package private(set) var content: Content?
    package private(set) var runs = Runs()
    /// The settings, the upstream and the begin of the current run; nil between runs.
    private var running: (settings: String, upstream: String, since: Timestamp)?
    /// Whether the last run took at most ``longestQuickRun``.
    private var isQuick = true
    /// Whether a run must begin before its time, or follow the current one. Backoff and the upstream still delay it.
    private var isWanted = false
    /// Whether a user asked for a run since the begin of the last one, so that its failure does not delay the next.
    private var isRequested = false
    /// Whether content was removed during the current run, possibly with the run's results.
    private var lostContent = false
    /// The time of the last refresh by an ordinary user.
    private var lastRefresh: Timestamp?
    /// The host that sent the last reply, after all redirects; nil if unknown.
    var target: String?
    /// The time until which the hosts of the source are not asked.
    var hostHold: Timestamp?
    /// Whether the next fetch ignores the hold, because an administrator asked for it.
    var hasPass = false
    /// The last failure of a run or a search.
    private var failedAt: Timestamp?
    /// The first of consecutive failed runs since the machine last slept.
    private var failingSince: Timestamp?
    /// When a time of the last run in the future was noticed.
    private var noticedAt: Timestamp
    /// The refresh interval with the jitter of this machine.
    private var interval: Duration

    package init(policy: SourcePolicy, interval: Duration, history: History, now: Timestamp) {
        (self.policy, self.interval, noticedAt) = (policy, interval, now)
        (record, content, target) = (history.record, history.content, history.target)
        if let upstream = record.upstream, upstream != policy.upstream { forgetFailures() }
        if record.failures > 0 { failingSince = record.failure?.since ?? now }
        // Missing content makes a run due, unless these settings have already failed to fetch content.
        let neverCame = record.failures > 0 && record.settings == policy.settings && !record.hadContent
        isWanted = content?.settings != policy.settings && !neverCame
    }

    package var isRunning: Bool { running != nil }
    /// Whether the upstream has answered 410 (Gone).
    package var isGone: Bool {
        record.failures > 0 && record.wait == SourceSchedule.forever && record.settings == policy.settings
    }
    var runningSince: Timestamp? { running?.since }
    /// Whether the last run succeeded quickly, with the current settings.
    var isProven: Bool { record.failures == 0 && content?.settings == policy.settings && isQuick }

    /// The time of the next run, unless the schedule changes; nil for a source that is disabled or gone.
    package func nextRun(_ now: Timestamp) -> Timestamp? {
        guard policy.isEnabled, !isGone else { return nil }
        let due = isWanted ? backoff(now) : lastRun(now)?.advanced(by: record.wait ?? interval)
        return [due ?? now, hasPass ? nil : hold(now)].compactMap(\.self).max()
    }

    private func backoff(_ now: Timestamp) -> Timestamp? {
        guard record.failures > 0, let wait = record.wait, wait != SourceSchedule.forever else { return nil }
        return lastRun(now)?.advanced(by: wait)
    }

    private func lastRun(_ now: Timestamp) -> Timestamp? { record.lastRunAt.map { $0 <= now ? $0 : noticedAt } }

    /// The end of the hold; nil if it has passed.
    private func hold(_ now: Timestamp) -> Timestamp? {
        let latest = noticedAt.advanced(by: SourceSchedule.maximumPutOff)
        let end = [record.retryAt, hostHold].compactMap(\.self).max()
        return end.flatMap { $0 > now ? min($0, latest) : nil }
    }

    func isDue(_ now: Timestamp) -> Bool {
        // At the end of time every interval is over at once.
        guard !isRunning, now < .last, let next = nextRun(now) else { return false }
        return next <= now
    }

    /// The last failure since the last success, with the time of the next attempt.
    package func failure(_ now: Timestamp) -> SourceFailure? {
        var failure = record.failure
        failure?.retryAt = isRunning ? nil : nextRun(now)
        return failure
    }

    /// Whether the content was fetched with the current settings, at most `staleAfter` ago.
    package func isFresh(_ now: Timestamp) -> Bool {
        guard let content, content.settings == policy.settings, !content.isStale else { return false }
        return content.fetchedAt.duration(to: now) <= policy.staleAfter
    }

    /// Whether runs have failed for a day, and the last success, or without one the first failure, was longer than
    /// `staleAfter` ago. The time in which the machine slept or the daemon was stopped does not count, and neither do
    /// refusals of a host.
    ///
    /// - Parameter unavailableSince: the time since which no run is possible; nil if runs are possible.
    package func isOverdue(_ now: Timestamp, unavailableSince: Timestamp? = nil) -> Bool {
        if let unavailableSince {
            let age = (content?.fetchedAt ?? unavailableSince).duration(to: now)
            return age > max(policy.staleAfter, SourceSchedule.shortestOutage)
        }
        guard policy.isEnabled, record.failures > 0, record.retryAt == nil, let failingSince, !wasAsleep(now),
            failingSince.duration(to: now) >= SourceSchedule.shortestOutage
        else { return false }
        let earliest = failingSince.advanced(by: .zero - interval)
        let isOurs = content?.settings == policy.settings
        let start = isOurs ? max(content?.fetchedAt ?? earliest, earliest) : failingSince
        return start.duration(to: now) > policy.staleAfter
    }

    /// Whether the next run is long overdue, because the machine slept or the daemon was stopped.
    private func wasAsleep(_ now: Timestamp) -> Bool {
        guard !isRunning, !isWanted, let next = nextRun(now) else { return false }
        return next.duration(to: now) > max(interval, .seconds(60))
    }

    // MARK: Searches

    /// The time before which no search is sent; nil if searches are sent.
    package func searchHold(_ now: Timestamp) -> Timestamp? {
        let pause = failedAt.flatMap { $0 <= now ? $0.advanced(by: SourceSchedule.searchPause) : nil }
        return [backoff(now), pause, hold(now)].compactMap(\.self).filter { $0 > now }.max()
    }

    /// The last failure, with the time of the next permitted search.
    package func searchFailure(_ now: Timestamp) -> SourceFailure? {
        var failure = record.failure
        failure?.retryAt = searchHold(now)
        return failure
    }

    mutating func finishSearch(_ failure: FetchFailure?, now: Timestamp) {
        if let failure { return note(failure, now) }
        // The wait before the next run stays.
        (record.failure, record.failures, failedAt) = (nil, 0, nil)
    }

    // MARK: Changes

    mutating func apply(_ policy: SourcePolicy, interval: Duration) {
        let old = self.policy
        (self.policy, self.interval) = (policy, interval)
        if policy.upstream != old.upstream { forgetFailures() }
        if policy.settings != old.settings { isWanted = true }
    }

    /// Removes backoff, rate limit and failures, which belong to another URL.
    private mutating func forgetFailures() {
        record = ScheduleRecord(lastRunAt: record.lastRunAt, settings: record.settings, hadContent: record.hadContent)
        (failedAt, failingSince, target) = (nil, nil, nil)
    }

    /// Notices that the clock was set back. Called before each decision.
    mutating func noticeClock(_ now: Timestamp) {
        if noticedAt > now || record.lastRunAt.map({ $0 <= now }) ?? true { noticedAt = now }
        lastRefresh = lastRefresh?.past(now)
        failingSince = failingSince?.past(now)
    }

    /// Begins a run. Returns the record to store now. The record counts a failure in advance, so that a daemon that is
    /// killed repeatedly during runs does not burden the upstream.
    package mutating func start(_ now: Timestamp, using generator: inout some RandomNumberGenerator) -> ScheduleRecord {
        if wasAsleep(now) { failingSince = nil }
        running = (policy.settings, policy.upstream, now)
        (isWanted, isRequested, lostContent) = (false, false, false)
        var record = record
        record.failures += 1
        (record.settings, record.upstream) = (policy.settings, policy.upstream)
        record.hadContent = content != nil
        record.lastRunAt = now
        record.wait = SourceSchedule.backoff(failures: record.failures, using: &generator)
        return record
    }

    package mutating func finish(
        _ outcome: FetchOutcome, now: Timestamp, using generator: inout some RandomNumberGenerator
    ) {
        guard let (settings, upstream, since) = running else { return }
        (running, hasPass) = (nil, false)
        switch outcome {
        case .cancelled: return
        case .postponed(let reason):
            runs.postponed += 1
            record.lastRunAt = now
            record.wait = reason.postponed.map { .seconds($0) }
        case .fetched(let added, _, let head):
            if added > 0 { runs.added += 1 } else { runs.nothingNew += 1 }
            record = ScheduleRecord(lastRunAt: now)
            (failedAt, failingSince) = (nil, nil)
            let fetchedAt = now.advanced(by: .seconds(-head.age))
            content = lostContent ? nil : Content(settings: settings, fetchedAt: fetchedAt, isStale: head.isStale)
            let putOff = min(.seconds(head.notBefore ?? 0), SourceSchedule.maximumPutOff)
            record.wait = putOff > interval ? putOff : nil
        case .failed(let failure):
            runs.failed += 1
            record.failures += 1
            record.lastRunAt = now
            failingSince = failingSince ?? now
            note(failure, now)
            let hasBackoff = failure.isRetryable && !isRequested
            record.wait = hasBackoff ? SourceSchedule.backoff(failures: record.failures, using: &generator) : nil
            if failure.status == 410 { record.wait = SourceSchedule.forever }
            if let pause = failure.reply?.pause {
                record.wait = max(record.wait ?? interval, min(.seconds(pause), SourceSchedule.maximumPutOff))
            }
        }
        isQuick = since.duration(to: now) <= SourceSchedule.longestQuickRun
        // The URL may have changed during the run.
        if upstream != policy.upstream { forgetFailures() }
        (record.settings, record.upstream) = (settings, policy.upstream)
        record.hadContent = content != nil
        if settings != policy.settings { isWanted = true }
    }

    /// A random wait after consecutive failures, between one second and a limit that doubles with each failure: full
    /// jitter, so that those who failed together do not come back together (Brooker, "Exponential Backoff And Jitter",
    /// AWS Architecture Blog, 2015).
    static func backoff(failures: Int, using generator: inout some RandomNumberGenerator) -> Duration {
        // Past this many doublings the limit is reached.
        let limit = min(longestBackoff, shortestBackoff * (1 << min(max(failures, 1) - 1, 16)))
        return .seconds(Int64.random(in: 1...limit.components.seconds, using: &generator))
    }

    private mutating func note(_ failure: FetchFailure, _ now: Timestamp) {
        let since = record.failure?.since.past(now) ?? now
        record.failure = SourceFailure(
            kind: failure.kind, message: failure.message, since: since)
        failedAt = now
        // The reply to a search holds only its source.
        let end = now.advanced(by: .seconds(failure.reply?.pause ?? 0))
        record.retryAt = failure.reply?.isLimit == true ? max(hostHold ?? end, end) : nil
    }

    /// Makes a run due, because the stored content was removed.
    mutating func contentGone() {
        content = nil
        (isWanted, lostContent) = (true, true)
    }

    /// Makes a run due now, despite backoff, or after the current run. Returns why if refused.
    ///
    /// - Parameter passesHold: whether the host is asked once despite its hold.
    mutating func refresh(_ now: Timestamp, isAdministrator: Bool, passesHold: Bool = false) -> RefreshRefusal? {
        guard policy.isEnabled else { return .disabled }
        if isGone, !isAdministrator { return .gone }
        if let end = hold(now), !passesHold { return .putOff(until: end) }
        hasPass = passesHold
        if !isAdministrator {
            let next = lastRefresh?.advanced(by: SourceSchedule.refreshPause)
            if let next, next > now { return .tooSoon(until: next) }
            lastRefresh = now
        }
        (isWanted, isRequested) = (true, true)
        if record.failures > 0 { record.wait = nil }
        return nil
    }
}
