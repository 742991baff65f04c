import Foundation
import NorrisTestSupport
import Testing

@Suite(.onTestThread, .serialized) struct TerminalEndToEndTests {
    private func terminal(
        _ daemon: RunningDaemon, _ arguments: [String], environment: [String: String] = [:], columns: Int = 80,
        rows: Int = 24
    ) throws -> PseudoTerminal {
        try PseudoTerminal(
            Programs.norrisctl, ["--timeout", "2m"] + arguments,
            environment: environment.merging(["NORRISD_SOCKET": daemon.socket]) { $1 }, columns: columns, rows: rows)
    }

    @Test func longOutputGoesThroughLess() throws {
        let daemon = try RunningDaemon()
        let terminal = try terminal(
            daemon, ["categories", "--color", "always"], environment: ["NORRISCTL_PAGER": "less -FRX"], rows: 5)
        #expect(terminal.wait(for: "animal") != nil)
        #expect(terminal.wait(for: ":") != nil, "less waits for a key")
        terminal.type("q")
        #expect(terminal.waitForEnd() == 0)
        #expect(!String(decoding: terminal.transcript, as: UTF8.self).contains("travel"))
        let short = try self.terminal(daemon, ["fact"], environment: ["NORRISCTL_PAGER": "false"])
        #expect(short.waitForEnd() == 0)
        #expect(short.rest.contains("builtin-"))
        let plain = try self.terminal(
            daemon, ["categories", "--no-pager"], environment: ["NORRISCTL_PAGER": "false"], rows: 5)
        #expect(plain.waitForEnd() == 0)
        #expect(plain.rest.contains("travel"))
    }

    /// The pager continues after SIGINT, as less(1) does, and norrisctl continues to wait for the pager.
    @Test func ctrlCIsThePagers() throws {
        let daemon = try RunningDaemon()
        let pager = try daemon.folder.write(
            """
            trap 'echo interrupted' INT
            cat
            echo ready
            # A signal before the read waits for its end.
            until read -r -t 0.1 key < /dev/tty; do :; done
            echo "got $key"
            """, to: "pager")
        let terminal = try terminal(daemon, ["categories"], environment: ["NORRISCTL_PAGER": "bash \(pager)"], rows: 5)
        #expect(terminal.wait(for: "ready") != nil)
        terminal.type("\u{3}")
        // The terminal discards keys that are typed before the signal.
        #expect(terminal.wait(for: "interrupted") != nil)
        terminal.type("q\r")
        #expect(terminal.wait(for: "got q") != nil)
        #expect(terminal.waitForEnd() == 0)
        #expect(!terminal.rest.contains("norrisctl: "))
    }

    /// The time zone's name identifies local time. norrisctl prints UTC to a pipe.
    @Test func timesAreLocal() throws {
        let daemon = try RunningDaemon()
        let terminal = try terminal(daemon, ["doctor", "--width", "200"], environment: ["TZ": "Asia/Kolkata"])
        terminal.waitForEnd()
        let clock = terminal.rest.components(separatedBy: "\r\n").first { $0.contains("It says ") } ?? ""
        #expect(clock.hasSuffix(" IST."), "\(clock)")
        #expect(try daemon.ctl("doctor").lines.contains { $0.contains("It says 2") && $0.hasSuffix("Z.") })
    }

