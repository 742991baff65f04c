import Glibc
@testable import NorrisCommands
import NorrisProtocol
import NorrisTestSupport
import Testing

struct DoctorChecksTests {
    private static let now = Machine.now

    private static let status = ServerStatus.Result(
        state: .ok, message: "", uptimeSeconds: 1, connections: 1, requestsTotal: 1, sources: [],
        database: ServerStatus.Database(cacheBytes: 1, stateBytes: 1, isReadOnly: false), version: "0.1.0")

    private func machine() -> Machine {
        let info = ServerInfo.Result(
            name: "norrisd", version: "0.1.0", protocolVersion: 1, capabilities: [], pid: 1,
            startedAt: Self.now)
        let machine = Machine(results: info.jsonText, Self.status.jsonText)
        machine.files["/run/norrisd/prompt-facts"] = Array("One.\n".utf8)
        return machine
    }

    private func lines(_ subject: String, _ machine: Machine) -> [String] {
        let outcome = machine.run("doctor")
        #expect(outcome.status == .done)
        #expect(outcome.errors.isEmpty)
        return outcome.output.split(separator: "\n").map(String.init).filter {
            $0.split(separator: "\t")[1].hasPrefix(subject)
        }
    }

    @Test func aClockFromBeforeTheReleaseIsWrong() {
        let machine = machine()
        machine.now = Timestamp("2025-12-31T23:59:59Z")!
        #expect(
            lines("clock", machine) == [
                """
                warn\tclock\tIt says 2025-12-31T23:59:59Z, which is before norrisctl was made. Set it: timedatectl \
                set-ntp true
                """
            ])
        #expect(NorrisVersion.beginningOfYear.description.hasSuffix("-01-01T00:00:00Z"))
    }

    @Test func saysWhatTheCheckOfTheConfigurationWarnsOf() {
        func config(_ status: Int32, _ output: String, file: String = "/tmp/c.yaml") -> [String] {
            let info = ServerInfo.Result(
                name: "norrisd", version: "0.1.0", protocolVersion: 1, capabilities: [], pid: 1,
                startedAt: Self.now, configPath: file)
            let machine = Machine(results: info.jsonText, Self.status.jsonText)
            machine.files["/tmp/c.yaml"] = []
            machine.files["/run/norrisd/prompt-facts"] = Array("One.\n".utf8)
            machine.programs["/opt/libexec/norrisd"] = [.ended(status: status, output: Array(output.utf8))]
            return machine.run("doctor", "--socket", "/tmp/s").output.split(separator: "\n").map(String.init)
                .filter { $0.split(separator: "\t")[1] == "config" }
        }
        let key = "warning: /tmp/c.yaml:1: gifs.api_key_file: every user can read the key file; run: chmod o-r k"
        #expect(
            config(0, "norrisd: \(key)\nnorrisd: warning: b\nok\n") == [
                """
                warn\tconfig\t/tmp/c.yaml:1: gifs.api_key_file: every user can read the key file. \
                Correct it: chmod o-r k
                """, "warn\tconfig\tb.",
            ])
        #expect(config(0, "ok\n") == ["ok\tconfig\t/tmp/c.yaml has no fault."])
        #expect(
            config(78, "norrisd: c.yaml:\nnorrisd: line 1: x\n") == [
                "warn\tconfig\t/tmp/c.yaml has a fault. See what is wrong: norrisctl --socket /tmp/s config check"
            ])
        #expect(config(0, "ok\n", file: "/tmp/none") == [])
    }

    // MARK: Prompt file

    private static let path = "/run/norrisd/prompt-facts"

    private func prompt(_ prepare: (_ path: String) -> CInt) -> [String] {
        let machine = machine()
        machine.files = ["/run/norrisd/x": []]
        machine.place("/run/norrisd/x", [])
        #expect(prepare(machine(Self.path)) == 0)
        return lines("prompt", machine)
    }

    @Test func saysWhatIsWrongWithTheFileForPrompts() {
        let restart = "sudo systemctl restart norrisd.socket norrisd"
        #expect(
            prompt { mkdir($0, 0o755) } == [
                "warn\tprompt\t\(Self.path) is not a plain file. Move it away, then: \(restart)"
            ])
        let empty = machine()
        empty.files[Self.path] = []
        #expect(lines("prompt", empty) == ["warn\tprompt\t\(Self.path) is empty. Rewrite it: \(restart)"])

        // The prompt file of the user remains while the system daemon answers.
        let left = machine()
        left.environment = ["XDG_RUNTIME_DIR": "/run/user/7", "NORRISD_SOCKET": "/run/norrisd.sock"]
        left.files["/run/user/7/norrisd/prompt-facts"] = []
        #expect(
            lines("prompt", left) == [
                "warn\tprompt\t/run/user/7/norrisd/prompt-facts is empty. "
                    + "No daemon updates it. Delete it: rm /run/user/7/norrisd/prompt-facts"
            ])

        for (age, line) in [
            (3_600, "ok\tprompt\t\(Self.path) was written 1 hour ago."),
            (3_601, "warn\tprompt\t\(Self.path) was last written 1 hour ago. Rewrite it: \(restart)"),
            (-3_601, "ok\tprompt\t\(Self.path) was written just now."),
        ] as [(Int64, String)] {
            let machine = machine()
            machine.files = [:]
            machine.place(Self.path, Array("One.".utf8), modified: Timestamp(seconds: Self.now.seconds - age))
            #expect(lines("prompt", machine) == [line])
        }
    }
}
