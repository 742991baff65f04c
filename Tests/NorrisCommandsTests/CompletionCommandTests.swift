@testable import NorrisCommands
import NorrisTestSupport
import Testing

struct CompletionCommandTests {
    @Test(arguments: ["bash", "zsh", "fish"])
    func printsAScriptThatTheShellCanRead(shell: String) async throws {
        let machine = Machine().onTerminal()
        let outcome = machine.run("completion", shell)
        #expect(outcome.status == .done)
        #expect(outcome.errors.isEmpty)
        #expect(machine.requests.isEmpty)
        #expect(outcome.output.utf8.allSatisfy { $0 == 0x0A || 0x20...0x7E ~= $0 })
        try await TestThread.run {
            let folder = TemporaryFolder()
            let script = try folder.write(outcome.output, to: "script")
            let check = try run(shell, ["-n", script], environment: ["HOME": folder.path])
            #expect(check.status == 0, "\(check)")
            #expect(check.output + check.errors == "")
        }
    }

    @Test(arguments: ["csh", "Bash", "", "powershell"])
    func namesTheShellsItKnows(shell: String) {
        #expect(Machine().run("completion", shell) == Outcome(
            errors: """
                norrisctl: The value '\(shell)' is invalid for '<shell>': it takes bash, zsh or fish.
                  norrisctl completion --help shows what it takes.

                """,
            status: .usage
        ))
    }
}
