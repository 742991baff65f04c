@testable import NorrisCommands
import NorrisTerminal
import Testing

struct LayoutTests {
    private let text = "One two three four five six seven."

    private func output(_ arguments: [String], columns: Int?, environment: [String: String] = [:]) -> String {
        let machine = Machine(results: page(fact("a", text)))
        machine.terminal = TerminalFacts(isTerminal: columns != nil, columns: columns == 0 ? nil : columns)
        machine.environment = environment
        return machine.run(["fact"] + arguments).output
    }

    @Test func wrapsToTheWidthOfTheFlagTheTerminalOrTheVariable() {
        let plain = ["NO_COLOR": "1", "COLUMNS": "20"]
        #expect(output([], columns: 10, environment: plain).hasPrefix("One two\nthree four\n"))
        #expect(output([], columns: 0, environment: plain).hasPrefix("One two three four\nfive"))
        #expect(output(["--width", "15"], columns: 10, environment: plain).hasPrefix("One two three\nfour"))
        #expect(output([], columns: 0, environment: ["NO_COLOR": "1"]).hasPrefix("\(text)\n"))
    }

    @Test func wrapsNothingForAPipe() {
        #expect(output(["--width", "10"], columns: nil, environment: ["COLUMNS": "10"]) == "\(text)\n")
        #expect(output(["--plain", "--width", "10"], columns: 10) == "\(text)\n")
    }

    @Test(arguments: [
        ([], 80, ["TERM": "xterm"], true), ([], 80, ["TERM": "xterm", "NO_COLOR": "1"], false),
        ([], 80, [:], false), ([], 80, ["TERM": "dumb"], false),
        (["--color", "always"], 80, ["NO_COLOR": "1"], true), (["--color=never"], 80, ["CLICOLOR_FORCE": "1"], false),
        ([], nil, [:], false), ([], nil, ["CLICOLOR_FORCE": "1"], true), (["--color", "always"], nil, [:], true),
        (["--plain"], 80, ["TERM": "xterm"], false), (["--plain", "--color", "always"], 80, [:], true),
        (["--color", "auto"], nil, ["CLICOLOR_FORCE": "0"], false),
    ] as [([String], Int?, [String: String], Bool)])
    func coloursWhereItMay(arguments: [String], columns: Int?, environment: [String: String], isColoured: Bool) {
        #expect(output(arguments, columns: columns, environment: environment).contains("\u{1B}") == isColoured)
    }
}
