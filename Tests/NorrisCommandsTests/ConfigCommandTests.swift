import Glibc
import NorrisClient
@testable import NorrisCommands
import NorrisProtocol
import NorrisSystem
import NorrisTestSupport
import Testing

struct ConfigCommandTests {
    private let path = "/etc/norrisd/config.yaml"

    /// A machine whose daemon reads `path`.
    private func machine(checks: Int32...) -> Machine {
        let machine = Machine(
            results: """
                {"name":"norrisd","version":"0.1.0","protocol":1,"capabilities":[],"pid":7,\
                "started_at":"2026-11-21T11:00:00Z","config_path":"\(path)"}
                """)
        machine.environment = ["HOME": "/home/me"]
        machine.files[path] = Array("facts: {}\n".utf8)
        machine.programs["/opt/libexec/norrisd"] = checks.map { .ended(status: $0) }
        return machine
    }

    @Test(arguments: [(Int32(0), ExitStatus.done), (78, .configuration), (3, .internalError)])
    func passesOnWhatTheCheckFinds(status: Int32, expected: ExitStatus) {
        let machine = machine(checks: status)
        #expect(machine.run("config", "check") == Outcome(output: status == 0 ? "ok\n" : "", status: expected))
        #expect(machine.runs.map(\.arguments) == [["--check-config", "--config", path]])
        #expect(
            self.machine(checks: status).run("config", "check", "--json")
                == Outcome(output: #"{"path":"\#(path)","valid":\#(status == 0)}"# + "\n", status: expected))
    }
}

struct ErrorTextTests {
    private func text(_ hint: Advice, columns: Int?) -> String {
        Report(Failure(.usage, "It does not work.", hint: hint), json: false).errorText(columns: columns)
    }

    @Test func wrapsAtWordsButNotInsideACommand() {
        let hint: Advice = "Start it with: \(command: "systemctl start norrisd"), or just: \(command: "norrisd")"
        #expect(
            text(hint, columns: nil) == """
                norrisctl: It does not work.
                  Start it with: systemctl start norrisd, or just: norrisd

                """)
        #expect(
            text(hint, columns: 32) == """
                norrisctl: It does not work.
                  Start it with:
                  systemctl start norrisd, or
                  just: norrisd

                """)
    }

    @Test func aSentenceThatEndsInACommandKeepsItTogether() {
        let lines = ["norrisctl: It does not work.", "  Add the last item:", "  norrisctl favorite add", ""]
        #expect(text("Add the last item: norrisctl favorite add", columns: 32) == lines.joined(separator: "\n"))
        #expect(
            text("See: norrisctl doctor, or the manual.", columns: 20).hasSuffix(
                "  See: norrisctl\n  doctor, or the\n  manual.\n"))
    }

    @Test func whatIsSaidAtOnceIsWrappedToo() {
        let machine = Machine()
        (machine.isErrorTerminal, machine.isInputTerminal, machine.errorColumns) = (true, true, 30)
        let lines = machine.run("favorite", "import").errors.split(separator: "\n")
        #expect(lines.count > 2 && lines.allSatisfy { $0.count <= 30 }, "\(lines)")
    }
}
