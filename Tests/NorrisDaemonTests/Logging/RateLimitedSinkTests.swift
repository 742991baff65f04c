import Logging
import NorrisProtocol
import NorrisTestSupport
import Synchronization
import Testing

@testable import NorrisDaemon

@Suite(.timeLimit(.minutes(20)))
struct RateLimitedSinkTests {
    /// What came through, the repeats told.
    final class Paper: LogSink {
        let lines = Mutex<[String]>([])

        func write(_ line: LogLine) {
            let repeats = line.metadata["repeats"].map { " x\($0)" } ?? ""
            lines.withLock { $0.append("\(line.event.message) \(line.metadata["source"] ?? "")\(repeats)") }
        }
    }

    private let clock = ManualClock()
    private let paper = Paper()
    private let sink: RateLimitedSink
    private let logger: Logger

    init() {
        let sink = RateLimitedSink(paper, clock: clock)
        self.sink = sink
        logger = Logger(label: "test") { _ in DaemonLogHandler(levels: LogLevelSwitch(.info), sink: sink) }
    }

    private func fail(times: Int, _ source: String = "town") {
        for _ in 0..<times { logger.warning("source.failed", metadata: ["source": "\(source)"]) }
    }

    private var lines: [String] { paper.lines.withLock { $0 } }

    @Test func theNumberComesWithTheNextLineOfAnySort() {
        fail(times: 9)
        #expect(lines == Array(repeating: "source.failed town", count: 5))
        clock.advance(by: RepeatLimiter.window)
        fail(times: 1, "planet")
        #expect(lines.dropFirst(5) == ["source.failed town x4", "source.failed planet"])
    }

    @Test func theTimeOfDayDoesNotMatter() {
        fail(times: 9)
        clock.setTimeOfDay(Timestamp(seconds: 5))
        clock.advance(by: RepeatLimiter.window - .seconds(1))
        sink.writeEnded()
        #expect(lines.count == 5)
        clock.setTimeOfDay(Timestamp(seconds: 2_000_000))
        sink.writeEnded()
        #expect(lines.count == 5)
        clock.advance(by: .seconds(1))
        sink.writeEnded()
        #expect(lines.dropFirst(5) == ["source.failed town x4"])
    }

    @Test func theEndSaysItToo() {
        fail(times: 6)
        sink.finish()
        #expect(lines.last == "source.failed town x1")
    }
}
