import Foundation
import Logging
import NorrisPrefetch
import NorrisProtocol
import NorrisTestSupport
import Synchronization
import Testing

@testable import NorrisDaemon

struct JournalSinkTests {
    private func fields(
        _ event: String, _ metadata: Logger.Metadata = [:], level: Logger.Level = .warning
    ) -> [String: String] {
        let event = LogEvent(
            level: level, message: "\(event)", metadata: nil, source: nil, file: "NorrisDaemon/A.swift",
            function: "work()", line: 7)
        let fields = JournalSink.fields(of: LogLine(event: event, metadata: metadata))
        let areValid = fields.allSatisfy { $0.name.wholeMatch(of: /[A-Z][A-Z0-9_]{0,63}/) != nil }
        #expect(areValid, "journald drops fields with other names without a word")
        return Dictionary(fields.map { ($0.name, $0.value) }) { first, _ in
            Issue.record("a field stands there twice")
            return first
        }
    }

    @Test func everyValueIsAFieldAndTheEventHasItsID() {
        let fields = fields("source.failed", ["source": "town", "error.kind": "offline", "error": "a\nb\u{1B}[1m"])
        #expect(
            fields == [
                "MESSAGE": #"source.failed error="a b" error.kind=offline source=town"#,
                "MESSAGE_ID": MessageID.id(of: "source.failed") ?? "",
                "PRIORITY": "4",
                "SYSLOG_IDENTIFIER": "norrisd",
                "NORRISD_EVENT": "source.failed",
                "NORRISD_SOURCE": "town",
                "NORRISD_ERROR_KIND": "offline",
                "NORRISD_ERROR": "a\nb",
                "CODE_FILE": "NorrisDaemon/A.swift",
                "CODE_LINE": "7",
                "CODE_FUNC": "work()",
            ]
        )
    }

    @Test func eventsWithAnIDAreThoseThatTheDaemonLogs() throws {
        let sources = URL(filePath: #filePath).appending(path: "../../../../Sources").standardized
        let files = try #require(FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil))
        var logged: Set<Substring> = []
        for case let file as URL in files where file.pathExtension == "swift" {
            let text = try String(contentsOf: file, encoding: .utf8)
            let calls = #/(?:logger\.\w+\(|level: .*, |message: )\s*"([a-z.-]+)"/#
            logged.formUnion(text.matches(of: calls).map(\.output.1))
        }
        #expect(logged.count > 20)
        for entry in MessageID.all { #expect(logged.contains(Substring(entry.event)), "\(entry.event)") }
    }
}

/// Stores log lines for tests.
final class RecordingSink: LogSink {
    private let written = Mutex<[LogLine]>([])

    func write(_ line: LogLine) { written.withLock { $0.append(line) } }

    var records: [LogLine] { written.withLock { $0 } }

    /// Message, subject and number of repeats of each line.
    var lines: [String] {
        records.map { line in
            let repeats = line.metadata["repeats"].map { " x\($0)" } ?? ""
            return "\(line.event.message) \(line.metadata["source"] ?? "")\(repeats)"
        }
    }
}

struct LogTextTests {
    private func text(_ value: String) -> String {
        let event = LogEvent(
            level: .warning, message: "source.failed", metadata: nil, source: nil, file: "f", function: "g", line: 1)
        return StandardErrorSink.text(of: LogLine(event: event, metadata: ["error": "\(value)", "source": "town"]))
    }

    @Test(
        "A value cannot add a pair to the line",
        arguments: [
            ("timeout", "timeout"), ("two words", #""two words""#), ("", #""""#),
            (#"x" source="gifs\"#, #""x\" source=\"gifs\\""#), ("a=b", #""a=b""#),
        ])
    func escapesValues(_ value: String, _ shown: String) {
        #expect(text(value).hasSuffix(" warning source.failed error=\(shown) source=town\n"))
    }
}

/// A repeated message is written a few times, and then with its number of repeats.
@Suite(.timeLimit(.minutes(20))) struct RepeatLimitingSinkTests {
    private let clock = ManualClock(.ofTests)
    private let recording = RecordingSink()
    private let sink: RepeatLimitingSink
    private let logger: Logger

    init() {
        let sink = RepeatLimitingSink(recording, clock: clock)
        self.sink = sink
        logger = Logger(label: "test") { _ in DaemonLogHandler(levels: LogLevelSwitch(.trace), sink: sink) }
    }

    private var lines: [String] { recording.lines }

    /// Logs `count` lines and returns the number of lines that were written immediately.
    private func written(of count: Int, _ write: (Int) -> Void) -> Int {
        let before = lines.count
        for number in 0..<count { write(number) }
        return lines.count - before
    }

    @Test func afterSomeLinesTheRestIsOneWithItsNumber() throws {
        for second in 0..<100 {
            if second > 0 { clock.advance(by: .seconds(1)) }
            logger.error("database.write-failed", metadata: ["content": "state"])
        }
        #expect(lines.count == 5)
        clock.advance(by: RepeatLimitingSink.window - .seconds(100))
        sink.writeEnded()
        #expect(lines.count == 5)
        clock.advance(by: .seconds(1))
        sink.writeEnded()
        let last = try #require(recording.records.last)
        #expect("\(last.event.message)" == "database.write-failed")
        #expect(last.event.level == .error)
        #expect(
            last.metadata == [
                "content": "state", "repeats": "95", "last.at": "\(Timestamp.ofTests.advanced(by: .seconds(99)))",
            ])
        #expect(lines.count == 6)
        #expect(written(of: 6) { _ in logger.error("database.write-failed", metadata: ["content": "state"]) } == 5)
    }

    @Test func subjectsAreCountedApart() {
        for name in ["town", "planet"] {
            #expect(written(of: 7) { _ in logger.warning("source.failed", metadata: ["source": "\(name)"]) } == 5)
        }
        #expect(written(of: 7) { _ in logger.warning("source.recovered", metadata: ["source": "town"]) } == 5)
        for uid in ["7", "8"] {
            #expect(written(of: 7) { _ in logger.warning("connection.refused", metadata: ["peer.uid": "\(uid)"]) } == 5)
        }
        // Other metadata is not part of the subject, because each error may have a different text.
        #expect(written(of: 9) { logger.warning("gifs.unreadable", metadata: ["error": "\($0)"]) } == 5)
    }

    @Test("Many users cannot fill the memory") func kindsAreBounded() {
        let users = RepeatLimitingSink.maximumKinds
        #expect(written(of: users) { logger.notice("connection.refused", metadata: ["peer.uid": "\($0)"]) } == users)
        #expect(written(of: 10_000) { logger.notice("connection.refused", metadata: ["peer.uid": "x\($0)"]) } == 5)
        sink.finish()
        #expect(recording.records.last?.metadata["repeats"] == "9995")
        #expect(lines.count == users + 6)
    }
}
