/// What of a source's schedule outlives the daemon's process, so that a restart makes no request sooner than it says.
package struct ScheduleRecord: Equatable, Sendable {
    /// nil before the first run.
    package var nextRunAt: Timestamp?
    /// No request goes out before, unless somebody refreshes the source.
    package var backoffUntil: Timestamp?
    /// No request goes out before: the upstream's rate limit.
    package var retryAt: Timestamp?
    /// Runs that failed in a row.
    package var failures: Int
    /// The last failure, of a run or a search, until the next success; since the first of those in a row. Its `retryAt`
    /// is not stored, but follows from the schedule.
    package var failure: SourceFailure?
    /// When the last failure was.
    package var failedAt: Timestamp?
    /// The settings of the last run that ended.
    package var settings: String?
    /// Whether there was content when it had ended.
    package var hadContent: Bool

    package init(
        nextRunAt: Timestamp? = nil, backoffUntil: Timestamp? = nil, retryAt: Timestamp? = nil, failures: Int = 0,
        failure: SourceFailure? = nil, failedAt: Timestamp? = nil, settings: String? = nil, hadContent: Bool = false
    ) {
        (self.nextRunAt, self.backoffUntil, self.retryAt) = (nextRunAt, backoffUntil, retryAt)
        (self.failures, self.failure, self.failedAt) = (failures, failure, failedAt)
        (self.settings, self.hadContent) = (settings, hadContent)
    }
}
