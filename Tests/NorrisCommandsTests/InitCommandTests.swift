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

    @Test(arguments: shells) func dependsOnNothingButTheArguments(shell: String) {
        let text = script([shell])
        #expect(text.hasPrefix("# "))
        #expect(text.hasSuffix("\n"))
        #expect(text.utf8.allSatisfy { $0 == UInt8(ascii: "\n") || 0x20...0x7E ~= $0 })
        let machine = Machine().onTerminal(columns: 20)
        machine.environment = ["XDG_RUNTIME_DIR": "/run/user/1234", "NORRISD_SOCKET": "/run/other.sock"]
        #expect(machine.run("init", shell, "--color", "always").output == text)
    }

    @Test(arguments: shells, flags) func aPersonCanReadIt(shell: String, flags: [String]) {
        let lines = script([shell] + flags).split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        #expect(lines.count <= 40 && lines.allSatisfy { $0.count <= 120 }, "\(lines.count)")
    }

    @Test(arguments: shells) func greetsOnlyOrPromptsOnly(shell: String) {
        #expect(!script([shell, "--greeting"]).contains("__norris_prompt"))
        #expect(script([shell, "--greeting"]).contains("-t 1"))
        #expect(!script([shell, "--prompt"]).contains("-t 1"))
        #expect(script([shell, "--prompt"]).contains("__norris_prompt"))
        #expect(script([shell, "--prompt", "--greeting"]) == script([shell]))
        #expect(script([shell, "--max-length", "47"]).contains("norrisctl prompt --max-length 47 "))
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
