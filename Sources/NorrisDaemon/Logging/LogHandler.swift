import Glibc
import Logging
import NorrisProtocol
import NorrisText
import Synchronization
import SystemdIntegration

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

    var logLevel: Logger.Level {
        get { levels.current }
        // There is one level for the whole process.
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

/// The level of every logger of the process: that of the flag `--log-level`, else that of the configuration in force.
final class LogLevelSwitch: Sendable {
    private let isFixed: Bool
    private let level: Mutex<Logger.Level>

    init(flag: Logger.Level? = nil, _ level: Logger.Level) {
        isFixed = flag != nil
        self.level = Mutex(flag ?? level)
    }

    var current: Logger.Level { level.withLock { $0 } }

    func set(_ level: Logger.Level) {
        if !isFixed { self.level.withLock { $0 = level } }
    }
}

/// One line an event: `2026-01-31T12:00:00Z info server.ready socket=/run/norrisd.sock`.
struct StandardErrorSink: LogSink {
    func write(_ line: LogLine) {
        let text = "\(Timestamp.now()) \(line.event.level) \(line.event.message)\(line.metadata.line)\n"
        // One write, so that lines of several threads do not mix; nobody can be told that standard error is gone.
        _ = Array(text.utf8).withUnsafeBytes { Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}

/// The systemd journal with one field for each value (systemd.journal-fields(7)).
struct JournalSink: LogSink {
    func write(_ line: LogLine) {
        Journal.send(JournalSink.fields(of: line))
    }

    static func fields(of line: LogLine) -> [(name: String, value: String)] {
        let event = line.event
        var fields = [
            ("MESSAGE", "\(event.message)\(line.metadata.line)"),
            ("PRIORITY", "\(priority(of: event.level))"),
            ("SYSLOG_IDENTIFIER", "norrisd"),
            ("NORRISD_EVENT", "\(event.message)"),
            ("CODE_FILE", event.file),
            ("CODE_LINE", "\(event.line)"),
            ("CODE_FUNC", event.function),
        ]
        if let id = MessageID.id(of: "\(event.message)") { fields.append(("MESSAGE_ID", id)) }
        for (key, value) in line.metadata {
            fields.append(("NORRISD_" + fieldName(key), sanitizedText("\(value)")))
        }
        return fields
    }

    /// `peer.uid` as `PEER_UID`.
    private static func fieldName(_ key: String) -> String {
        String(key.uppercased().map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" })
    }

    /// The priorities of syslog(3).
    private static func priority(of level: Logger.Level) -> Int {
        switch level {
        case .critical: 2
        case .error: 3
        case .warning: 4
        case .notice: 5
        case .info: 6
        case .debug, .trace: 7
        }
    }
}

extension Logger.Metadata {
    /// `key=value` pairs by name, values in quotation marks where they hold spaces, free of control characters.
    fileprivate var line: String {
        sorted { $0.key < $1.key }
            .map { key, value in
                let text = sanitizedLine("\(value)")
                return text.contains(" ") || text.isEmpty ? " \(key)=\"\(text)\"" : " \(key)=\(text)"
            }
            .joined()
    }
}
