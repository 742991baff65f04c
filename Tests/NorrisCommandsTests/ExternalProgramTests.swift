import Glibc
import NorrisClient
@testable import NorrisCommands
import NorrisTerminal
import NorrisTestSupport
import Testing

struct CopyTests {
    private let factReply = page(fact("a", "First."))
    private let missing = "  With Wayland: sudo apt install wl-clipboard; with X11: sudo apt install xclip\n"

    private func machine(_ reply: String, _ programs: [String: SubprocessOutcome] = [:]) -> Machine {
        let machine = Machine(results: reply)
        machine.programs = programs.mapValues { [$0] }
        machine.environment = ["WAYLAND_DISPLAY": "wayland-0", "DISPLAY": ":0", "TERM": "xterm"]
        return machine
    }

    private func request(_ program: String, _ text: String) -> Machine.Run {
        let arguments = program == "wl-copy" ? ["--type", "text/plain"] : ["-selection", "clipboard", "-in"]
        return Machine.Run(program: program, arguments: arguments, input: Array(text.utf8))
    }

    @Test func copiesAFactWithWayland() {
        let machine = machine(factReply, ["wl-copy": .ended(status: 0)])
        #expect(machine.run("fact", "--copy") == Outcome(output: "First.\n", errors: "Copied to the clipboard.\n"))
        #expect(machine.runs == [request("wl-copy", "First.")])
    }

    @Test func copiesWithX11WhereWaylandFails() {
        for outcome in [SubprocessOutcome.missing, .ended(status: 1)] {
            let machine = machine(factReply, ["wl-copy": outcome, "xclip": .ended(status: 0)])
            #expect(machine.run("fact", "--copy") == Outcome(output: "First.\n", errors: "Copied to the clipboard.\n"))
            #expect(
                machine.runs == (outcome == .missing ? [] : [request("wl-copy", "First.")]) + [
                    request("xclip", "First.")
                ])
        }
        let machine = machine(factReply, ["wl-copy": .ended(status: 0), "xclip": .ended(status: 0)])
        machine.environment["WAYLAND_DISPLAY"] = nil
        #expect(machine.run("fact", "--copy").status == .done)
        #expect(machine.runs == [request("xclip", "First.")])
    }

    @Test(arguments: [("a", "YQ=="), ("ab", "YWI="), ("abc", "YWJj"), ("ÿ>?", "w78+Pw==")])
    func leavesItToTheTerminalWhereThereIsNoProgram(text: String, encoded: String) {
        let sequence = "\u{1B}]52;c;\(encoded)\u{1B}\\"
        let remark = "Sent to the terminal's clipboard.\n"
        let viaErrors = machine(page(fact("a", text)))
        viaErrors.isErrorTerminal = true
        #expect(viaErrors.run("fact", "--copy") == Outcome(output: text + "\n", errors: sequence + remark))

        let viaOutput = machine(page(fact("a", text))).onTerminal()
        #expect(viaOutput.run("fact", "--copy") == Outcome(output: sequence + text + "\n#dev  a\n", errors: remark))
    }

    @Test(arguments: ["dumb", "linux"]) func saysWhatToInstallWhereNothingTakesIt(type: String) {
        let machine = machine(factReply)
        machine.environment["TERM"] = type
        machine.isErrorTerminal = true
        #expect(
            machine.run("fact", "--copy")
                == Outcome(
                    output: "First.\n", errors: "norrisctl: No clipboard is available.\n" + missing,
                    status: .unavailable))
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
        let reply = #"{"post":\#(post("town:1", text))}"#
        let machine = machine(reply, ["wl-copy": .ended(status: 0)])
        #expect(machine.run("post", "town:1", "--copy").status == .done)
        #expect(machine.runs == [request("wl-copy", "rm -rf / sudo y https://town.example/1")])
    }

    @Test func copiesNothingWhereThereIsNothing() {
        let none = machine(page(gif("a", renditions: "{}")), ["wl-copy": .ended(status: 0)])
        #expect(none.run("gif", "cats", "--copy").status == .nothing)
        #expect(none.runs.isEmpty)
    }
}

