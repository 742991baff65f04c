@testable import NorrisCommands
import NorrisProtocol
import NorrisSystem
import Testing

struct PagerTests {
    private func show(
        _ pager: String, environment: [String: String] = [:]
    ) throws(Failure) -> (isShown: Bool, output: String) {
        let machine = Machine()
        machine.environment = ["TERM": "xterm", "PAGER": pager].merging(environment) { $1 }
        var isShown = false
        var failure: Failure?
        let outcome = machine.use { system in
            do throws(Failure) {
                isShown = try Pager(system.environment)?.show(Array("Élan\n".utf8), on: system) ?? false
            } catch {
                failure = error
            }
            return Outcome()
        }
        if let failure { throw failure }
        return (isShown, outcome.output)
    }

    @Test(
        arguments: [
            (["PAGER": "more"], "more"), (["PAGER": "more", "NORRISCTL_PAGER": "most -w"], "most -w"),
            ([:], "less -FRX"), (["PAGER": "LESS=R less | cat"], "LESS=R less | cat"),
        ] as [([String: String], String)])
    func takesTheFirstThatIsNamed(environment: [String: String], command: String) throws {
        #expect(Pager(Environment(["TERM": "xterm"].merging(environment) { $1 }))?.command == command)
    }

    @Test(arguments: [["PAGER": ""], ["PAGER": "more", "NORRISCTL_PAGER": " "], ["TERM": "dumb"], ["TERM": ""]])
    func isOff(environment: [String: String]) throws { #expect(try !show("cat", environment: environment).isShown) }

    @Test(arguments: ["cat", "LESS=R cat | cat"]) func getsTheText(pager: String) throws {
        #expect(try show(pager) == (true, "Élan\n"))
        #expect(try show(pager, environment: ["LC_ALL": "C"]).output == "?lan\n")
    }

    @Test(arguments: ["norris-no-such-program", "/dev/null"])
    func onesThatCannotBeRunAreDoneWithout(pager: String) throws { #expect(try !show(pager).isShown) }

    @Test func onesThatFailAreNamed() throws {
        let failure = #expect(throws: Failure.self) { try show("exit 3;") }
        #expect(failure?.message == "The pager \"exit 3;\" ended with status 3.")
        #expect(failure?.hint?.text(socket: nil) == "Use --no-pager, or set NORRISCTL_PAGER.")
    }
}
