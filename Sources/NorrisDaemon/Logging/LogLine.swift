import Logging

/// What a sink writes.
struct LogLine: Sendable {
    let event: LogEvent
    /// The event's own and that of its logger.
    var metadata: Logger.Metadata
}