struct OpenTests {
    private let gifReply = #"{"gif":\#(gif("a"))}"#
    private let reset = "\u{1B}\\\u{1B}7\u{1B}[?1049l\u{1B}[?1000l\u{1B}\\\u{1B}[0m\u{1B}[?25h\n"

    private func machine(_ reply: String, _ outcome: SubprocessOutcome..., display: String = "DISPLAY") -> Machine {
        let machine = Machine(results: reply)
        machine.programs["xdg-open"] = outcome
        machine.environment[display] = ":0"
        return machine
    }

    @Test(arguments: [
        (SubprocessOutcome.ended(status: 0), "DISPLAY"), (.ended(status: 0), "WAYLAND_DISPLAY"), (.goesOn, "DISPLAY"),
    ]) func opensThePageOfAGif(outcome: SubprocessOutcome, display: String) {
        let machine = machine(gifReply, outcome, display: display)
        #expect(
            machine.run("gif", "--id", "a", "--open")
                == Outcome(
                    output: "a\tCat GIF\thttps://media.example/a.gif\tPowered by GIPHY\n",
                    errors: "Opened https://giphy.com/gifs/a\n"))
        #expect(
            machine.runs == [
                Machine.Run(program: "xdg-open", arguments: ["https://giphy.com/gifs/a"])
            ])
    }

    @Test func opensALinkOfAPost() {
        let reply = #"{"post":\#(post("town:1", "x[1] y[2]"))}"#
            .replacing(#""images":[]"#, with: #""images":[],"links":["https://e.org/1","https://e.org/2"]"#)
        let machine = machine(reply, .ended(status: 0))
        #expect(machine.run("post", "town:1", "--open-link", "2").errors == "Opened https://e.org/2\n")
        #expect(machine.runs.map(\.arguments) == [["https://e.org/2"]])
    }

    @Test("A post is marked as read when its page was opened or its text copied", arguments: [0, 3] as [Int32])
    func whatWasOpenedIsRead(status: Int32) {
        for command in ["next --open", "next --copy", "post town:1 --open"] {
            let shown = post("town:1", "x")
            let machine = Machine(
                results: command.hasPrefix("next") ? page(shown) : #"{"post":\#(shown)}"#, #"{"marked":1}"#)
            for name in ["DISPLAY", "WAYLAND_DISPLAY"] { machine.environment[name] = ":0" }
            for name in ["xdg-open", "wl-copy"] { machine.programs[name] = [.ended(status: status)] }
            let outcome = machine.run(command.split(separator: " ").map(String.init))
            #expect(outcome.status == (status == 0 ? .done : .unavailable), "\(command): \(outcome)")
            #expect(machine.runs.map(\.program) == [command.hasSuffix("copy") ? "wl-copy" : "xdg-open"])
            let marks = machine.requests.filter { "\($0)".contains("post.mark_read") }
            #expect(marks.count == (status == 0 ? 1 : 0), "\(command)")
        }
    }

    @Test func givesTheTerminalToABrowserWhereThereIsNoDisplay() {
        let machine = Machine(results: gifReply).onTerminal()
        machine.isInputTerminal = true
        machine.input = Array("a key\n".utf8)
        machine.programs["xdg-open"] = [.ended(status: 0, output: Array("a page".utf8))]
        let outcome = machine.run("gif", "--id", "a", "--open")
        #expect(outcome.status == .done && outcome.output.contains("a page") && !outcome.output.contains("\u{1B}"))
        #expect(machine.runs.map(\.input) == [Array("a key\n".utf8)])
        let failing = Machine(results: gifReply).onTerminal()
        failing.isInputTerminal = true
        failing.programs["xdg-open"] = [.ended(status: 1)]
        #expect(failing.run("gif", "--id", "a", "--open").output.contains(reset))
    }

    @Test("The browsers of the user go before the one of the desktop")
    func opensWebAddressesInTheBrowserOfTheUser() {
        let machine = machine(gifReply, .ended(status: 0))
        machine.environment["BROWSER"] = "nowhere -x:firefox --new-tab %s --other:xdg-open"
        machine.programs["firefox"] = [.goesOn]
        let outcome = machine.run("gif", "--id", "a", "--open")
        #expect(outcome.errors == "Opened https://giphy.com/gifs/a\n")
        let arguments = ["--new-tab", "https://giphy.com/gifs/a", "--other"]
        #expect(machine.runs == [Machine.Run(program: "firefox", arguments: arguments)])
        let without = self.machine(gifReply, .ended(status: 0))
        without.environment["BROWSER"] = "nowhere: "
        #expect(without.run("gif", "--id", "a", "--open").status == .done && without.runs.count == 1)
    }

    @Test func startsNothingWithoutDisplayAndTerminal() {
        let machine = Machine(results: gifReply)
        machine.environment = ["DISPLAY": ""]
        let outcome = machine.run("gif", "--id", "a", "--open")
        #expect(outcome.output.hasPrefix("a\t"))
        #expect(
            outcome.errors == """
                norrisctl: There is no display and no terminal to open it in.
                  Open it yourself: https://giphy.com/gifs/a

                """)
        #expect(outcome.status == .unavailable)
        #expect(machine.runs.isEmpty)
    }

    @Test(arguments: [
        (SubprocessOutcome.missing, "xdg-open is not installed.\n  sudo apt install xdg-utils"),
        (.ended(status: 4), "xdg-open failed with status 4.\n  Open it yourself: https://giphy.com/gifs/a"),
        (.notStarted(errno: ENOEXEC), "xdg-open cannot be started: Exec format error."),
    ]) func saysWhatWentWrongBesideTheContent(outcome: SubprocessOutcome, message: String) {
        #expect(
            machine(gifReply, outcome).run("gif", "--id", "a", "--open")
                == Outcome(
                    output: "a\tCat GIF\thttps://media.example/a.gif\tPowered by GIPHY\n",
                    errors: "norrisctl: \(message)\n", status: .unavailable))
    }

    @Test(arguments: [
        "javascript:alert(1)", "file:///etc/passwd", "--help", "", "https:/e.org", "https://e.org/ x",
        #"https://e.org/\u001b]0;x\u0007"#, #"\u0009https://e.org/"#, #"https://e.org/\u202ex"#,
    ]) func handsOverNoAddressButOneOfTheWeb(address: String) {
        let hostileGif = gifReply.replacing("https://giphy.com/gifs/a", with: address)
        let hostilePost = #"{"post":\#(post("town:1", "x"))}"#.replacing("https://town.example/1", with: address)
        for (reply, arguments) in [(hostileGif, ["gif", "--id", "a"]), (hostilePost, ["post", "town:1"])] {
            let machine = machine(reply, .ended(status: 0))
            let outcome = machine.run(arguments + ["--open"])
            #expect(outcome.status == .nothing)
            #expect(outcome.errors.hasSuffix(" has no web address.\n"))
            #expect(machine.runs.isEmpty)
        }
    }
}

