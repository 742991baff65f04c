package import NorrisProtocol

/// What of a source's schedule outlives the process. What the fields mean is the schedule's affair.
package struct ScheduleRecord: Sendable, Equatable {
    package var nextRunAt: Timestamp?
    package var backoffUntil: Timestamp?
    /// When the upstream asked to be asked again.
    package var retryAt: Timestamp?
    /// How many fetches have failed since the last success.
    package var failures: Int
    package var failureKind: String?
    package var failureMessage: String?
    /// When the first of the failures was.
    package var failureSince: Timestamp?
    /// When the last of the failures was.
    package var failedAt: Timestamp?
    /// The settings that the schedule was made with.
    package var settings: String?
    /// Whether the source had content then.
    package var hadContent: Bool

    package init(
        nextRunAt: Timestamp? = nil,
        backoffUntil: Timestamp? = nil,
        retryAt: Timestamp? = nil,
        failures: Int = 0,
        failureKind: String? = nil,
        failureMessage: String? = nil,
        failureSince: Timestamp? = nil,
        failedAt: Timestamp? = nil,
        settings: String? = nil,
        hadContent: Bool = false
    ) {
        self.nextRunAt = nextRunAt
        self.backoffUntil = backoffUntil
        self.retryAt = retryAt
        self.failures = failures
        self.failureKind = failureKind
        self.failureMessage = failureMessage
        self.failureSince = failureSince
        self.failedAt = failedAt
        self.settings = settings
        self.hadContent = hadContent
    }
}
