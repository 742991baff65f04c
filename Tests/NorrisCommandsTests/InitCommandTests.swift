@testable import NorrisCommands
import NorrisTestSupport
import Testing

struct InitCommandTests {
    private static let shells = ["bash", "zsh", "fish"]
    private static let flags = [
        [], ["--greeting"], ["--prompt"], ["--greeting", "--prompt"], ["--prompt", "--max-length", "10000"],
    ]

    private func script(_ arguments: [String]) -> String {
        let machine = Machine()
        let outcome = machine.run(["init"] + arguments)
        #expect(outcome.status == .done)
        #expect(outcome.errors.isEmpty)
        #expect(machine.requests.isEmpty)
        return outcome.output
    }

    @Test(arguments: shells) func printsPlainLinesWhateverTheTerminal(shell: String) {
        let text = script([shell])
        #expect(text.hasPrefix("# "))
        #expect(text.hasSuffix("\n"))
        #expect(text.utf8.allSatisfy { $0 == UInt8(ascii: "\n") || 0x20...0x7E ~= $0 })
        #expect(Machine().onTerminal(columns: 20).run("init", shell, "--color", "always").output == text)
    }

    @Test(arguments: shells, flags) func aPersonCanReadIt(shell: String, flags: [String]) {
        let lines = script([shell] + flags).split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        #expect(lines.count <= 40 && lines.allSatisfy { $0.count <= 120 }, "\(lines.count)")
    }

    @Test(arguments: shells) func dependsOnNothingButTheArguments(shell: String) {
        let machine = Machine()
        machine.environment = ["XDG_RUNTIME_DIR": "/run/user/1234", "NORRISD_SOCKET": "/run/other.sock"]
        #expect(machine.run("init", shell).output == script([shell]))
    }

    @Test(arguments: shells) func withoutAFlagGreetsAndPrompts(shell: String) {
        let text = script([shell])
        #expect(text.contains("-t 1") && text.contains("__norris_prompt"))
        #expect(script([shell, "--prompt", "--greeting"]) == text)
    }

    @Test(arguments: shells) func greetsOnlyOrPromptsOnly(shell: String) {
        #expect(!script([shell, "--greeting"]).contains("__norris_prompt"))
        #expect(script([shell, "--greeting"]).contains("-t 1"))
        #expect(!script([shell, "--prompt"]).contains("-t 1"))
        #expect(script([shell, "--prompt"]).contains("__norris_prompt"))
    }

    @Test(arguments: shells) func theLengthGoesToTheFallbackToo(shell: String) {
        #expect(script([shell, "--max-length", "47"]).contains("norrisctl prompt --max-length 47 "))
        #expect(script([shell]).contains("norrisctl prompt <"))
    }

    @Test func anUnknownShellIsAnsweredWithTheThree() {
        #expect(
            Machine().run("init", "tcsh")
                == .failed(
                    .usage, "The value 'tcsh' is invalid for '<shell>': it takes bash, zsh or fish.",
                    "See 'norrisctl init --help'."))
    }

    @Test(arguments: shells, flags) func isWellFormed(shell: String, flags: [String]) async throws {
        try await TestThread.run {
            let folder = TemporaryFolder()
            let path = try folder.write(script([shell] + flags), to: "script")
            let outcome = try run(shell, ["-n", path], environment: ["HOME": folder.path])
            #expect(outcome.status == 0 && outcome.output.isEmpty && outcome.errors.isEmpty, "\(outcome)")
        }
    }

    @Test func otherShellsReadThatOfBashAndDoNothing() async throws {
        try await TestThread.run {
            let folder = TemporaryFolder()
            let path = try folder.write(script(["bash"]) + "\necho end\n", to: "script")
            let outcome = try run("dash", [path], environment: ["HOME": folder.path])
            #expect(outcome.output == "end\n" && outcome.errors.isEmpty, "\(outcome)")
        }
    }
}
