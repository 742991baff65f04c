@testable import NorrisCommands
import NorrisProtocol
import NorrisTestSupport
import Testing

/// What `norrisctl doctor` makes of a status, of the clock and of the file for prompts.
struct DoctorChecksTests {
    private static let now = Machine.now

    private func source(
        _ name: String, kind: String = "feed", isEnabled: Bool = true, failure: SourceFailure.Kind? = nil,
        since: Int64 = 3_600, fetched: Int64? = 60
    ) -> SourceStatus {
        let error = failure.map {
            SourceFailure(kind: $0, message: "\(name) says no", since: Timestamp(seconds: Self.now.seconds - since))
        }
        let freshness = Freshness(
            origin: .cache, state: .fresh, fetchedAt: fetched.map { Timestamp(seconds: Self.now.seconds - $0) },
            error: error
        )
        return SourceStatus(name: name, kind: kind, isEnabled: isEnabled, items: 3, freshness: freshness)
    }

    /// A daemon with these sources and so much space.
    private func machine(_ sources: [SourceStatus] = [], freeBytes: Int? = nil) -> Machine {
        let info = ServerInfo.Result(
            name: "norrisd", version: NorrisVersion.current, protocolVersion: 1, capabilities: [], pid: 1,
            startedAt: Self.now
        )
        let status = ServerStatus.Result(
            state: .ok, message: "", uptimeSeconds: 1, connections: 1, requestsTotal: 1, sources: sources,
            database: ServerStatus.Database(cacheBytes: 1, stateBytes: 1, isReadOnly: false, freeBytes: freeBytes),
            version: NorrisVersion.current
        )
        return Machine(results: info.jsonText, status.jsonText).withPromptFacts()
    }

    @Test func looksWellOnAScreen() throws {
        let sources = [
            source("facts", kind: "chucknorris", failure: .http), source("gifs", kind: "giphy", failure: .credentials),
            source("planet"), source("town", kind: "mastodon", isEnabled: false),
        ]
        try GoldenScreen(name: "doctor", arguments: ["doctor"]) { machine(sources, freeBytes: 40 << 20) }.check()
    }

    /// The lines about a subject.
    private func lines(_ subject: String, _ machine: Machine, status: ExitStatus = .done) -> [String] {
        let outcome = machine.run("doctor")
        #expect(outcome.status == status)
        #expect(outcome.errors.isEmpty)
        return outcome.output.split(separator: "\n").map(String.init).filter {
            $0.split(separator: "\t")[1].hasPrefix(subject)
        }
    }

    // MARK: Network

    private static let look = """
        Look at the way out: resolvectl query api.chucknorris.io; curl -I https://api.chucknorris.io; or set \
        http.proxy in the configuration, then: norrisctl reload
        """

