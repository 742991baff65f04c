import Glibc
import Logging
import NorrisProtocol

/// One line an event: `2026-01-31T12:00:00Z info server.ready socket=/run/norrisd.sock`.
struct StandardErrorSink: LogSink {
    func write(_ line: LogLine) {
        let text = "\(Timestamp.now()) \(line.event.level) \(line.event.message)\(line.metadata.line)\n"
        // One write, so that lines of several threads do not mix; nobody can be told that standard error is gone.
        _ = Array(text.utf8).withUnsafeBytes { Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}