struct SubprocessTests {
    private func run(
        _ program: String, _ arguments: String..., input: SubprocessRequest.Input = .nothing,
        output: SubprocessRequest.Output = .collected(limit: 1 << 24), timeout: Duration? = nil, mayGoOn: Bool = false
    ) async throws -> SubprocessOutcome {
        try await TestThread.run {
            System().run(
                SubprocessRequest(
                    program: program, arguments: arguments, input: input, output: output, timeout: timeout,
                    mayGoOn: mayGoOn))
        }
    }

    @Test func feedsAndCollectsMoreThanAPipeHolds() async throws {
        let bytes = (0..<5_000_000).map { UInt8(truncatingIfNeeded: $0) }
        #expect(try await run("cat", input: .bytes(bytes)) == .ended(status: 0, output: bytes))
        #expect(try await run("cat") == .ended(status: 0))
        // `head` closes its input early. norrisctl also ignores SIGPIPE.
        signal(SIGPIPE, SIG_IGN)
        #expect(try await run("head", "-c1", input: .bytes(bytes)) == .ended(status: 0, output: [0]))
    }

    @Test func passesArgumentsOnAsTheyAre() async throws {
        let arguments = "$(id) `id` ' \" \\ * ; | &"
        #expect(try await run("printf", "%s", arguments) == .ended(status: 0, output: Array(arguments.utf8)))
    }

