import Foundation
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
    @Test("Without a daemon the welcome is shown beside the failure, which has its status") func withoutADaemon() {
        let path = "/run/norrisd.sock"
        let failures: [(ClientError, ExitStatus)] = [
            (.refused(path: path), .unavailable), (.notPermitted(path: path), .notPermitted),
            (.timedOut(path: path), .unavailable),
        ]
        for (failure, status) in failures {
            let outcome = Machine(failure: failure).run()
            #expect(outcome.status == status)
            #expect(outcome.errors.hasPrefix("norrisctl: "))
            // A longer timeout would not help.
            #expect(!outcome.errors.contains("--timeout"))
            #expect(outcome.output.hasPrefix("norrisctl shows Chuck Norris facts"))
            #expect(outcome.output.hasSuffix("\nAll commands: norrisctl --help\n"))
        }
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
    private static let statuses: [(code: Int64, status: ExitStatus)] = [
        (-32700, .internalError), (-32600, .usage), (-32602, .usage), (-32603, .internalError), (-32001, .nothing),
        (-32002, .temporary), (-32003, .notPermitted), (-32004, .temporary), (-32005, .inputOutput),
        (-32006, .temporary), (-32099, .internalError), (-1, .internalError),
    ]

    @Test func areTheNumbersOfSysexits() {
        let numbers: [ExitStatus: Int32] = [
            .done: 0, .nothing: 1, .usage: EX_USAGE, .unavailable: EX_UNAVAILABLE, .internalError: EX_SOFTWARE,
            .inputOutput: EX_IOERR, .temporary: EX_TEMPFAIL, .notPermitted: EX_NOPERM, .configuration: EX_CONFIG,
        ]
        for status in ExitStatus.allCases { #expect(status.rawValue == numbers[status]) }
    }

    @Test(arguments: statuses) func followsTheCodeOfAnError(code: Int64, status: ExitStatus) {
        let error = ResponseError(ErrorCode(rawValue: code), reason: "r", "It failed.", hint: "Mend it.")
        #expect(
            Machine(error: error).run("fact") == Outcome(errors: "norrisctl: It failed.\n  Mend it.\n", status: status))
        let object = error.jsonText + "\n"
        #expect(Machine(error: error).run("fact", "--json") == Outcome(errors: object, status: status))
        #expect(Machine(error: error).run("call", "m") == Outcome(errors: object, status: status))
    }
}

struct ConnectionErrorTests {
    @Test("With --json an error of the connection is an error object, as one of the daemon is") func json() throws {
        let outcome = Machine(failure: .refused(path: "/tmp/s")).run("--socket", "/tmp/s", "fact", "--json")
        let error = try EncodedJSON(try JSON.parse(Array(outcome.errors.utf8))).decoded(as: ResponseError.self)
        #expect(error.code.rawValue == -32000 && error.reason == "unreachable")
        #expect(error.message == "norrisd has stopped: nothing listens on /tmp/s.")
        #expect(error.hint == "Start it again: norrisd --socket /tmp/s, with the other options it had")
        #expect(outcome.status == .unavailable && outcome.output.isEmpty)
    }

    @Test(
        "An offered timeout is longer than the one that has passed",
        arguments: [
            ("5s", " --timeout 30s"), ("30s", " --timeout 10m"), ("10m", " --timeout 60m"), ("60m", "norrisctl doctor"),
        ])
    func longerTimeout(timeout: String, advice: String) {
        let outcome = Machine(failure: .timedOut(path: "/s")).run("fact", "--timeout", timeout)
        #expect(outcome.errors.hasSuffix("\(advice)\n"), "\(outcome.errors)")
    }

    @Test("A missing socket is explained by a missing XDG_RUNTIME_DIR") func runtimeFolder() {
        let failure = ClientError.noSocket(paths: ["/run/norrisd.sock"])
        let machine = Machine([.failure(failure), .failure(failure), .failure(failure)])
        let reason = "Your own daemon was not looked for, because XDG_RUNTIME_DIR is"
        #expect(machine.run("fact").errors.contains("\(reason) not set."))
        machine.environment["XDG_RUNTIME_DIR"] = "relative"
        #expect(machine.run("fact").errors.contains("\(reason) no folder of yours."))
        #expect(!machine.run("fact", "--socket", "/run/norrisd.sock").errors.contains(reason))
    }

