import Foundation
@testable import NorrisCommands
import NorrisTerminal
import Testing

/// What a command shows at a terminal of 40, 80 and 132 columns, in colour and not, and to a pipe, kept in a file below
/// `Golden/` and compared byte for byte. ESC stands there as `␛`.
///
/// `NORRIS_UPDATE_DOCUMENTS=1` writes the files; then they are to be read, as a person would read them.
struct GoldenScreen {
    let name: String
    let arguments: [String]
    /// One for each run, since it answers but once.
    let machine: () -> Machine

    func check(sourceLocation: SourceLocation = #_sourceLocation) throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Golden/\(name).txt")
        let shown = text
        if ProcessInfo.processInfo.environment["NORRIS_UPDATE_DOCUMENTS"] == "1" {
            try shown.write(to: file, atomically: true, encoding: .utf8)
            return
        }
        let golden = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
        let isSame = golden.utf8.elementsEqual(shown.utf8)
        #expect(
            isSame,
            """
            \(difference(golden, shown))
            NORRIS_UPDATE_DOCUMENTS=1 swift test --filter Golden brings Golden/\(name).txt up to date.
            """,
            sourceLocation: sourceLocation
        )
    }

    private var text: String {
        var sections: [String] = []
        for columns in [40, 80, 132] {
            sections.append(section("\(columns) columns", columns, ["TERM": "dumb"]))
            sections.append(section("\(columns) columns, in colour", columns, ["TERM": "xterm"]))
        }
        sections.append(section("a pipe", nil, [:]))
        return sections.joined(separator: "\n")
    }

    private func section(_ title: String, _ columns: Int?, _ environment: [String: String]) -> String {
        let machine = machine()
        machine.terminal = TerminalFacts(isTerminal: columns != nil, columns: columns)
        machine.environment = environment
        let outcome = machine.run(arguments)
        let command = (["norrisctl"] + arguments).joined(separator: " ")
        let errors = outcome.errors.isEmpty ? "" : "--- standard error\n\(outcome.errors)"
        return "=== \(title): \(command)\n\(outcome.output)\(errors)".replacing("\u{1B}", with: "␛")
    }

    private func difference(_ golden: String, _ shown: String) -> String {
        let lines = golden.split(separator: "\n", omittingEmptySubsequences: false)
        for (index, line) in shown.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let old = index < lines.count ? lines[index] : "(nothing)"
            if !old.utf8.elementsEqual(line.utf8) {
                return "Line \(index + 1) of \(name) is\n\(line)\nand was\n\(old)"
            }
        }
        return "\(name) ends too soon."
    }
}