    @Test func tellsHowItEnded() async throws {
        #expect(try await run("sh", "-c", "exit 3") == .ended(status: 3))
        #expect(try await run("sh", "-c", "kill -KILL $$") == .ended(status: 137))
        #expect(try await run("norris-no-such-program") == .missing)
        let long = String(repeating: "x", count: 200_000)
        #expect(try await run("true", long) == .notStarted(errno: E2BIG))
    }

    @Test func takesAProgramByItsFile() async throws {
        let folder = TemporaryFolder()
        let program = try await TestThread.run { try folder.writeProgram("printf %s \"$0\"", to: "program") }
        #expect(try await run(program) == .ended(status: 0, output: Array(program.utf8)))
        let file = try folder.write("#!/bin/sh\n", to: "file")
        for path in [folder("none"), file, folder.path, program + "/x", "/", "./norris-no-such-program"] {
            #expect(try await run(path) == .missing)
        }
    }

    @Test func givesItTheUsualSignals() async throws {
        // norrisctl ignores SIGPIPE, and exec preserves ignored signals.
        signal(SIGPIPE, SIG_IGN)
        #expect(try await run("sh", "-c", "kill -PIPE $$") == .ended(status: 141))
    }

    @Test func endsOneThatWritesTooMuch() async throws {
        #expect(try await run("yes", output: .collected(limit: 1_000_000)) == .tooLarge)
        #expect(try await run("printf", "1234", output: .collected(limit: 3)) == .tooLarge)
        #expect(
            try await run("printf", "123", output: .collected(limit: 3)) == .ended(status: 0, output: [49, 50, 51]))
    }

    @Test func endsOneThatHangsWithAllItStarted() async throws {
        // On a busy machine, a shell may need more than 2 s to start its child.
        for timeout in [Duration.seconds(2), .seconds(20), .seconds(200)] {
            let folder = TemporaryFolder()
            let outcome = try await run(
                "sh", "-c", "sleep 1000 & echo $! > '\(folder("child"))'; echo $$ > '\(folder("parent"))'; wait",
                timeout: timeout)
            #expect(outcome == .timedOut)
            let started = ["parent", "child"].compactMap { processID(in: folder($0)) }
            guard started.count == 2 else { continue }
            for processID in started {
                #expect(try await TestThread.run { hasEnded(processID) })
            }
            return
        }
        Issue.record("The shell did not start its child in time.")
    }

    @Test func ignoresOneThatStaysBehindWithItsOutput() async throws {
        let folder = TemporaryFolder()
        // Clipboard programs also leave a background process, but without a pipe to norrisctl.
        let script = "sleep 90 & echo $! > '\(folder("sleep"))'; echo a"
        let outcome = try await run("sh", "-c", script, timeout: .seconds(60))
        #expect(outcome == .ended(status: 0, output: Array("a\n".utf8)))
        kill(try #require(processID(in: folder("sleep"))), SIGKILL)
    }
}

/// The process id in a file; nil until the final LF is written.
private func processID(in path: String) -> Int32? {
    guard let text = try? readFile(path, limit: 100), text.last == UInt8(ascii: "\n") else { return nil }
    return Int32(String(decoding: text.dropLast(), as: UTF8.self))
}

/// Returns true if a process ends within 30 s. A zombie counts as ended.
private func hasEnded(_ processID: Int32) -> Bool {
    waits {
        guard let status = try? readFile("/proc/\(processID)/stat", limit: 1000) else { return true }
        return String(decoding: status, as: UTF8.self).contains(") Z ")
    }
}

/// Returns true if a condition becomes true within 30 s.
private func waits(for condition: () -> Bool) -> Bool {
    for _ in 0..<3000 {
        if condition() { return true }
        poll(nil, 0, 10)
    }
    return false
}
