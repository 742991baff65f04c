import NorrisClient
@testable import NorrisCommands
import NorrisTerminal
import Testing

struct CopyTests {
    private let factReply = page(fact("a", "First."))
    private let missing = "  With Wayland: apt install wl-clipboard; with X11: apt install xclip\n"

    private func machine(_ reply: String, _ programs: [String: SubprocessOutcome] = [:]) -> Machine {
        let machine = Machine(results: reply)
        machine.programs = programs.mapValues { [$0] }
        machine.environment = ["WAYLAND_DISPLAY": "wayland-0", "DISPLAY": ":0", "TERM": "xterm"]
        return machine
    }

    private func request(_ program: String, _ text: String) -> SubprocessRequest {
        SubprocessRequest(
            program: program,
            arguments: program == "wl-copy" ? ["--type", "text/plain"] : ["-selection", "clipboard", "-in"],
            input: .bytes(Array(text.utf8)), timeout: .seconds(3)
        )
    }

    @Test func copiesAFactWithWayland() {
        let machine = machine(factReply, ["wl-copy": .ended(status: 0)])
        #expect(machine.run("fact", "--copy") == Outcome(output: "First.\n", errors: "Copied to the clipboard.\n"))
        #expect(machine.runs == [request("wl-copy", "First.")])
    }

    @Test func copiesWithX11WhereWaylandFails() {
        for outcome in [SubprocessOutcome.missing, .ended(status: 1), .timedOut] {
            let machine = machine(factReply, ["wl-copy": outcome, "xclip": .ended(status: 0)])
            #expect(machine.run("fact", "--copy") == Outcome(output: "First.\n", errors: "Copied to the clipboard.\n"))
            #expect(machine.runs == [request("wl-copy", "First."), request("xclip", "First.")])
        }
        let machine = machine(factReply, ["wl-copy": .ended(status: 0), "xclip": .ended(status: 0)])
        machine.environment["WAYLAND_DISPLAY"] = nil
        #expect(machine.run("fact", "--copy").status == .done)
        #expect(machine.runs == [request("xclip", "First.")])
    }

    @Test(arguments: [("a", "YQ=="), ("ab", "YWI="), ("abc", "YWJj"), ("ÿ>?", "w78+Pw==")])
    func leavesItToTheTerminalWhereThereIsNoProgram(text: String, encoded: String) {
        let sequence = "\u{1B}]52;c;\(encoded)\u{1B}\\"
        let remark = "Sent to the terminal, for its clipboard.\n"
        let viaErrors = machine(page(fact("a", text)))
        viaErrors.isErrorTerminal = true
        #expect(viaErrors.run("fact", "--copy") == Outcome(output: text + "\n", errors: sequence + remark))

        let viaOutput = machine(page(fact("a", text))).onTerminal()
        #expect(viaOutput.run("fact", "--copy") == Outcome(
            output: sequence + text + "\n#dev  a\n", errors: remark
        ))
    }

    @Test(arguments: ["dumb", "linux", ""])
    func saysWhatToInstallWhereNothingTakesIt(type: String) {
        let machine = machine(factReply)
        machine.environment["TERM"] = type
        machine.isErrorTerminal = true
        #expect(machine.run("fact", "--copy") == Outcome(
            output: "First.\n",
            errors: "norrisctl: Nothing took the text: neither wl-copy, nor xclip, nor a terminal.\n" + missing,
            status: .unavailable
        ))
        let pipe = self.machine(factReply)
        #expect(pipe.run("fact", "--copy").status == .unavailable)
    }

    @Test func sendsNoSequenceThatIsTooLong() {
        let text = String(repeating: "x", count: 75_001)
        let machine = machine(page(fact("a", text)))
        machine.isErrorTerminal = true
        let outcome = machine.run("fact", "--copy")
        #expect(outcome.status == .unavailable)
        #expect(outcome.errors == "norrisctl: The text is too long to be copied through the terminal.\n" + missing)
        let shorter = self.machine(page(fact("a", String(text.dropLast()))))
        shorter.isErrorTerminal = true
        #expect(shorter.run("fact", "--copy").status == .done)
    }

    @Test func copiesNothingThatAShellWouldRun() {
        let text = #"rm -rf /\n\u001b[201~\u0003sudo\r\n\u009bx\u202e\u2028\ty"#
        let machine = machine(page(fact("a", text)), ["wl-copy": .ended(status: 0)])
        #expect(machine.run("fact", "--copy").status == .done)
        #expect(machine.runs == [request("wl-copy", "rm -rf / sudo y")])
    }

    @Test func copiesTheAddressOfAGif() {
        let machine = machine(page(gif("a"), gif("b")), ["wl-copy": .ended(status: 0)])
        #expect(machine.run("gif", "cats", "--copy", "--rendition", "hd") == Outcome(
            output: "a\tCat GIF\thttps://media.example/a.mp4\tPowered by GIPHY\n", errors: "Copied to the clipboard.\n"
        ))
        #expect(machine.runs == [request("wl-copy", "https://media.example/a.mp4")])
    }

    @Test func copiesNothingWhereThereIsNothing() {
        let none = machine(page(gif("a", renditions: "{}")), ["wl-copy": .ended(status: 0)])
        #expect(none.run("gif", "cats", "--copy").status == .nothing)
        #expect(none.runs.isEmpty)
        let empty = machine(page(), ["wl-copy": .ended(status: 0)])
        #expect(empty.run("fact", "--copy").status == .nothing)
        #expect(empty.runs.isEmpty)
    }
}
