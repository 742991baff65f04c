import Foundation
import NorrisTestSupport
import Testing

/// Facts in real shells: at the start and before each prompt.
struct ShellFactTests {
    private static let facts = (10..<74).map { "fact \($0) of the file" }

    private func home(_ shell: Shell, _ flags: [String] = [], facts: [String] = facts) throws -> ShellHome {
        let home = try ShellHome(shell, flags)
        try home.write(facts: facts)
        return home
    }

    @Test(arguments: Shell.allCases)
    func eachFactComesOnceAtTheStartAndInThePrompts(shell: Shell) async throws {
        try await TestThread.run {
            let terminal = try home(shell, facts: Array(Self.facts.prefix(5))).start()
            let greeting = try #require(terminal.wait(for: "of the file\r\n")).suffix(20).dropLast()
            let prompts = terminal.facts(ofPrompts: 4)
            #expect((prompts + [String(greeting)]).sorted() == Array(Self.facts.prefix(5)))
        }
    }

    @Test(arguments: Shell.allCases)
    func greetsOnly(shell: Shell) async throws {
        try await TestThread.run {
            let home = try home(shell, ["--greeting"])
            try home.configure(after: shell == .fish ? "set NORRIS_FACT" : "NORRIS_FACT=")
            let terminal = try home.start()
            #expect(terminal.wait(for: "of the file\r\n") != nil)
            #expect(terminal.facts(ofPrompts: 2) == ["", ""])
        }
    }

    @Test(arguments: Shell.allCases)
    func promptsOnly(shell: Shell) async throws {
        try await TestThread.run {
            let terminal = try home(shell, ["--prompt"]).start()
            #expect(Set(terminal.facts(ofPrompts: 8)).count == 8)
            #expect(!terminal.transcriptToTheEnd().contains("file\r\n"))
        }
    }

    /// Eight prompts and the start: the only process is the shell, until a program is run to see that it is counted.
    @Test(arguments: Shell.allCases)
    func startsNoProcess(shell: Shell) async throws {
        try await TestThread.run {
            let home = try home(shell)
            let trace = try home.folder.write("", to: "trace")
            let terminal = try home.start(trace: trace)
            #expect(Set(terminal.facts(ofPrompts: 8)).count == 8)
            #expect(terminal.run("/bin/true")?.hasPrefix("0:fact") == true)
            terminal.transcriptToTheEnd()
            let calls = try String(contentsOfFile: trace, encoding: .utf8).split(separator: "\n")
            let programs = calls.filter { $0.contains("execve") && !$0.contains("resumed") }
            #expect(programs.count == 2, "\(programs)")
            // fish works in threads as well.
            let forks = calls.filter { call in
                ["fork(", "clone(", "clone3("].contains { call.contains($0) } && !call.contains("CLONE_THREAD")
            }
            #expect(forks.count == 1, "\(forks)")
        }
    }

    @Test(arguments: Shell.allCases)
    func leavesOutWhatIsTooLong(shell: Shell) async throws {
        try await TestThread.run {
            let long = String(repeating: "é", count: 100)
            let lines = [long, long + "x", "short", "ééééé", "öööööö"]
            let any = try home(shell, ["--prompt"], facts: lines).start()
            #expect(any.facts(ofPrompts: 4).sorted() == lines.filter { $0.count <= 100 }.sorted())
            let short = try home(shell, ["--prompt", "--max-length", "5"], facts: lines).start()
            #expect(short.facts(ofPrompts: 2).sorted() == ["short", "ééééé"])
        }
    }

    @Test(arguments: Shell.allCases)
    func aNewFileIsSeenWhenTheOldOneIsThrough(shell: Shell) async throws {
        try await TestThread.run {
            let home = try home(shell, ["--prompt"], facts: ["one", "two"])
            let terminal = try home.start()
            #expect(terminal.nextPrompt() != nil)
            try home.write(facts: ["three"])
            #expect(terminal.run("").map { ["0:one", "0:two"].contains($0) } == true)
            #expect(terminal.run("") == "0:three")
            // Where the file goes away, what was shown last stays.
            unlink(home.factFile)
            #expect(terminal.run("") == "0:three")
        }
    }

    @Test(arguments: Shell.allCases)
    func ofTwoFactsEachPromptShowsTheOther(shell: Shell) async throws {
        try await TestThread.run {
            let facts = try home(shell, ["--prompt"], facts: ["one", "two"]).start().facts(ofPrompts: 12)
            #expect(facts.count == 12)
            #expect(zip(facts, facts.dropFirst()).allSatisfy { $0 != $1 })
        }
    }

    @Test(arguments: Shell.allCases)
    func withoutAFileAsksNorrisctlOnceInAShell(shell: Shell) async throws {
        try await TestThread.run {
            let home = try ShellHome(shell, ["--max-length", "60"])
            let program = """
                echo "$*" >> \(home.folder("log"))
                echo 'a fact of the daemon'
                echo 'broken' >&2
                """
            _ = try home.folder.writeProgram(program, to: "bin/norrisctl")
            let terminal = try home.start()
            #expect(terminal.wait(for: "a fact of the daemon\r\n") != nil)
            #expect(terminal.facts(ofPrompts: 3) == Array(repeating: "a fact of the daemon", count: 3))
            #expect(!terminal.transcriptToTheEnd().contains("broken"))
            #expect(try String(contentsOfFile: home.folder("log"), encoding: .utf8) == "prompt --max-length 60\n")
        }
    }
}
