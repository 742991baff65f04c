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

/// What a person sees who waits.
struct WaitingLineTests {
    private let erased = "\r\u{1B}[K"

    private func machine(_ results: String..., delay: Int) -> Machine {
        let machine = Machine(results.map { .success(Array(Machine.result($0).utf8)) })
        machine.isErrorTerminal = true
        machine.delay = .milliseconds(delay)
        return machine
    }

    private let facts = page(fact("a", "It's round."))

    @Test func isNotSeenByThoseWhoAreServedAtOnce() {
        #expect(machine(facts, delay: 299).run("fact") == Outcome(output: "It's round.\n"))
    }

    @Test func saysWhatIsWaitedForAndGoes() {
        let outcome = machine(facts, delay: 450).run("fact")
        #expect(outcome == Outcome(
            output: "It's round.\n",
            errors: "\r⠸ waiting for norrisd…\u{1B}[K" + "\r⠼ waiting for norrisd…\u{1B}[K" + erased
        ))
    }

    @Test(arguments: [
        (["search", "round"], "searching"), (["gif", "round"], "asking Giphy"), (["categories"], "waiting for norrisd"),
    ])
    func saysWhoIsAsked(arguments: [String], text: String) {
        let errors = machine(#"{"items":[],"freshness":\#(fresh)}"#, delay: 350).run(arguments).errors
        #expect(errors.hasPrefix("\r⠸ \(text)…\u{1B}[K\(erased)norrisctl: No "))
    }

    @Test func countsTheTimeOfTheWholeCommand() {
        let page = page(fact("a", "1"), next: "c")
        let outcome = machine(page, page, delay: 200).run("search", "x", "--page", "2")
        #expect(outcome.errors == "\r⠸ searching…\u{1B}[K" + erased)
    }

    @Test func isNotForAPipe() {
        let machine = machine(facts, delay: 900)
        machine.isErrorTerminal = false
        #expect(machine.run("fact").errors == "")
    }

    @Test func saysWhatIsStillFetchedAndMakesRoomForWhatIsDone() {
        let machine = Machine()
        machine.isErrorTerminal = true
        machine.delay = .milliseconds(400)
        machine.stream = [
            Machine.result(#"{"topics":["source","item"]}"#), Machine.result(#"{"started":["facts","planet"]}"#, id: 2),
            Machine.line(.source("facts", .finished, items: 1, at: Machine.now)),
            Machine.line(.source("planet", .finished, items: 2, at: Machine.now)),
        ]
        let outcome = machine.run("refresh", "--wait")
        #expect(outcome.output == "facts: 1 item\nplanet: 2 items\n")
        #expect(outcome.errors.hasPrefix("\r⠸ waiting for norrisd…\u{1B}[K\(erased)"))
        #expect(outcome.errors.contains("\(erased)started: facts, planet\n\r⠇ fetching from facts, planet…"))
        #expect(outcome.errors.contains("fetching from planet…"))
        #expect(outcome.errors.hasSuffix(erased))
        #expect(!outcome.errors.contains(erased + erased))
    }

    @Test func isNotThereWhileEventsAreWatched() {
        let machine = Machine.subscribed(
            Machine.line(.source("facts", .started, at: Machine.now)), Machine.line(.server(.stopping, at: Machine.now))
        )
        machine.isErrorTerminal = true
        machine.delay = .milliseconds(350)
        #expect(machine.run("watch").errors
            == "\r⠸ waiting for norrisd…\u{1B}[K\(erased)norrisctl: norrisd has stopped.\n")
    }
}

/// What `norrisctl` alone says.
struct WelcomeTests {
    private static let advice = """

        norrisctl shows facts, GIFs and posts from norrisd, the daemon that keeps them at hand.

        Three things to try:
          norrisctl fact --category dev
          norrisctl gif round house kick
          norrisctl feed

        A fact in each new shell, or in its prompt: norrisctl init --help
        All commands: norrisctl --help

        """

    @Test func showsTheFactOfTheDayAndThreeThingsToTry() {
        let machine = Machine(results: #"{"fact":\#(fact("a", "He waits for nobody.")),"freshness":\#(fresh)}"#)
        #expect(machine.run() == Outcome(output: "He waits for nobody.\n\(Self.advice)"))
        #expect(machine.methods == ["fact.today"])
        #expect(machine.timeouts == [.milliseconds(100)])
    }

    @Test func fitsANarrowTerminal() {
        let machine = Machine(results: #"{"fact":\#(fact("a", "He waits for nobody, ever.")),"freshness":\#(fresh)}"#)
        let lines = machine.onTerminal(columns: 20).run().output.split(separator: "\n")
        #expect(lines.first == "He waits for nobody,")
        #expect(lines.contains("  norrisctl feed"))
    }

    @Test func waitsNoLongerThanItIsTold() {
        let machine = Machine(results: "{}")
        #expect(machine.run("--timeout", "20ms").status == .done)
        #expect(machine.timeouts == [.milliseconds(20)])
    }

    @Test func neverFails() {
        let path = "/run/norrisd.sock"
        for failure in [
            ClientError.timedOut(path: path), .refused(path: path), .notPermitted(path: path), .notASocket(path: path),
            .pathTooLong(path: path), .closed(path: path), .system(path: path, errno: 5),
            .malformedReply(path: path, detail: "x"),
        ] {
            let outcome = Machine(failure: failure).run()
            #expect(outcome.status == .done)
            #expect(outcome.errors.isEmpty)
            #expect(outcome.output.hasSuffix(Self.advice))
            #expect(outcome.output.utf8.count > Self.advice.utf8.count + 40, "\(failure)")
        }
        let slow = Machine(failure: .timedOut(path: path)).run().output
        #expect(slow.hasPrefix("norrisd does not answer at once. Find out why: norrisctl doctor\n"))
    }

    @Test func saysNothingOfADaemonThatHasNoFact() {
        let daemon = "norrisd is there.\n\(Self.advice)"
        #expect(Machine(results: "[]").run().output == daemon)
        #expect(Machine(error: .unknownMethod("fact.today")).run().output == daemon)
    }
}
