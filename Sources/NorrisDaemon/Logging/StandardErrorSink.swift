import Glibc
import Logging
import NorrisProtocol

/// One line an event: `2026-01-31T12:00:00Z info server.ready socket=/run/norrisd.sock`.
struct StandardErrorSink: LogSink {
    func write(_ event: LogEvent, metadata: Logger.Metadata) {
        let line = "\(Timestamp.now()) \(event.level) \(event.message)\(metadata.line)\n"
        // One write, so that lines of several threads do not mix; nobody can be told that standard error is gone.
        _ = Array(line.utf8).withUnsafeBytes { Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}
