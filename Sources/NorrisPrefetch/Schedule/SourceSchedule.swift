package import NorrisProtocol

/// When one source is fetched: pure decisions over a clock that is passed in and may jump.
package struct SourceSchedule: Equatable, Sendable {
    /// What is kept over restarts.
    package struct Record: Equatable, Sendable {
        /// nil before the first run.
        package var nextRunAt: Timestamp?
        /// No request goes out before, unless somebody asks for a refresh.
        package var backoffUntil: Timestamp?
        /// No request goes out before: the upstream asked for it.
        package var retryAt: Timestamp?
        /// Runs that failed in a row.
        package var failures = 0
        /// The last failure, of a run or a search, until the next success; since the first of those in a row.
        package var failure: SourceFailure?
        package var failedAt: Timestamp?
        /// The settings of the last run that ended.
        package var settings: String?
        /// Whether there was content when it had ended.
        package var hadContent = false

        package init() {}
    }

    /// What the cache holds of the source.
    package struct Content: Equatable, Sendable {
        /// What it was fetched with.
        package var settings: String
        package var fetchedAt: Timestamp

        package init(settings: String, fetchedAt: Timestamp) {
            self.settings = settings
            self.fetchedAt = fetchedAt
        }
    }

    /// How many runs ended how since the daemon began.
    package struct Runs: Equatable, Sendable {
        /// With new items.
        package var added = 0
        /// What there is may have been edited or gone.
        package var nothingNew = 0
        package var failed = 0
        /// That had to wait, which is no failure of the upstream.
        package var postponed = 0

        package init(added: Int = 0, nothingNew: Int = 0, failed: Int = 0, postponed: Int = 0) {
            (self.added, self.nothingNew, self.failed, self.postponed) = (added, nothingNew, failed, postponed)
        }
    }

    /// How long an upstream may put off a run, by whatever header.
    static let maximumPutOff = Duration.seconds(86_400)
    /// How long after a failure no search asks the upstream.
    static let searchPause = Duration.seconds(60)
    /// How often a source may be refreshed on the word of ordinary users.
    static let refreshPause = Duration.seconds(300)

    /// How long a clock stays behind before it is taken for right.
    static let settlingTime = Duration.seconds(600)

    package private(set) var policy: SourcePolicy
    /// With times that may be nearer than those that are kept: see ``settle(_:)``.
    package private(set) var record: Record { didSet { unsettled = nil } }
    package private(set) var content: Content? { didSet { unsettled = nil } }
    /// What both were before they were settled, until something happens or the clock has stayed behind for long.
    private var unsettled: Unsettled?
    package private(set) var runs = Runs()
    /// The settings of the run under way; nil between runs.
    private var running: String?
    /// Whether content went while the run was under way: what it brought may be among that.
    private var lostContent = false
    private var lastRefresh: Timestamp?
    /// A search that waited for its turn in vain, which is no failure of the upstream.
    private var vainWait: SourceFailure?
    /// The refresh interval of this machine.
    private var interval: Duration

    init(name: String, policy: SourcePolicy, jitter: Jitter, record: Record, content: Content?, now: Timestamp) {
        self.policy = policy
        self.record = record
        self.content = content
        interval = jitter.applied(to: policy.refresh, of: name)
        // Content that never came, for all that was tried with these settings, is not gone.
        let neverCame = record.failures > 0 && record.settings == policy.settings && !record.hadContent
        if record.nextRunAt == nil || (content?.settings != policy.settings && !neverCame) {
            self.record.nextRunAt = now
        }
        _ = settle(now)
    }

    package var isRunning: Bool { running != nil }

    /// When the next run begins, unless something happens; nil for a source that is not fetched.
    package var nextRunAt: Timestamp? {
        guard policy.isEnabled, let next = record.nextRunAt else { return nil }
        return [next, record.backoffUntil, record.retryAt].compactMap { $0 }.max()
    }

    /// The last failure until the next success, with the time of the next try.
    package var failure: SourceFailure? {
        var failure = record.failure
        failure?.retryAt = isRunning ? nil : nextRunAt
        return failure
    }

    /// What a search that is not passed on meets: the failure, with the time from which searches are passed on again,
    /// or that others waited for the turn in vain a moment ago.
    ///
    /// - Parameter whileFresh: whether searches are passed on also while the content is fresh.
    package func searchFailure(_ now: Timestamp, whileFresh: Bool = false) -> SourceFailure? {
        if var failure {
            if whileFresh || !isFresh(now) { failure.retryAt = searchHolds.max() }
            return failure
        }
        guard let vainWait, vainWait.since.duration(to: now) < SourceSchedule.searchPause else { return nil }
        return vainWait
    }

    func isDue(_ now: Timestamp) -> Bool {
        guard !isRunning, let next = nextRunAt else { return false }
        return next <= now
    }

    /// Whether the last success is not too long ago, and was one with the settings in force.
    package func isFresh(_ now: Timestamp) -> Bool {
        guard let content, content.settings == policy.settings else { return false }
        return content.fetchedAt.duration(to: now) <= policy.staleAfter
    }

    /// Whether a search may be passed on to the upstream.
    ///
    /// - Parameter whileFresh: whether content that is fresh as a whole may lack what is searched.
    func mayAsk(_ now: Timestamp, whileFresh: Bool = false) -> Bool {
        guard policy.isEnabled, whileFresh || !isFresh(now) else { return false }
        return searchHolds.allSatisfy { $0 <= now }
    }

    /// The times before which no search is passed on. Whoever waits in vain for a run spares others the wait; for
    /// another search, that ends in a moment.
    private var searchHolds: [Timestamp] {
        let pauses = [record.failedAt, isRunning ? vainWait?.since : nil]
        return [record.backoffUntil, record.retryAt].compactMap { $0 }
            + pauses.compactMap { $0?.advanced(by: SourceSchedule.searchPause) }
    }

    /// Why a run that has begun has to wait all the same: a search that had the turn may have been told to go away.
    func hold(_ now: Timestamp) -> FetchFailure? {
        guard let retryAt = record.retryAt, retryAt > now else { return nil }
        return FetchFailure(
            kind: record.failure?.kind ?? .quota,
            message: record.failure?.message ?? "The upstream asked to be left alone.",
            isRetryable: true,
            retryAfter: now.duration(to: retryAt)
        )
    }

    /// Takes times for nearer that lie further ahead than they can unless the clock was set back, or is not set yet.
    ///
    /// Should the clock come to be right soon, it is as though nothing had been. Else what the times were taken for is
    /// to be kept, or every start would put the next run off anew.
    ///
    /// - Returns: what to keep, if anything.
    mutating func settle(_ now: Timestamp) -> Record? {
        lastRefresh = lastRefresh.map { min($0, now) }
        if let wait = vainWait, wait.since > now { vainWait = nil }
        // The end of the run makes new times.
        guard !isRunning else { return nil }
        let stored = unsettled ?? Unsettled(record: record, content: content, since: now)
        let settled = stored.settled(now, interval: interval)
        if settled == stored {
            if unsettled != nil { (record, content) = (stored.record, stored.content) }
            return nil
        }
        guard unsettled != nil, stored.since <= now else {
            (record, content) = (settled.record, settled.content)
            unsettled = Unsettled(record: stored.record, content: stored.content, since: now)
            return nil
        }
        guard stored.since.duration(to: now) >= SourceSchedule.settlingTime else { return nil }
        unsettled = nil
        return record
    }

    /// The configuration was read again.
    mutating func apply(_ policy: SourcePolicy, name: String, jitter: Jitter, now: Timestamp) {
        let changed = policy.settings != self.policy.settings
        let old = interval
        self.policy = policy
        interval = jitter.applied(to: policy.refresh, of: name)
        if changed {
            record.nextRunAt = now
        } else if interval < old, let fetchedAt = content?.fetchedAt, record.failures == 0 {
            record.nextRunAt = fetchedAt.advanced(by: interval)
        }
    }

    /// A run begins.
    ///
    /// - Returns: what to keep now: should the daemon be killed in the middle, again and again, the upstream must not
    ///   feel it.
    mutating func start(_ now: Timestamp, using generator: inout some RandomNumberGenerator) -> Record {
        running = policy.settings
        lostContent = false
        var record = record
        record.failures += 1
        record.settings = policy.settings
        record.hadContent = content != nil
        record.backoffUntil = now.advanced(by: Backoff.delay(failures: record.failures, using: &generator))
        record.nextRunAt = record.backoffUntil
        return record
    }

    /// The run has ended.
    mutating func finish(
        _ outcome: FetchOutcome, now: Timestamp, using generator: inout some RandomNumberGenerator
    ) {
        guard let settings = running else { return }
        running = nil
        switch outcome {
        case .cancelled:
            return
        case .contentGone:
            runs.nothingNew += 1
            content = nil
            record.nextRunAt = now
        case .postponed(let reason):
            runs.postponed += 1
            record.nextRunAt = now.advanced(by: reason.retryAfter ?? interval)
        case .fetched(let added, let notBefore):
            if added > 0 { runs.added += 1 } else { runs.nothingNew += 1 }
            record = Record()
            vainWait = nil
            content = lostContent ? nil : Content(settings: settings, fetchedAt: now)
            let putOff = min(notBefore ?? .zero, SourceSchedule.maximumPutOff)
            record.nextRunAt = now.advanced(by: max(interval, putOff))
        case .failed(let failure):
            runs.failed += 1
            record.failures += 1
            note(failure, now)
            if failure.isRetryable {
                let delay = Backoff.delay(failures: record.failures, using: &generator)
                record.backoffUntil = now.advanced(by: delay)
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

    /// A search at the upstream has ended.
    mutating func finishSearch(_ failure: FetchFailure?, now: Timestamp) {
        if let failure {
            note(failure, now)
        } else {
            record.failure = nil
            record.failedAt = nil
            vainWait = nil
        }
    }

    /// A search has waited for its turn longer than it may.
    mutating func noteVainWait(_ message: String, now: Timestamp) {
        vainWait = SourceFailure(kind: .timeout, message: message, since: now)
    }

    private mutating func note(_ failure: FetchFailure, _ now: Timestamp) {
        record.failure = SourceFailure(
            kind: failure.kind, message: failure.message, since: record.failure?.since ?? now
        )
        record.failedAt = now
        if let wait = failure.retryAfter {
            record.retryAt = now.advanced(by: min(wait, SourceSchedule.maximumPutOff))
        }
    }

    /// The stored content is gone.
    mutating func contentGone(_ now: Timestamp) {
        content = nil
        lostContent = isRunning
        record.nextRunAt = now
    }

    /// Somebody asks for a run now, which goes through backoff but not through what the upstream asked for.
    mutating func requestRefresh(_ now: Timestamp, isAdministrator: Bool) throws(RefreshRefusal) {
        guard policy.isEnabled else { throw .disabled }
        if let retryAt = record.retryAt, retryAt > now { throw .putOff(until: retryAt) }
        if !isAdministrator {
            if let next = lastRefresh?.advanced(by: SourceSchedule.refreshPause), next > now {
                throw .tooSoon(until: next)
            }
            lastRefresh = now
        }
        record.nextRunAt = now
        record.backoffUntil = nil
    }
}

/// Why a source is not refreshed at once.
package enum RefreshRefusal: Error, Equatable, Sendable {
    case unknown
    case disabled
    /// The upstream asked to be left alone.
    case putOff(until: Timestamp)
    /// It was refreshed a short while ago.
    case tooSoon(until: Timestamp)
}
