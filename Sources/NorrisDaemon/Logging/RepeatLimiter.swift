import Logging
import NorrisProtocol

/// Keeps what happens again and again from filling the log: pure decisions over a clock that is passed in.
///
/// Of each event about each subject, a source or a path, a few lines are written in a window of time. Further ones are
/// held back; when the window is over, the last of them is given out together with their number.
struct RepeatLimiter {
    /// How many lines of one kind are written in a window.
    static let allowed = 5
    /// Begins with the first line of its kind.
    static let window = Duration.seconds(600)
    /// How many kinds are told apart: some subjects come from outside. Past it all subjects of an event are one.
    static let maximumKinds = 256

    private struct Kind: Hashable {
        let event: String
        let subject: [String]
    }

    private struct Repeats {
        let began: Duration
        var written = 0
        var heldBack = 0
        var last: (line: LogLine, at: Timestamp)?
    }

    private var kinds: [Kind: Repeats] = [:]

    /// Whether a line is written now; else it counts as held back.
    ///
    /// - Parameters:
    ///   - now: of a clock that only goes forward.
    ///   - time: of the wall clock, for whoever reads the line later.
    mutating func admits(_ line: LogLine, at now: Duration, _ time: Timestamp) -> Bool {
        guard RepeatLimiter.limits(line.event) else { return true }
        var kind = RepeatLimiter.kind(of: line)
        if kinds[kind] == nil, kinds.count >= RepeatLimiter.maximumKinds {
            kind = Kind(event: kind.event, subject: [])
        }
        var repeats = kinds[kind] ?? Repeats(began: now)
        defer { kinds[kind] = repeats }
        if repeats.written < RepeatLimiter.allowed {
            repeats.written += 1
            return true
        }
        repeats.heldBack += 1
        repeats.last = (line, time)
        return false
    }

    /// Forgets the windows that are over.
    ///
    /// - Returns: of each that held lines back the last of them, oldest first, with `repeats`, how many there were, and
    ///   `last.at`, when the last was.
    mutating func takeEnded(at now: Duration) -> [LogLine] {
        let ended = kinds.filter { now - $0.value.began >= RepeatLimiter.window }
        for kind in ended.keys { kinds[kind] = nil }
        return RepeatLimiter.lines(ended.values)
    }

    /// Forgets all windows, also those that are not over: the daemon stops.
    mutating func takeAll() -> [LogLine] {
        defer { kinds = [:] }
        return RepeatLimiter.lines(kinds.values)
    }

    private static func lines(_ repeats: some Sequence<Repeats>) -> [LogLine] {
        repeats.compactMap { repeats in repeats.last.map { (repeats.heldBack, $0.line, $0.at) } }
            .sorted { $0.2 < $1.2 }
            .map { count, line, at in
                var line = line
                line.metadata["repeats"] = "\(count)"
                line.metadata["last.at"] = "\(at)"
                return line
            }
    }

    /// Whoever looks for a fault wants to see each step; and the daemon's own life is made of what people ask for. What
    /// impedes a source is told where a configuration is applied, and nowhere else.
    private static func limits(_ event: LogEvent) -> Bool {
        let name = "\(event.message)"
        return event.level > .debug && !name.hasPrefix("server.") && !name.hasPrefix("configuration.")
            && name != "source.impeded"
    }

    private static func kind(of line: LogLine) -> Kind {
        Kind(
            event: "\(line.event.message)",
            subject: ["source", "path", "content", "peer.uid"].compactMap { line.metadata[$0].map { "\($0)" } }
        )
    }
}
