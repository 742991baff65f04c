import Foundation
import Logging
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
            Issue.record("a field is repeated")
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