    @Test func oneLineSaysThatNothingCanBeFetched() {
        let sources = [
            source("facts", failure: .offline), source("town", failure: .timeout, since: 120),
            source("off", isEnabled: false), source("gifs", kind: "giphy", failure: .credentials),
        ]
        #expect(lines("network", machine(sources)) == ["""
            warn\tnetwork\tNo source can be fetched: town is timing out for 2 minutes (town says no). \
            \(Self.look)
            """])
        // Those that are not fetched stand for themselves.
        #expect(lines("source", machine(sources)).map { $0.prefix { $0 != "." } } == [
            "ok\tsource off\tIt is turned off; 3 items are stored",
            "warn\tsource gifs\tIt is without a valid key for 1 hour (gifs says no)",
        ])
    }

    @Test(arguments: [SourceFailure.Kind.offline, .timeout])
    func aSourceThatFailsAloneIsNamed(kind: SourceFailure.Kind) {
        for other in [nil, SourceFailure.Kind.http] {
            let machine = machine([source("facts", failure: kind), source("town", failure: other)])
            let lines = lines("", machine)
            #expect(!lines.contains { $0.contains("\tnetwork\t") })
            #expect(lines.contains { $0.hasPrefix("warn\tsource facts\t") && $0.contains("refresh facts --wait") })
        }
    }

    @Test func withoutSourcesThereIsNothingToSayOfTheNetwork() {
        #expect(lines("network", machine()).isEmpty)
        #expect(lines("network", machine([source("gifs", kind: "giphy", failure: .credentials)])).isEmpty)
    }

    // MARK: Disk

    @Test(arguments: [
        (64 << 20, "ok\tdisk\t64 MiB are free for the databases.", ExitStatus.done),
        (
            (64 << 20) - 1,
            "warn\tdisk\t64 MiB are free for the databases. Free some more; what is full: df -h /var/lib /var/cache",
            .done
        ),
        (
            0, "fail\tdisk\tNo space is left for the databases. Free some; what is full: df -h /var/lib /var/cache",
            .inputOutput
        ),
    ])
    func saysHowMuchSpaceIsLeft(bytes: Int, line: String, status: ExitStatus) {
        #expect(lines("disk", machine(freeBytes: bytes), status: status) == [line])
    }

    @Test(arguments: [("/run/user/7/norrisd.sock", "df -h ~/.local/state ~/.cache"), ("/tmp/s", "df -h")])
    func looksAtTheDisksOfThatDaemon(socket: String, command: String) {
        let output = machine(freeBytes: 1).run("doctor", "--socket", socket).output
        #expect(output.contains("what is full: \(command)\n"))
    }

    // MARK: Clock

    @Test func aClockFromBeforeTheReleaseIsWrong() {
        let machine = machine()
        machine.now = Timestamp("2025-12-31T23:59:59Z")!
        #expect(lines("clock", machine) == ["""
            warn\tclock\tIt says 2025-12-31T23:59:59Z, which is before norrisctl was made. Set it: timedatectl \
            set-ntp true
            """])
        #expect(NorrisVersion.beginningOfYear.description.hasSuffix("-01-01T00:00:00Z"))
    }

    @Test func aFetchInTheFutureMeansThatTheClockWasSetBack() {
        #expect(lines("clock", machine([source("facts", fetched: -7_200), source("town")])) == ["""
            warn\tclock\tIt was set back: by it a source was last fetched in 2 hours. Set it: timedatectl set-ntp true
            """])
        // The daemon may have fetched while it was waited for.
        #expect(lines("clock", machine([source("facts", fetched: -300)])) == ["ok\tclock\tIt says \(Self.now)."])
    }

    // MARK: Prompt

    private static let path = "/run/norrisd/prompt-facts"

    /// - Parameter status: nil for a file that is not there, nil inside for one that cannot be looked at.
    private func prompt(_ status: FileStatus??, environment: [String: String] = [:]) -> [String] {
        let machine = machine()
        machine.files = [:]
        machine.fileStatuses[Self.path] = status
        machine.environment = environment
        return lines("prompt", machine)
    }

    @Test func saysWhatIsWrongWithTheFileForPrompts() {
        let restart = "systemctl restart norrisd.socket norrisd"
        #expect(prompt(FileStatus(isPlainFile: false, bytes: 40, modifiedAt: Self.now)) == [
            "warn\tprompt\t\(Self.path) is not a plain file. Move it away, then: \(restart)"
        ])
        let denied = "warn\tprompt\t\(Self.path) cannot be read: Permission denied. See who may: ls -ld \(Self.path)"
        #expect(prompt(.some(nil)) == [denied])
        #expect(prompt(FileStatus(isPlainFile: true, bytes: 4, modifiedAt: Self.now)) == [denied])

        let empty = machine()
        empty.files[Self.path] = []
        #expect(lines("prompt", empty) == ["warn\tprompt\t\(Self.path) is empty. Have it written: \(restart)"])

        // The user's own file, while the system's daemon answers.
        let left = machine()
        left.environment = ["XDG_RUNTIME_DIR": "/run/user/7", "NORRISD_SOCKET": "/run/norrisd.sock"]
        left.files["/run/user/7/norrisd/prompt-facts"] = []
        #expect(lines("prompt", left) == [
            "warn\tprompt\t/run/user/7/norrisd/prompt-facts is empty. "
                + "Nobody keeps it any more: rm /run/user/7/norrisd/prompt-facts"
        ])

        for (age, line) in [
            (3_600, "ok\tprompt\t\(Self.path) was written 1 hour ago."),
            (3_601, "warn\tprompt\t\(Self.path) was last written 1 hour ago. Have it written: \(restart)"),
            (-3_601, "ok\tprompt\t\(Self.path) was written just now."),
        ] as [(Int64, String)] {
            let machine = machine()
            let written = Timestamp(seconds: Self.now.seconds - age)
            machine.fileStatuses[Self.path] = FileStatus(isPlainFile: true, bytes: 4, modifiedAt: written)
            #expect(lines("prompt", machine) == [line])
        }
    }

    @Test func looksForTheFileInBothPlaces() {
        let machine = machine()
        machine.files = ["/run/user/7/norrisd/prompt-facts": [0x61], Self.path: []]
        machine.environment = ["XDG_RUNTIME_DIR": "/run/user/7"]
        #expect(lines("prompt", machine) == ["ok\tprompt\t/run/user/7/norrisd/prompt-facts was written just now."])
    }

    @Test func saysWhyThereIsNoFile() {
        #expect(prompt(nil, environment: ["XDG_RUNTIME_DIR": "/run/user/7"]) == ["""
            warn\tprompt\tShells have no facts to show: there is no /run/user/7/norrisd/prompt-facts or \(Self.path). \
            Have it written: systemctl --user restart norrisd, or where you run it yourself: pkill -x norrisd; \
            sleep 2; norrisd
            """])
        let own = machine()
        own.files = [:]
        own.environment = ["NORRISD_SOCKET": "/tmp/s"]
        #expect(lines("prompt", own) == ["""
            warn\tprompt\tShells have no facts to show: there is no \(Self.path). Tell the daemon and your shell: \
            export XDG_RUNTIME_DIR=/run/user/$(id -u), then: pkill -x norrisd; sleep 2; norrisd --socket /tmp/s
            """])
    }
}
