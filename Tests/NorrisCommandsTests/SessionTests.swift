import Glibc
import NorrisClient
@testable import NorrisCommands
import NorrisProtocol
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
        for columns in ["", "0", "-5", "wide"] {
            let environment = ["NO_COLOR": "1", "COLUMNS": columns]
            #expect(output([], columns: 0, environment: environment).hasPrefix("\(text)\n"))
        }
    }

    @Test func wrapsNothingForAPipe() {
        #expect(output(["--width", "10"], columns: nil, environment: ["COLUMNS": "10"]) == "\(text)\n")
        #expect(output(["--plain", "--width", "10"], columns: 10) == "\(text)\n")
    }

    @Test(
        arguments: [
            ([], 80, ["TERM": "xterm"], true), (["--color", "always"], 80, ["NO_COLOR": "1"], true),
            (["--color=never"], 80, ["CLICOLOR_FORCE": "1"], false), (["--plain"], 80, ["TERM": "xterm"], false),
            // Of a fact in a pipe, nothing has a color.
            (["--color", "always"], nil, [:], false),
        ] as [([String], Int?, [String: String], Bool)])
    func colorsWhereItMay(arguments: [String], columns: Int?, environment: [String: String], isColored: Bool) {
        #expect(output(arguments, columns: columns, environment: environment).contains("\u{1B}") == isColored)
    }
}

struct WelcomeTests {
    @Test func neverFails() {
        let path = "/run/norrisd.sock"
        for failure in [ClientError.refused(path: path), .notPermitted(path: path), .system(path: path, errno: 5)] {
            let outcome = Machine(failure: failure).run()
            #expect(outcome == Outcome(output: outcome.output))
            #expect(outcome.output.hasSuffix("\nAll commands: norrisctl --help\n"))
        }
        let slow = Machine(failure: .timedOut(path: path)).run().output
        #expect(slow.hasPrefix("norrisd is slow to answer. Find out why: norrisctl doctor\n"))
    }

    @Test func offersCardsOnlyIfTheyCanBeDrawn() {
        #expect(Machine(error: .busy("Wait.")).run().output.contains("  norrisctl card\n"))
        let machine = Machine(error: .busy("Wait."))
        unlink(machine("/opt/bin/norris-card"))
        #expect(!machine.run().output.contains("card"))
    }

    @Test func offersCommandsForTheSameDaemon() {
        let output = Machine(error: .busy("Wait.")).run("--socket", "/tmp/a b").output
        #expect(output.contains("  norrisctl --socket '/tmp/a b' search kernel\n"))
    }
}

struct RepeatedSocketTests {
    @Test func isInAdviceButNotInWhatTheUserTyped() {
        let outcome = Machine(results: page()).run("--socket", "/tmp/s", "search", "x: norrisctl feed")
        #expect(
            outcome.errors == """
                norrisctl: No fact contains "x: norrisctl feed". Try fewer words, or: \
                norrisctl --socket /tmp/s categories

                """)
    }

}

struct ExitStatusTests {
    private static let statuses: [(code: Int64, status: ExitStatus, number: Int32)] = [
        (-32700, .internalError, 70), (-32600, .usage, 64), (-32602, .usage, 64), (-32603, .internalError, 70),
        (-32001, .nothing, 1), (-32002, .temporary, 75), (-32003, .notPermitted, 77), (-32004, .temporary, 75),
        (-32005, .inputOutput, 74), (-32006, .temporary, 75), (-32099, .internalError, 70), (-1, .internalError, 70),
    ]

    @Test(arguments: statuses) func followsTheCodeOfAnError(code: Int64, status: ExitStatus, number: Int32) {
        let error = ResponseError(ErrorCode(rawValue: code), reason: "r", "It failed.", hint: "Mend it.")
        #expect(status.rawValue == number)
        #expect(
            Machine(error: error).run("fact") == Outcome(errors: "norrisctl: It failed.\n  Mend it.\n", status: status))
        let object = error.jsonText + "\n"
        #expect(Machine(error: error).run("fact", "--json") == Outcome(errors: object, status: status))
        #expect(Machine(error: error).run("call", "m") == Outcome(errors: object, status: status))
    }
}

struct ReplyIDTests {
    private let fact = #"{"items":[{"id":"a","text":"One.","categories":[],"source":"s"}],"freshness":null}"#

    private static let other = Outcome.failed(
        .internalError, "Unreadable reply from norrisd: it answers another request",
        "Compare the versions: norrisctl doctor")

    @Test("A reply with another id is refused", arguments: ["2", "null", #""1""#]) func otherID(id: String) {
        let line = #"{"jsonrpc":"2.0","id":\#(id),"result":\#(fact)}"#
        for arguments in [["fact"], ["fact", "--json"]] {
            #expect(Machine([.success(Array(line.utf8))]).run(arguments) == ReplyIDTests.other)
        }
        // `prompt` never prints a message.
        for arguments in [["prompt"], ["prompt", "--json"]] {
            #expect(Machine([.success(Array(line.utf8))]).run(arguments) == Outcome())
        }
    }

    @Test(
        "An error with another id is refused, and one without an id is shown", arguments: [-32004, -32600] as [Int64])
    func errors(code: Int64) {
        let error = ResponseError(ErrorCode(rawValue: code), reason: "busy", "Too much.", hint: "Send less.")
        func run(_ id: RequestID) -> Outcome {
            Machine([.success(Array(Response(id: id, outcome: .failure(error)).jsonText.utf8))]).run("fact")
        }
        #expect(run(.null) == .failed(ExitStatus(error), "Too much.", "Send less."))
        #expect(run(.integer(2)) == ReplyIDTests.other)
    }

    @Test("Events may come before the reply to the subscription, a reply with another id may not", arguments: [1, 3])
    func follow(id: Int) {
        let machine = Machine()
        machine.stream = [
            Machine.line(.server(.ok)), Machine.result(#"{"topics":["server"]}"#, id: id),
            Machine.line(.server(.stopping)),
        ]
        machine.streamEnd = .closed(path: "/run/norrisd.sock")
        let outcome = machine.run("watch", "--json")
        #expect((outcome.errors == ReplyIDTests.other.errors) == (id == 3))
        #expect(outcome.status == (id == 3 ? .internalError : .done))
    }
}
