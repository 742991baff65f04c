import Foundation
import NorrisTestSupport
import Testing

@Suite(.onTestThread) struct ShellFactTests {
    private static let facts = (10..<74).map { "fact \($0) of the file" }

    private func home(_ shell: Shell, _ flags: [String] = [], facts: [String] = facts) throws -> ShellHome {
        let home = try ShellHome(shell, flags)
        try home.write(facts: facts)
        return home
    }

    @Test(arguments: Shell.allCases) func eachFactComesOnceAtTheStartAndInThePrompts(shell: Shell) throws {
        let terminal = try home(shell, facts: Array(Self.facts.prefix(5))).start()
        let greeting = try #require(terminal.wait(for: "of the file\r\n")).suffix(20).dropLast()
        let prompts = terminal.facts(ofPrompts: 5)
        #expect(prompts.first == "", "Two facts at once are too many.")
        #expect((prompts.dropFirst() + [String(greeting)]).sorted() == Array(Self.facts.prefix(5)))
    }

    @Test(arguments: Shell.allCases) func greetsOnly(shell: Shell) throws {
        let home = try home(shell, ["--greeting"])
        try home.configure(after: shell == .fish ? "set NORRIS_FACT" : "NORRIS_FACT=")
        let terminal = try home.start()
        #expect(terminal.wait(for: "of the file\r\n") != nil)
        #expect(terminal.facts(ofPrompts: 2) == ["", ""])
    }

    /// The start and eight prompts run no process except the shell. /bin/true then tests the trace.
    @Test(arguments: Shell.allCases) func startsNoProcess(shell: Shell) throws {
        let home = try home(shell)
        let trace = try home.folder.write("", to: "trace")
        let terminal = try home.start(trace: trace)
        #expect(Set(terminal.facts(ofPrompts: 8)).count == 8)
        #expect(terminal.run("/bin/true")?.hasPrefix("0:fact") == true)
        terminal.transcriptToTheEnd()
        let calls = try String(contentsOfFile: trace, encoding: .utf8).split(separator: "\n")
        let programs = calls.filter { $0.contains("execve") && !$0.contains("resumed") }
        #expect(programs.count == 2, "\(programs)")
        // fish also starts threads.
        let forks = calls.filter { call in
            ["fork(", "clone(", "clone3("].contains { call.contains($0) } && !call.contains("CLONE_THREAD")
        }
        #expect(forks.count == 1, "\(forks)")
    }

    @Test(arguments: Shell.allCases) func leavesOutWhatIsTooLong(shell: Shell) throws {
        let long = String(repeating: "é", count: 70)
        let lines = [long, long + "x", "short", "ééééé", "öööööö"]
        let any = try home(shell, ["--prompt", "--max-length", "70"], facts: lines).start()
        #expect(any.facts(ofPrompts: 4).sorted() == lines.filter { $0.count <= 70 }.sorted())
        let short = try home(shell, ["--prompt", "--max-length", "5"], facts: lines).start()
        #expect(short.facts(ofPrompts: 2).sorted() == ["short", "ééééé"])
    }

    @Test(arguments: Shell.allCases) func aNewFileIsSeenWhenTheOldOneIsThrough(shell: Shell) throws {
        let home = try home(shell, ["--prompt"], facts: ["one", "two"])
        let terminal = try home.start()
        #expect(terminal.nextPrompt() != nil)
        try home.write(facts: ["three"])
        #expect(terminal.run("").map { ["0:one", "0:two"].contains($0) } == true)
        #expect(terminal.run("") == "0:three")
        // The last fact remains if the file is deleted.
        unlink(home.factFile)
        #expect(terminal.run("") == "0:three")
    }

    @Test(arguments: Shell.allCases) func withoutAFileAsksNorrisctlOnceInAShell(shell: Shell) throws {
        let home = try ShellHome(shell, ["--max-length", "60"])
        let program = """
            echo "$*" >> \(home.folder("log"))
            echo 'a fact of the daemon'
            echo 'broken' >&2
            """
        _ = try home.folder.writeProgram(program, to: "bin/norrisctl")
        let terminal = try home.start()
        #expect(terminal.wait(for: "a fact of the daemon\r\n") != nil)
        #expect(terminal.facts(ofPrompts: 4) == [""] + Array(repeating: "a fact of the daemon", count: 3))
        #expect(!terminal.transcriptToTheEnd().contains("broken"))
        #expect(try String(contentsOfFile: home.folder("log"), encoding: .utf8) == "prompt --max-length 60\n")
    }
}

/// A shell shows data or nothing, without a delay, for any content of the file of facts.
@Suite(.onTestThread) struct ShellHostileFileTests {
    @Test(arguments: Shell.allCases) func linesThatATerminalOrAPromptCouldInterpretAreLeftOut(shell: Shell) throws {
        let home = try ShellHome(shell, ["--prompt"])
        try home.configure(before: shell == .zsh ? "setopt prompt_bang" : "")
        let shown = ["k ' \" ; & | > ( { [ ] } ) * ? ~ #", "-n l", "é 漢€😀ß"]
        let hostile = [
            "a $(touch \(home.folder("X")))", "b `touch \(home.folder("X"))`", "c %n%F{red}", "d !!", "e \\w",
            "f \u{1B}]0;title\u{07}", "g \t", "h \u{7F}", "i \u{9B}31m", String(repeating: "x", count: 5000),
        ]
        try home.write(facts: hostile + shown)
        let terminal = try home.start()
        // As many prompts as lines, so that each line that is not left out is shown.
        #expect(Set(terminal.facts(ofPrompts: (hostile + shown).count)) == Set(shown))
        terminal.transcriptToTheEnd()
        #expect(!FileManager.default.fileExists(atPath: home.folder("X")))
    }

    @Test(arguments: Shell.allCases) func theGreetingIsDataToo(shell: Shell) throws {
        let home = try ShellHome(shell, ["--greeting"])
        try home.write(facts: ["-e $(touch \(home.folder("X")))", "-e 'a' (b) \"c\" ~ * #"])
        let terminal = try home.start()
        #expect(terminal.wait(for: "-e 'a' (b) \"c\" ~ * #\r\n") != nil)
        terminal.transcriptToTheEnd()
        #expect(!FileManager.default.fileExists(atPath: home.folder("X")))
    }

    enum Obstacle: CaseIterable { case missing, empty, blank, folder, pipe, endlessLine }

    @Test(arguments: Shell.allCases, Obstacle.allCases)
    func withoutAFactThereIsNothingAndNoWaiting(shell: Shell, obstacle: Obstacle) throws {
        let home = try ShellHome(shell)
        switch obstacle {
        case .missing: break
        case .empty: try home.write(facts: Data())
        case .blank: try home.write(facts: ["", "  ", "\t", "$"])
        case .folder: mkdir(home.factFile, 0o755)
        case .pipe: mkfifo(home.factFile, 0o644)
        case .endlessLine: try home.write(facts: Data(repeating: UInt8(ascii: "x"), count: 20_000_000))
        }
        let terminal = try home.start()
        #expect(terminal.facts(ofPrompts: 3) == ["", "", ""])
        #expect(terminal.endsWithoutComplaint())
    }
}
