import NorrisClient
@testable import NorrisCommands
import NorrisProtocol
import NorrisTerminal
import Testing

struct PromptCommandTests {
    @Test func asksOnceAndPrintsOneLine() {
        let machine = Machine(results: page(fact("a", "First.\\nSecond.")))
        #expect(machine.run("prompt") == Outcome(output: "First. Second.\n"))
        #expect(machine.methods == ["fact.random"])
        #expect(machine.parameters == [#"{"max_length":80}"#])
        #expect(machine.timeouts == [.milliseconds(50)])
    }

    @Test(arguments: [["--max-length", "20", "--timeout", "1s"], ["--max-length=20", "--timeout=1s"]])
    func takesALengthAndATime(arguments: [String]) {
        let machine = Machine(results: page(fact("a", "Short.")))
        #expect(machine.run(["prompt"] + arguments) == Outcome(output: "Short.\n"))
        #expect(machine.parameters == [#"{"max_length":20}"#])
        #expect(machine.timeouts == [.seconds(1)])
    }

    @Test func leavesOutWhatAShellGivesAMeaning() {
        let machine = Machine(results: page(fact("a", #"`id` $(touch X) \\w %n !! \u001b[31mred\u202e"#)))
        #expect(machine.run("prompt").output == "id (touch X) w n  red\n")
    }

    @Test func addsNoColourToATerminal() {
        let machine = Machine(results: page(fact("a", String(repeating: "long ", count: 16))))
        machine.terminal.isTerminal = true
        machine.environment["CLICOLOR_FORCE"] = "1"
        machine.terminal.columns = 40
        #expect(machine.run("prompt").output == String(repeating: "long ", count: 16).dropLast() + "\n")
    }

    @Test func printsTheResultAsJSON() {
        let result = page(fact("a", "x"))
        #expect(Machine(results: result).run("prompt", "--json").output == result + "\n")
    }

    @Test(arguments: [
        ClientError.noSocket(paths: ["/run/norrisd.sock"]), .refused(path: "/s"), .notPermitted(path: "/s"),
        .notASocket(path: "/s"), .timedOut(path: "/s"), .closed(path: "/s"), .malformedReply(path: "/s", detail: ""),
    ])
    func saysNothingWhereTheDaemonIsAway(error: ClientError) {
        #expect(Machine(failure: error).run("prompt") == Outcome())
        #expect(Machine(failure: error).run("prompt", "--json", "--timeout=1s") == Outcome())
    }

    @Test func saysNothingWhereTheDaemonHasNothing() {
        #expect(Machine(error: .busy("Too many.")).run("prompt") == Outcome())
        #expect(Machine(results: #"{"items":[],"freshness":\#(builtin)}"#).run("prompt") == Outcome())
        #expect(Machine(results: page(fact("a", "$%"))).run("prompt") == Outcome())
        // More than was asked for.
        #expect(Machine(results: page(fact("a", String(repeating: "x", count: 81)))).run("prompt") == Outcome())
        #expect(Machine(results: "17").run("prompt") == Outcome())
    }

    @Test func readsRepliesOf64KiBAndNoMore() {
        let reply = Array(Machine.result(page(fact("a", "x"))).utf8)
        let longest = reply + [UInt8](repeating: UInt8(ascii: " "), count: 65_536 - reply.count)
        let tooLong = longest + [UInt8(ascii: " ")]
        for command in [["prompt"], ["prompt", "--json", "--timeout=1s"]] {
            #expect(Machine([.success(longest)]).run(command).output.hasSuffix("\n"))
            #expect(Machine([.success(tooLong)]).run(command) == Outcome())
        }
        #expect(Machine([.success(tooLong)]).run("fact").status == .done)
    }

    @Test(arguments: [["prompt", "--bogus"], ["prompt", "x"], ["prompt", "--max-length", "0"], ["--json", "prompt", "x"]])
    func aMistakeIsToldButNeverAStatus(arguments: [String]) {
        let outcome = Machine().run(arguments)
        #expect(outcome.status == .done)
        #expect(outcome.output.isEmpty)
        #expect(outcome.errors.hasSuffix("\n  norrisctl prompt --help shows what it takes.\n"))
    }

    @Test func saysNothingOfWaiting() {
        for command in [["prompt", "--timeout", "3s"], ["prompt", "--timeout=3s"]] {
            let machine = Machine(results: page(fact("a", "Late.")))
            machine.isErrorTerminal = true
            machine.delay = .seconds(2)
            #expect(machine.run(command) == Outcome(output: "Late.\n"))
        }
    }
}
