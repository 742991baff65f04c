import Logging
import NorrisProtocol
import Testing

@testable import NorrisDaemon

/// What happens again and again is said a few times, and then by its number.
struct RepeatLimiterTests {
    private var limiter = RepeatLimiter()

    private static let start = Timestamp(seconds: 1_000_000)

    private func line(
        _ event: String, _ metadata: Logger.Metadata = [:], level: Logger.Level = .warning
    ) -> LogLine {
        let event = LogEvent(
            level: level, message: "\(event)", metadata: nil, source: nil, file: "f", function: "g", line: 1
        )
        return LogLine(event: event, metadata: metadata)
    }

    /// How many of so many lines are written, a second apart.
    private mutating func written(of count: Int, _ line: LogLine, from start: Int = 0) -> Int {
        (start..<start + count).count { second in
            limiter.admits(line, at: .seconds(second), Timestamp(seconds: Self.start.seconds + Int64(second)))
        }
    }

    @Test mutating func afterSomeLinesTheRestIsOneThatSaysHowMany() throws {
        let failure = line("database.write-failed", ["content": "state"], level: .error)
        #expect(written(of: 100, failure) == 5)
        #expect(limiter.takeEnded(at: .seconds(599)).isEmpty)
        let ended = limiter.takeEnded(at: .seconds(600))
        #expect(ended.count == 1)
        let last = try #require(ended.first)
        #expect("\(last.event.message)" == "database.write-failed")
        #expect(last.event.level == .error)
        #expect(
            last.metadata == [
                "content": "state", "repeats": "95", "last.at": "\(Timestamp(seconds: 1_000_099))",
            ]
        )
        #expect(limiter.takeEnded(at: .seconds(600)).isEmpty)
        #expect(written(of: 6, failure, from: 600) == 5)
    }

    @Test mutating func whatIsRareIsNeverHeldBack() {
        #expect(written(of: 5, line("source.failed", ["source": "town"])) == 5)
        #expect(limiter.takeEnded(at: .seconds(600)).isEmpty)
        #expect(limiter.takeAll().isEmpty)
    }

    @Test mutating func subjectsAreCountedApart() {
        for name in ["town", "planet"] { #expect(written(of: 7, line("source.failed", ["source": "\(name)"])) == 5) }
        #expect(written(of: 7, line("source.recovered", ["source": "town"])) == 5)
        #expect(written(of: 7, line("connection.refused", ["peer.uid": "7"])) == 5)
        #expect(written(of: 7, line("connection.refused", ["peer.uid": "8"])) == 5)
        // What else varies is no subject: each error may have its own words.
        #expect((0..<9).count { written(of: 1, line("gifs.unreadable", ["error": "\($0)"])) == 1 } == 5)
    }

    @Test mutating func whatPeopleAskForAndStepsForDebuggingAreNotCounted() {
        #expect(written(of: 99, line("configuration.reloaded", level: .notice)) == 99)
        #expect(written(of: 99, line("configuration.refused", level: .error)) == 99)
        #expect(written(of: 99, line("server.ready", level: .notice)) == 99)
        #expect(written(of: 99, line("source.impeded", ["source": "gifs"], level: .notice)) == 99)
        #expect(written(of: 99, line("source.started", level: .debug)) == 99)
        #expect(written(of: 99, line("http.answer", level: .trace)) == 99)
    }

    @Test("Nobody fills the memory by coming as many users")
    mutating func kindsAreBounded() {
        for uid in 0..<RepeatLimiter.maximumKinds {
            #expect(written(of: 1, line("connection.refused", ["peer.uid": "\(uid)"])) == 1)
        }
        let rest = (0..<10_000).count { written(of: 1, line("connection.refused", ["peer.uid": "x\($0)"])) == 1 }
        #expect(rest == 5)
        #expect(limiter.takeAll().map { $0.metadata["repeats"] } == ["9995"])
    }

    @Test mutating func theEndTellsWhatIsStillHeldBackInItsOrder() {
        #expect(written(of: 9, line("source.recovered", ["source": "a"])) == 5)
        #expect(written(of: 7, line("source.failed", ["source": "a"]), from: 100) == 5)
        let last = limiter.takeAll()
        #expect(last.map { "\($0.event.message)" } == ["source.recovered", "source.failed"])
        #expect(last.map { $0.metadata["repeats"] } == ["4", "2"])
        #expect(limiter.takeAll().isEmpty)
    }
}