    @Test func aDaemonInATerminalBeginsWithTheNextStep() throws {
        let folder = TemporaryFolder()
        let configuration = try folder.write("facts: {enabled: false}\n", to: "config.yaml")
        let arguments = RunningDaemon.arguments(in: folder) + ["--config", configuration]
        func firstLine(_ arguments: [String]) throws -> String? {
            let environment = ["HOME": folder.path, "XDG_RUNTIME_DIR": folder.path]
            let terminal = try PseudoTerminal(Programs.norrisd, arguments, environment: environment, columns: 200)
            defer {
                terminal.type("\u{3}")
                #expect(terminal.waitForEnd() == 0)
            }
            return terminal.wait(for: "\r\n")
        }
        let named = try firstLine(arguments)
        #expect(named?.hasPrefix("norrisd: ready, with ") == true)
        #expect(named?.hasSuffix("In another terminal: norrisctl --socket \(folder("sock")) fact\r\n") == true)
        #expect(
            try firstLine(Array(arguments.dropFirst(2)))?.hasSuffix("In another terminal: norrisctl fact\r\n") == true)
        #expect(try firstLine(arguments + ["--log-level", "info"])?.contains("notice server.ready") == true)
    }

    @Test func aWaitIsShownAndTakenAway() throws {
        let daemon = try RunningDaemon()
        daemon.send(SIGSTOP)
        let terminal = try terminal(daemon, ["fact", "--color", "never", "--timeout", "1m"])
        // The visible sign of the spinner depends on the time.
        let shown = (0..<3).map { _ in terminal.wait(for: " norrisd…\u{1B}[K") }
        for line in shown {
            #expect(line?.wholeMatch(of: /\r[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] waiting for norrisd…\u{1B}\[K/) != nil, "\(shown)")
        }
        #expect(Set(shown).count > 1, "It turns")
        daemon.send(SIGCONT)
        #expect(terminal.waitForEnd() == 0)
        let left = terminal.rest.components(separatedBy: "\r\u{1B}[K").last ?? ""
        #expect(left.contains("builtin-") && !left.contains("waiting") && !left.contains("\u{1B}"))
    }

    @Test(
        "A terminal that is dumb or of no kind gets no escape sequence, even while it waits", arguments: ["dumb", ""])
    func aDumbTerminal(kind: String) throws {
        let daemon = try RunningDaemon()
        daemon.send(SIGSTOP)
        let late = try terminal(daemon, ["fact", "--timeout", "600ms"], environment: ["TERM": kind])
        #expect(late.waitForEnd() == 69)
        #expect(late.rest.hasPrefix("norrisctl: "))
        daemon.send(SIGCONT)
        let status = try terminal(daemon, ["status"], environment: ["TERM": kind])
        #expect(status.waitForEnd() == 0)
        #expect(!(late.transcript + status.transcript).contains(0x1B))
    }

    @Test func aTerminalThatIsNotUTF8GetsASCII() throws {
        let daemon = try RunningDaemon()
        for (locale, name) in [("C", "?lan ~??~"), ("en_US.ISO-8859-1", "?lan ~??~"), ("C.UTF-8", "Élan …漢…")] {
            let fact = ["fact", "--name", "Élan …漢…", "--width", "1000", "--color", "never"]
            let terminal = try terminal(daemon, fact, environment: ["LC_ALL": locale])
            #expect(terminal.waitForEnd() == 0)
            #expect(terminal.rest.contains(name), "\(locale): \(terminal.rest)")
        }
        daemon.send(SIGSTOP)
        let late = try terminal(daemon, ["fact", "--timeout", "5s"], environment: ["LANG": "C"])
        #expect(late.wait(for: "waiting for norrisd~") != nil)
        #expect(late.waitForEnd() == 69)
        #expect(late.transcript.allSatisfy { $0 < 0x80 })
        daemon.send(SIGCONT)
        // norrisctl does not replace characters in output to a pipe.
        let piped = try run(
            Programs.norrisctl, ["fact", "--name", "Élan …漢…", "--timeout", "5m"],
            environment: ["LC_ALL": "C", "NORRISD_SOCKET": daemon.socket])
        #expect(piped.output.contains("Élan …漢…"))
    }

    @Test(
        "A failed write is an error, except for a prompt",
        arguments: [
            ("fact --timeout 5m >/dev/full", 74), ("status --timeout 5m >&-", 74), ("prompt >/dev/full", 0),
            ("prompt --timeout=1s >&- 2>&- <&-", 0),
        ])
    func anOutputThatCannotBeWritten(command: String, status: Int32) throws {
        let daemon = try RunningDaemon()
        let result = try run(
            "sh", ["-c", "exec \"$0\" \(command)", Programs.norrisctl], environment: ["NORRISD_SOCKET": daemon.socket])
        #expect(result.status == status, "\(result)")
        #expect(result.errors.isEmpty == (status == 0))
    }

    @Test func aClosedPipeIsNoError() throws {
        let daemon = try RunningDaemon()
        let script = """
            "$0" fact --timeout 5m --count 100 | head -n 1; echo "${PIPESTATUS[0]}"
            "$0" fact --timeout 5m | exec true; echo "${PIPESTATUS[0]}"
            """
        let result = try run(
            "bash", ["-c", script, Programs.norrisctl], environment: ["NORRISD_SOCKET": daemon.socket])
        #expect(result.errors == "")
        #expect(result.lines.count == 3)
        #expect(result.lines.suffix(2) == ["0", "0"])
    }
}
