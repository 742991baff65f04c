package import Logging
import Synchronization

/// A logger whose lines a test can read, from trace on.
package final class LogRecorder: Sendable {
    private let written = Mutex<[(line: String, details: String)]>([])

    package init() {}

    /// Level and message.
    package var lines: [String] { written.withLock { $0.map(\.line) } }

    /// The same with all that varies.
    package var records: [String] { written.withLock { $0.map { "\($0.line) \($0.details)" } } }

    package var logger: Logger {
        Logger(label: "test") { _ in Handler(recorder: self) }
    }

    private struct Handler: LogHandler {
        let recorder: LogRecorder
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let details = "\(metadata) \(event.metadata ?? [:]) \(event.error.map { "\($0)" } ?? "")"
            recorder.written.withLock { $0.append(("\(event.level) \(event.message)", details)) }
        }
    }
}
