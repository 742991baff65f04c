import Logging
import NorrisPrefetch
import NorrisProtocol
import Synchronization

/// Keeps what happens again and again from filling the log.
///
/// Of each event about each subject, a source or a path, a few lines are written in a window of time. Further ones are
/// suppressed; when the window is over, the last of them is written with their number.
final class RepeatLimitingSink: LogSink {
    /// How many lines of one kind are written in a window.
    static let allowed = 5
    /// Begins with the first line of its kind.
    static let window = Duration.seconds(600)
    /// How many kinds are distinguished: some subjects come from clients. Past it all subjects of an event are one.
    static let maximumKinds = 256

    private struct Kind: Hashable {
        let event: String
        let subject: [String]
    }

    private struct Repeats {
        /// By the clock's ``WallClock/elapsed``.
        let began: Duration
        var written = 0
        var suppressed = 0
        var last: (line: LogLine, at: Timestamp)?
    }

    private let sink: any LogSink
    private let clock: any WallClock
    private let kinds = Mutex<[Kind: Repeats]>([:])

    init(_ sink: any LogSink, clock: any WallClock) {
        self.sink = sink
        self.clock = clock
    }

    func write(_ line: LogLine) {
        writeEnded()
        let name = "\(line.event.message)"
        // Each step is wanted for debugging; the daemon's own life is what people ask for; and what makes a source
        // unavailable is logged only where a configuration is applied.
        let isLimited = line.event.level > .debug && !name.hasPrefix("server.") && !name.hasPrefix("configuration.")
            && name != "source.unavailable"
        if !isLimited || admits(line, of: name) { sink.write(line) }
    }

    /// Whether a line is written now; else it is suppressed and counted.
    private func admits(_ line: LogLine, of event: String) -> Bool {
        let subject = ["source", "path", "content", "peer.uid"].compactMap { line.metadata[$0].map { "\($0)" } }
        return kinds.withLock { kinds in
            var kind = Kind(event: event, subject: subject)
            if kinds[kind] == nil, kinds.count >= RepeatLimitingSink.maximumKinds {
                kind = Kind(event: event, subject: [])
            }
            var repeats = kinds[kind] ?? Repeats(began: clock.elapsed)
            defer { kinds[kind] = repeats }
            if repeats.written < RepeatLimitingSink.allowed {
                repeats.written += 1
                return true
            }
            repeats.suppressed += 1
            repeats.last = (line, clock.now)
            return false
        }
    }

    /// Writes what was suppressed in windows that are over. Has to be called now and then, or the last lines of
    /// something that has ceased would wait for the next line.
    func writeEnded() {
        let now = clock.elapsed
        writeSuppressed { now - $0.began >= RepeatLimitingSink.window }
    }

    /// Writes all that was suppressed: the daemon stops.
    func finish() {
        writeSuppressed { _ in true }
    }

    /// Forgets windows, and writes the last line of each that suppressed some, oldest first, with `repeats`, how many
    /// there were, and `last.at`, when the last was.
    private func writeSuppressed(where isOver: (Repeats) -> Bool) {
        let ended = kinds.withLock { kinds in
            let ended = kinds.filter { isOver($0.value) }
            for kind in ended.keys { kinds[kind] = nil }
            return ended.values.compactMap { repeats in repeats.last.map { (repeats.suppressed, $0.line, $0.at) } }
        }
        for (count, line, at) in ended.sorted(by: { $0.2 < $1.2 }) {
            var line = line
            line.metadata["repeats"] = "\(count)"
            line.metadata["last.at"] = "\(at)"
            sink.write(line)
        }
    }
}
