package import NorrisProtocol

/// The part of the schedule of a source or of a host that is stored, so that a restart causes no early request.
package struct ScheduleRecord: Equatable, Sendable {
    /// The time of the last run; nil before the first.
    package var lastRunAt: Timestamp?
    /// The time from the last run to the next one, if it is not the interval: backoff, or caching headers.
    package var wait: Duration?
    /// The end of the pause for which a host has asked; of a source, if that was its last failure.
    package var retryAt: Timestamp?
    /// The number of consecutive failed runs.
    package var failures = 0
    /// The last failure of a run or a search until the next success. `since` is the time of the first consecutive
    /// failure. `retryAt` is not stored, but computed from the schedule.
    package var failure: SourceFailure?
    /// The settings of the last completed run.
    package var settings: String?
    /// Identifies the URL to which the failures belong.
    package var upstream: String?
    /// Whether there was content at the end of that run.
    package var hadContent = false

    package init(
        lastRunAt: Timestamp? = nil, wait: Duration? = nil, retryAt: Timestamp? = nil, failures: Int = 0,
        failure: SourceFailure? = nil, settings: String? = nil, upstream: String? = nil, hadContent: Bool = false
    ) {
        (self.lastRunAt, self.wait, self.retryAt, self.failures) = (lastRunAt, wait, retryAt, failures)
        (self.failure, self.settings, self.upstream, self.hadContent) = (failure, settings, upstream, hadContent)
    }
}
