@testable import NorrisCommands
import NorrisProtocol
import Testing

struct ReloadCommandTests {
    @Test func saysThatItIsDone() {
        let machine = Machine(results: "{}")
        #expect(machine.run("reload") == Outcome(output: "reloaded\n"))
        #expect(machine.methods == ["server.reload"])
        #expect(Machine(results: "{}").run("reload", "--json") == Outcome(output: "{}\n"))
    }

    @Test func saysWhoMay() {
        #expect(Machine(error: .permissionDenied(method: "server.reload")).run("reload") == Outcome(
            errors: """
                norrisctl: server.reload needs an administrator.
                  Use root, the daemon's own user, or a member of one of its admin_groups.

                """,
            status: .notPermitted
        ))
    }
}
