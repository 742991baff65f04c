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

    // MARK: path

    @Test func saysWhereTheDaemonReads() {
        #expect(machine().run("config", "path") == Outcome(output: path + "\n"))
        #expect(machine().run("config", "path", "--json") == Outcome(output: #"{"path":"\#(path)"}"# + "\n"))
    }

    @Test(arguments: [
        (["HOME": "/h"], [String](), "/h/.config/norrisd/config.yaml"),
        (["HOME": "/h", "XDG_CONFIG_HOME": "/x"], ["/etc/norrisd/config.yaml"], "/etc/norrisd/config.yaml"),
        (
            ["HOME": "/h", "XDG_CONFIG_HOME": "/x"], ["/etc/norrisd/config.yaml", "/x/norrisd/config.yaml"],
            "/x/norrisd/config.yaml"
        ), (["HOME": "/h", "NORRISD_CONFIG": "/n.yaml"], ["/etc/norrisd/config.yaml"], "/n.yaml"),
        ([:], ["/etc/norrisd/config.yaml"], "/etc/norrisd/config.yaml"),
    ]) func findsTheDefaultWhereNoDaemonRuns(environment: [String: String], files: [String], expected: String) {
        let machine = Machine(failure: .noSocket(paths: ["/s"]))
        machine.environment = environment
        files.forEach { machine.files[$0] = Array("facts: {}\n".utf8) }
        #expect(machine.run("config", "path") == Outcome(output: expected + "\n"))
    }

    @Test func aDaemonThatDoesNotAnswerIsMentioned() {
        let hung = Machine(failure: .timedOut(path: "/s"))
        hung.environment = ["NORRISD_CONFIG": "/n.yaml"]
        #expect(
            hung.run("config", "path")
                == Outcome(
                    output: "/n.yaml\n",
                    errors: "norrisctl: norrisd at /s did not answer within 5s. Using the default file.\n"))
        let stopped = Machine(failure: .refused(path: "/s"))
        stopped.environment = hung.environment
        #expect(stopped.run("config", "path") == Outcome(output: "/n.yaml\n"))
        let elsewhere = Machine(failure: .refused(path: "/s"))
        elsewhere.environment = ["NORRISD_CONFIG": "/n.yaml", "NORRISD_SOCKET": "/s"]
        let named = elsewhere.run("config", "path")
        #expect(named.output == "/n.yaml\n" && named.errors.hasSuffix(" Using the default file.\n"))
    }

    @Test(arguments: [ClientError.noSocket(paths: ["/s"]), .refused(path: "/s"), .timedOut(path: "/s")])
    func takesNoOtherFileForASocketThatWasGiven(failure: ClientError) {
        for command in ["path", "check"] {
            let machine = Machine(failure: failure)
            machine.environment = ["NORRISD_CONFIG": "/n.yaml"]
            let outcome = machine.run("config", command, "--socket", "/s")
            #expect(outcome.status == .unavailable && outcome.output == "" && outcome.errors.contains("/s"))
            #expect(machine.runs.isEmpty)
        }
    }

    @Test func saysWhereNoFileCanBe() {
        let outcome = Machine(failure: .noSocket(paths: ["/s"])).run("config", "path")
        #expect(outcome.status == .configuration)
        #expect(outcome.errors.contains("no home directory"))
    }

    // MARK: check

    @Test(arguments: [(Int32(0), ExitStatus.done), (78, .configuration), (3, .internalError)])
    func passesOnWhatTheCheckFinds(status: Int32, expected: ExitStatus) {
        let machine = machine(checks: status)
        #expect(machine.run("config", "check") == Outcome(output: status == 0 ? "ok\n" : "", status: expected))
        #expect(machine.runs.map(\.arguments) == [["--check-config", "--config", path]])
        #expect(
            self.machine(checks: status).run("config", "check", "--json")
                == Outcome(output: #"{"path":"\#(path)","valid":\#(status == 0)}"# + "\n", status: expected))
    }

    @Test func aMissingFileIsNoFault() {
        let machine = machine()
        machine.files = [:]
        #expect(machine.run("config", "check").status == .done)
        #expect(machine.runs.isEmpty)
    }

    @Test func saysWhereThereIsNoDaemonToCheckWith() {
        #expect(
            machine().run("config", "check")
                == .failed(.unavailable, "norrisd is not installed here, so \(path) cannot be checked."))
    }
}

/// The files that commands write.
struct ConfigFileTests {
    private let folder = TemporaryFolder()

    @Test func whatIsReplacedKeepsItsOwner() throws {
        try #require(geteuid() == 0)
        let file = try folder.write("old", to: "f")
        #expect(chown(file, 1234, 5678) == 0 && chmod(file, 0o640) == 0)
        try writeFile(file, [1])
        var status = stat()
        #expect(stat(file, &status) == 0)
        #expect((status.st_uid, status.st_gid, status.st_mode & 0o7777) == (1234, 5678, 0o640))
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
        // A command longer than a line also wraps between words.
        #expect(
            text(hint, columns: 20) == """
                norrisctl: It does
                not work.
                  Start it with:
                  systemctl start
                  norrisd, or just:
                  norrisd

                """)
    }

    @Test func errorsForProgramsStayOneLine() {
        let error = ResponseError.notFound("There is no such thing, and there never was one as far as anybody knows.")
        let machine = Machine(error: error)
        (machine.isErrorTerminal, machine.errorColumns) = (true, 30)
        #expect(machine.run("fact", "--json").errors.split(separator: "\n").count == 1)
    }

    @Test func whatIsSaidAtOnceIsWrappedToo() {
        let machine = Machine()
        (machine.isErrorTerminal, machine.isInputTerminal, machine.errorColumns) = (true, true, 30)
        let lines = machine.run("favorite", "import").errors.split(separator: "\n")
        #expect(lines.count > 2 && lines.allSatisfy { $0.count <= 30 }, "\(lines)")
    }
}
