import Glibc
import Logging
import NorrisProtocol
import NorrisText
import NorrisThreads
import Synchronization
import SystemdIntegration

/// An event for a sink.
struct LogLine: Sendable {
    let event: LogEvent
    /// The metadata of the event and of its logger.
    let metadata: Logger.Metadata
    /// The time of the event, because the line may be written later.
    let at = Timestamp.now()
}

/// The destination of log lines: standard error, or the journal with fields.
protocol LogSink: Sendable { func write(_ line: LogLine) }

/// The daemon's log handler: one level for all loggers, one sink.
struct DaemonLogHandler: LogHandler {
    var metadata: Logger.Metadata = [:]
    var metadataProvider: Logger.MetadataProvider?
    let levels: LogLevelSwitch
    let sink: any LogSink

    var logLevel: Logger.Level {
        get { levels.current }
        // The process has one level.
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

/// The level of every logger of the process: `--log-level`, else the level of the configuration in force.
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
    static func text(of line: LogLine) -> String {
        "\(line.at) \(line.event.level) \(line.event.message)\(line.metadata.line)\n"
    }

    func write(_ line: LogLine) {
        // One write, so that lines of several threads do not mix. A closed standard error cannot be reported.
        _ = Array(StandardErrorSink.text(of: line).utf8).withUnsafeBytes {
            Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count)
        }
    }
}

/// The systemd journal with one field for each value (systemd.journal-fields(7)).
struct JournalSink: LogSink {
    func write(_ line: LogLine) { Journal.send(JournalSink.fields(of: line)) }

    static func fields(of line: LogLine) -> [(name: String, value: String)] {
        let event = line.event
        var fields = [
            ("MESSAGE", "\(event.message)\(line.metadata.line)"), ("PRIORITY", "\(priority(of: event.level))"),
            ("SYSLOG_IDENTIFIER", "norrisd"), ("NORRISD_EVENT", "\(event.message)"), ("CODE_FILE", event.file),
            ("CODE_LINE", "\(event.line)"), ("CODE_FUNC", event.function),
        ]
        if let id = MessageID.id(of: "\(event.message)") { fields.append(("MESSAGE_ID", id)) }
        for (key, value) in line.metadata { fields.append(("NORRISD_" + fieldName(key), sanitizedText("\(value)"))) }
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
    /// `key=value` pairs sorted by name, without control characters. A value that could be taken for several pairs is
    /// quoted, with a backslash before quotes and backslashes.
    fileprivate var line: String {
        sorted { $0.key < $1.key }.map { key, value in
            let text = sanitizedLine("\(value)")
            let isPlain = !text.isEmpty && !text.contains { $0.isWhitespace || "\"\\=".contains($0) }
            if isPlain { return " \(key)=\(text)" }
            let escaped = text.map { "\"\\".contains($0) ? "\\\($0)" : "\($0)" }.joined()
            return " \(key)=\"\(escaped)\""
        }.joined()
    }
}

/// Writes lines on a separate thread, because a reader of the log that does not read would otherwise stop the event
/// loop. The thread runs while lines wait.
final class QueuedSink: LogSink {
    /// The lines that may wait. Further ones are lost and counted.
    static let maximumLines = 1_000
    /// The longest wait of ``finish()``.
    private static let finishTime = Duration.seconds(1)

    private struct State {
        var lines: [LogLine] = []
        var lost = 0
        var isWriting = false
    }

    private let sink: any LogSink
    private let state = Mutex(State())

    init(_ sink: any LogSink) { self.sink = sink }

    func write(_ line: LogLine) {
        let isFirst = state.withLock { state in
            if state.lines.count < QueuedSink.maximumLines { state.lines.append(line) } else { state.lost += 1 }
            defer { state.isWriting = true }
            return !state.isWriting
        }
        // Without a thread, the lines wait for the next line or the end.
        if isFirst, startThread(writeWaiting) != 0 { state.withLock { $0.isWriting = false } }
    }

    private func writeWaiting() {
        while true {
            let (lines, lost): ([LogLine], Int) = state.withLock { state in
                defer { (state.lines, state.lost) = ([], 0) }
                if state.lines.isEmpty { state.isWriting = false }
                return (state.lines, state.lost)
            }
            if lines.isEmpty { return }
            for line in lines { sink.write(line) }
            if lost > 0 {
                let event = LogEvent(
                    level: .warning, message: "log.lost", metadata: nil, source: nil, file: #fileID,
                    function: #function, line: #line)
                sink.write(LogLine(event: event, metadata: ["lines": "\(lost)"]))
            }
        }
    }

    /// Waits until all lines are written, at most a second, because the daemon stops.
    func finish() {
        let end = ContinuousClock.now + QueuedSink.finishTime
        while state.withLock(\.isWriting), .now < end { usleep(1_000) }
        // The lines for which no thread could be started.
        if !state.withLock(\.isWriting) { writeWaiting() }
    }
}
