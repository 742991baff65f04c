@testable import NorrisCommands
import NorrisProtocol
import Testing

struct PagerTests {
    private func show(
        _ outcome: SubprocessOutcome, environment: [String: String] = [:]
    ) throws(Failure) -> (isShown: Bool, runs: [SubprocessRequest]) {
        let machine = Machine()
        machine.environment = ["TERM": "xterm"].merging(environment) { $1 }
        machine.programs["/bin/sh"] = [outcome]
        var isShown = false
        var failure: Failure?
        machine.use { system in
            do throws(Failure) {
                isShown = try Pager(system.environment)?.show(Array("Élan\n".utf8), on: system) ?? false
            } catch {
                failure = error
            }
            return Outcome()
        }
        if let failure { throw failure }
        return (isShown, machine.runs)
    }

    @Test(
        arguments: [
            (["PAGER": "more"], "more"), (["PAGER": "more", "NORRISCTL_PAGER": "most -w"], "most -w"),
            ([:], "less -FRX"), (["PAGER": "LESS=R less | cat"], "LESS=R less | cat"),
        ] as [([String: String], String)])
    func takesTheFirstThatIsNamed(environment: [String: String], command: String) throws {
        let runs = try show(.ended(status: 0), environment: environment).runs
        #expect(runs.map(\.program) == ["/bin/sh"])
        // A plain command replaces the shell.
        let words = command.hasPrefix("LESS") ? command : "exec " + command
        #expect(runs[0].arguments.last?.hasSuffix("; \(words)") == true)
        #expect(runs[0].input == .bytes(Array("Élan\n".utf8)))
    }

    @Test(arguments: [["PAGER": ""], ["PAGER": "more", "NORRISCTL_PAGER": " "], ["TERM": "dumb"], ["TERM": ""]])
    func isOff(environment: [String: String]) throws {
        #expect(try show(.ended(status: 0), environment: environment).runs.isEmpty)
    }

    @Test func getsWhatTheTerminalCanShow() throws {
        #expect(try show(.ended(status: 0), environment: ["LC_ALL": "C"]).runs[0].input == .bytes(Array("?lan\n".utf8)))
    }

    @Test(arguments: [SubprocessOutcome.ended(status: 126), .ended(status: 127), .missing, .notStarted(errno: 11)])
    func onesThatCannotBeRunAreDoneWithout(outcome: SubprocessOutcome) throws { #expect(try !show(outcome).isShown) }

    @Test func onesThatFailAreNamed() throws {
        let failure = #expect(throws: Failure.self) { try show(.ended(status: 3), environment: ["PAGER": "false"]) }
        #expect(failure?.message == "The pager \"false\" ended with status 3.")
        #expect(failure?.hint?.text(socket: nil) == "Use --no-pager, or set NORRISCTL_PAGER.")
    }
}