    @Test(arguments: ["README.md", "Scripts/install"]) func documentsNameTheSameRuntimeFolder(file: String) throws {
        let failure = ClientError.noSocket(paths: ["/run/norrisd.sock"])
        let lines = Machine([.failure(failure)]).run("fact").errors.split(separator: "\n")
        let command = try #require(lines.dropFirst().first?.split(separator: ": ").last)
        let path = URL(filePath: #filePath).appending(path: "../../../\(file)").standardized
        #expect(try String(contentsOf: path, encoding: .utf8).contains(command), "\(command)")
    }

    @Test("A daemon beside norrisctl is started there, unless that folder is in PATH") func ownProgram() {
        let failure = ClientError.noSocket(paths: ["/a"])
        let machine = Machine([.failure(failure), .failure(failure)])
        machine.environment["XDG_RUNTIME_DIR"] = "/run/user/1000"
        #expect(machine.run("fact").errors.hasSuffix("in another terminal: norrisd\n"))
        machine.place("/opt/bin/norrisd", [])
        chmod(machine("/opt/bin/norrisd"), 0o755)
        #expect(machine.run("fact").errors.hasSuffix("/opt/bin/norrisd\n"))
    }
}

struct QuestionTests {
    @Test(
        "The time that a person takes to answer does not count, and other words are asked again",
        arguments: [
            (["later", "YES"], true), (["yes"], true), ([""], false), (["q", "n"], false), ([], false),
        ]) func clearCache(answers: [String], isRemoved: Bool)
    {
        let info =
            #"{"name":"norrisd","version":"1","protocol":1,"capabilities":[],"pid":1,"#
            + #""started_at":"2026-11-21T12:00:00Z","administrator":true}"#
        let machine = Machine(results: [info] + (isRemoved ? [#"{"removed":3}"#] : []))
        (machine.isInputTerminal, machine.isErrorTerminal, machine.answers) = (true, true, answers)
        let outcome = machine.run("clear-cache")
        #expect(outcome.output == (isRemoved ? "removed 3 items\n" : ""), "\(outcome)")
        #expect(outcome.errors.ranges(of: "[y/N]").count == max(answers.count, 1))
        #expect(machine.timeouts.allSatisfy { $0 == .seconds(5) })
    }

    @Test("Who may not is told before the question") func notPermitted() {
        let info =
            #"{"name":"norrisd","version":"1","protocol":1,"capabilities":[],"pid":1,"#
            + #""started_at":"2026-11-21T12:00:00Z","administrator":false}"#
        let machine = Machine(results: info)
        (machine.isInputTerminal, machine.isErrorTerminal) = (true, true)
        let outcome = machine.run("clear-cache")
        #expect(outcome.status == .notPermitted && !outcome.errors.contains("[y/N]"))
        #expect(outcome.errors.contains("sudo"))
    }

    @Test("A slow pipe at standard input or standard output does not count") func pipes() {
        let machine = Machine(results: "{}")
        machine.input = Array("{}".utf8)
        _ = machine.run("call", "server.info", "-")
        #expect(machine.timeouts == [.seconds(5)])
        let item = #"{"kind":"gif","id":"a","title":"t","added_at":"2026-11-21T12:00:00Z"}"#
        let pages = [#""next":"c""#, #""total":2"#].map { #"{"items":[\#(item)],\#($0)}"# }
        let export = Machine(results: pages)
        _ = export.run("favorite", "export")
        #expect(export.timeouts == [.seconds(600), .seconds(600)])
    }
}

struct ReplyIDTests {
    private let fact = #"{"items":[{"id":"a","text":"One.","categories":[],"source":"s"}],"freshness":null}"#

    private static let other = Outcome.failed(
        .internalError, "Unreadable reply from norrisd: it answers another request",
        "Compare the versions: norrisctl doctor")

    @Test("A reply with another id is refused", arguments: ["2", "null", #""1""#]) func otherID(id: String) {
        let line = #"{"jsonrpc":"2.0","id":\#(id),"result":\#(fact)}"#
        #expect(Machine([.success(Array(line.utf8))]).run("fact") == ReplyIDTests.other)
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
        let outcome = machine.run("watch")
        #expect((outcome.errors == ReplyIDTests.other.errors) == (id == 3))
        #expect(outcome.status == (id == 3 ? .internalError : .done))
    }
}
