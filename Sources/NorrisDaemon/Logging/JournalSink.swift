import Logging
import NorrisText
import SystemdIntegration

/// The systemd journal with one field for each value (systemd.journal-fields(7)).
struct JournalSink: LogSink {
    func write(_ line: LogLine) {
        Journal.send(JournalSink.fields(of: line))
    }

    static func fields(of line: LogLine) -> [(name: String, value: String)] {
        let event = line.event
        var fields = [
            ("MESSAGE", "\(event.message)\(line.metadata.line)"),
            ("PRIORITY", "\(event.level.syslogPriority)"),
            ("SYSLOG_IDENTIFIER", "norrisd"),
            ("NORRISD_EVENT", "\(event.message)"),
            ("CODE_FILE", event.file),
            ("CODE_LINE", "\(event.line)"),
            ("CODE_FUNC", event.function),
        ]
        if let id = MessageID.id(of: "\(event.message)") { fields.append(("MESSAGE_ID", id)) }
        for (key, value) in line.metadata {
            fields.append(("NORRISD_" + JournalSink.fieldName(key), sanitizedText("\(value)")))
        }
        return fields
    }

    /// `peer.uid` as `PEER_UID`.
    private static func fieldName(_ key: String) -> String {
        String(decoding: key.uppercased().utf8.map { byte in
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"): byte
            default: UInt8(ascii: "_")
            }
        }, as: UTF8.self)
    }
}

extension Logger.Level {
    /// The priorities of syslog(3).
    fileprivate var syslogPriority: Int {
        switch self {
        case .critical: 2
        case .error: 3
        case .warning: 4
        case .notice: 5
        case .info: 6
        case .debug, .trace: 7
        }
    }
}
