import NorrisClient
@testable import NorrisCommands
import NorrisProtocol
import Testing

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

    @Test func saysHowToStartADaemonThatIsNotThere() {
        let machine = Machine(failure: .noSocket(paths: ["/run/norrisd.sock"]))
        #expect(machine.run() == Outcome(output: """
            norrisd is not running: there is no socket at /run/norrisd.sock.
            Start it: systemctl start norrisd, or systemctl --user start norrisd, or just: norrisd
            \(Self.advice)
            """))
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
