import Foundation
import NorrisTestSupport
import Testing

/// What one shell hands to the next, and what its user has made of traps, locales and variables.
struct ShellInheritanceTests {
    private func home(_ shell: Shell, _ flags: [String] = []) throws -> ShellHome {
        let home = try ShellHome(shell, flags)
        try home.write(facts: (10..<74).map { "fact \($0) of the file" })
        return home
    }

    @Test(arguments: [true, false])
    func aLocaleThatIsMissingIsComplainedAboutByBashAlone(hasFile: Bool) async throws {
        try await TestThread.run {
            func complaints(sources: Int) throws -> Int {
                let home = try hasFile ? home(.bash) : ShellHome(.bash)
                try home.configure(sources: sources)
                let terminal = try home.start(environment: ["LC_ALL": "xx_YY.UTF-8"])
                #expect(terminal.facts(ofPrompts: 3).count == 3)
                return terminal.transcriptToTheEnd().components(separatedBy: "cannot change locale").count
            }
            let without = try complaints(sources: 0)
            let with = try complaints(sources: 1)
            #expect(with == without)
        }
    }

    private static let traps: [(Shell, String)] = [
        (.bash, "trap 'echo \"<trap $?>\"' ERR"),
        (.bash, "set -E; trap 'echo \"<trap $?>\"' ERR"),
        (.zsh, "TRAPZERR() { echo \"<trap $?>\" }"),
        (.zsh, "trap 'echo \"<trap $?>\"' ZERR"),
    ]

    @Test(arguments: traps)
    func aFailureRunsItsTrapOnce(shell: Shell, trap: String) async throws {
        try await TestThread.run {
            let home = try home(shell, ["--prompt"])
            try home.configure(after: trap)
            let terminal = try home.start()
            #expect(terminal.nextPrompt() != nil)
            #expect(terminal.run("false")?.hasPrefix("1:fact") == true)
            #expect(terminal.run("")?.contains(":fact") == true)
            #expect(terminal.transcriptToTheEnd().components(separatedBy: "<trap 1>").count == 2)
        }
    }

    @Test(arguments: [(Shell.bash, "set -e"), (.zsh, "setopt err_exit err_return")])
    func aStatusBeforeThePromptEndsNoShell(shell: Shell, setting: String) async throws {
        try await TestThread.run {
            let home = try home(shell, ["--prompt"])
            try home.configure(after: setting)
            let terminal = try home.start()
            #expect(terminal.nextPrompt() != nil)
            #expect(terminal.run("! true")?.hasPrefix("1:fact") == true)
            #expect(terminal.run("true")?.hasPrefix("0:fact") == true)
        }
    }

    @Test func aShellThatInheritsThePromptCommandIsLeftAlone() async throws {
        try await TestThread.run {
            let home = try home(.bash, ["--prompt"])
            try home.configure(before: "export PS1 PROMPT_COMMAND='echo \"<a $?>\"'")
            let terminal = try home.start()
            #expect(terminal.nextPrompt()?.hasPrefix("0:fact") == true)
            #expect(terminal.run("/usr/bin/bash --noprofile --norc") == "0:")
            terminal.type("false")
            #expect(terminal.wait(for: "<a 1>") != nil)
            #expect(terminal.nextPrompt() == "1:")
            #expect(terminal.run("exit")?.contains(":fact") == true)
            #expect(terminal.endsWithoutComplaint())
        }
    }

    /// The process id stays the same.
    @Test(arguments: [(Shell.bash, "set -a", "--noprofile --rcfile ~/bashrc"), (.zsh, "setopt all_export", "-d")])
    func aShellInThePlaceOfAnotherStartsAnew(shell: Shell, setting: String, flags: String) async throws {
        try await TestThread.run {
            let home = try home(shell)
            try home.configure(before: setting)
            let terminal = try home.start()
            #expect(terminal.nextPrompt()?.hasPrefix("0:fact") == true)
            terminal.type("exec \(shell.path) \(flags)")
            #expect(terminal.wait(for: "of the file\r\n") != nil)
            #expect(terminal.nextPrompt()?.hasPrefix("0:fact") == true)
            #expect(terminal.endsWithoutComplaint())
        }
    }

    @Test(arguments: Shell.allCases)
    func whatAnotherShellHasExportedIsNotBelieved(shell: Shell) async throws {
        try await TestThread.run {
            let names = ["__norris_shell", "__norris_asked", "__norris_greeted"]
            let environment = Dictionary(uniqueKeysWithValues: names.map { ($0, "1") })
            let terminal = try home(shell).start(environment: environment)
            #expect(terminal.wait(for: "of the file\r\n") != nil)
            #expect(terminal.nextPrompt()?.hasPrefix("0:fact") == true)
        }
    }

    @Test func aPromptCommandThatIsReadonlyStays() async throws {
        try await TestThread.run {
            let home = try home(.bash)
            try home.configure(before: "readonly PROMPT_COMMAND='echo \"<a $?>\"'")
            let terminal = try home.start()
            #expect(terminal.wait(for: "of the file\r\n") != nil)
            #expect(terminal.wait(for: "<a 0>") != nil)
            #expect(terminal.nextPrompt()?.hasPrefix("0:fact") == true)
            #expect(!terminal.transcriptToTheEnd().contains("readonly"))
        }
    }

    @Test(arguments: Shell.allCases)
    func withoutAFactTheVariableIsEmptyAndNotMissing(shell: Shell) async throws {
        try await TestThread.run {
            let terminal = try ShellHome(shell).start()
            #expect(terminal.nextPrompt() == "0:")
            terminal.type("echo '<'\"x\"$NORRIS_FACT'>'")
            #expect(terminal.wait(for: "<x>") != nil)
        }
    }
}
