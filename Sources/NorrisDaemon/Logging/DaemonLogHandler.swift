import Logging
import NorrisProtocol
import NorrisText

/// What a sink writes.
struct LogLine: Sendable {
    let event: LogEvent
    /// The event's own and that of its logger.
    var metadata: Logger.Metadata
}

/// Where a log line goes: standard error, or the journal with its fields.
protocol LogSink: Sendable {
    func write(_ line: LogLine)
}

/// The daemon's log handler: one level for all loggers, one sink.
struct DaemonLogHandler: LogHandler {
    var metadata: Logger.Metadata = [:]
    var metadataProvider: Logger.MetadataProvider?
    let levels: LogLevelSwitch
    let sink: any LogSink

    init(levels: LogLevelSwitch, sink: any LogSink) {
        self.levels = levels
        self.sink = sink
    }

    var logLevel: Logger.Level {
        get { levels.current }
        // One level for the whole process: a logger's own wish is not taken.
        set { _ = newValue }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        sink.write(LogLine(event: event, metadata: metadata.merging(event.metadata ?? [:]) { $1 }))
    }
}

extension Logger.Metadata {
    /// `key=value` pairs by name, values in quotation marks where they hold spaces, free of control characters.
    var line: String {
        sorted { $0.key < $1.key }
            .map { key, value in
                let text = sanitizedLine("\(value)")
                return text.contains(" ") || text.isEmpty ? " \(key)=\"\(text)\"" : " \(key)=\(text)"
            }
            .joined()
    }
}
