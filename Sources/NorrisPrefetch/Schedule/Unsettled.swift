import NorrisProtocol

/// The times of a source as they were when the clock was first seen behind them.
struct Unsettled: Equatable, Sendable {
    var record: SourceSchedule.Record
    var content: SourceSchedule.Content?
    var since: Timestamp

    /// With no time further ahead than it can be.
    ///
    /// - Parameter interval: between two runs of the source.
    func settled(_ now: Timestamp, interval: Duration) -> Unsettled {
        var settled = self
        func limit(_ time: inout Timestamp?, to limit: Duration) {
            time = time.map { min($0, now.advanced(by: limit)) }
        }
        limit(&settled.record.nextRunAt, to: longestWait(now, interval: interval))
        limit(&settled.record.backoffUntil, to: Backoff.cap)
        limit(&settled.record.retryAt, to: SourceSchedule.maximumPutOff)
        limit(&settled.record.failedAt, to: .zero)
        if let failure = record.failure { settled.record.failure?.since = min(failure.since, now) }
        if let content { settled.content?.fetchedAt = min(content.fetchedAt, now) }
        return settled
    }

    /// How far ahead the next run can be.
    private func longestWait(_ now: Timestamp, interval: Duration) -> Duration {
        var longest = max(interval, SourceSchedule.maximumPutOff)
        // Set back by more than a step: without this, a source of every hour would wait for a day.
        if let content, content.fetchedAt > now.advanced(by: interval) { longest = interval }
        // A retry is as far from the failure as it was. Both are of one record, so one cannot be out of date.
        if let failedAt = record.failedAt, let next = record.nextRunAt, failedAt > now, next >= failedAt {
            longest = min(longest, failedAt.duration(to: next))
        }
        return longest
    }
}
