import Foundation
import NorrisProtocol
import NorrisTestSupport
import Testing

@Suite(.onTestThread, .serialized) struct DaemonEndToEndTests {
    private func norrisd(_ arguments: [String], environment: [String: String] = [:]) throws -> ProgramResult {
        try run(Programs.norrisd, arguments, environment: ["HOME": "/nonexistent"].merging(environment) { $1 })
    }

    /// The advice for a daemon that hangs names only this process, and repeats all of its options.
    @Test func doctorNamesTheProcess() throws {
        let daemon = try RunningDaemon(in: TemporaryFolder(), ["--log-level", "debug"])
        daemon.send(SIGSTOP)
        let result = try daemon.ctl("doctor", "--timeout", "200ms")
        daemon.send(SIGCONT)
        #expect(result.status == 69)
        #expect(
            result.output.hasSuffix(
                "Restart it: kill -KILL \(daemon.processID), then start it again with the options it had\n"),
            "\(result.output)")
        #expect(daemon.end() == 0)
    }

    /// libdispatch wakes up every second after its first job. Its threads have the names of its queues, such as
    /// com.apple.root.default-qos; names of threads for serial queues end in `.overcommit`.
    @Test func nothingRunsInSwiftsPool() throws {
        let daemon = try RunningDaemon()
        #expect(try daemon.ctl("fact").status == 0)
        #expect(try daemon.ctl("search", "Chuck").status == 0)
        #expect(try daemon.ctl("reload").status == 0)
        let tasks = "/proc/\(daemon.processID)/task"
        let names = try FileManager.default.contentsOfDirectory(atPath: tasks).compactMap { task in
            // A thread that has ended has no file.
            try? String(contentsOfFile: "\(tasks)/\(task)/comm", encoding: .utf8)
        }
        #expect(!names.isEmpty)
        #expect(!names.contains { $0.hasSuffix("-qos\n") }, "\(names)")
    }

    // MARK: Service manager

    @Test func readyIsSaidOnceItServesAndStoppingAtTheEnd() throws {
        let daemon = try RunningDaemon()
        #expect(try daemon.ctl("status").status == 0)
        #expect(daemon.end() == 0)
        #expect(daemon.notifications.wait(for: "STOPPING=1") != nil)
        #expect(!FileManager.default.fileExists(atPath: daemon.socket), "The socket's file goes with the daemon")
    }

    @Test func theWatchdogIsPinged() throws {
        let daemon = try RunningDaemon(environment: ["WATCHDOG_USEC": "200000"])
        #expect(daemon.notifications.wait(for: "WATCHDOG=1") != nil)
        #expect(daemon.notifications.wait(for: "WATCHDOG=1") != nil)
    }

    @Test func aSocketOfTheServiceManagerIsTakenOver() throws {
        let folder = TemporaryFolder()
        let activator = try ChildProcess(
            "systemd-socket-activate",
            ["--listen", folder("sock"), Programs.norrisd] + RunningDaemon.arguments(in: folder).dropFirst(2))
        // systemd-socket-activate creates the socket some time after its start. Later connections wait for the daemon.
        var result: ProgramResult
        repeat {
            result = try run(Programs.norrisctl, ["--socket", folder("sock"), "--timeout", "20s", "fact"])
        } while result.status == 69 && !activator.hasEnded
        #expect(result.status == 0, "\(result)")
        #expect(result.output.contains("Chuck Norris"))
    }

    // MARK: Configuration

    @Test func configurationIsCheckedAndPrinted() throws {
        let folder = TemporaryFolder()
        let good = try folder.write("facts: {refresh: 12h}\n", to: "good.yaml")
        let checked = try norrisd(["--check-config", "--config", good])
        #expect(checked.status == 0)
        #expect(checked.output == "ok\n")
        let odd = try folder.write("admin_groups: [no-such-group]\n", to: "odd.yaml")
        let warned = try norrisd(["--check-config", "--config", odd])
        #expect(warned.status == 0)
        #expect(warned.output == "ok\n")
        #expect(warned.errors.contains("warning: \(odd):1: admin_groups[0]: there is no group"))
        let printed = try norrisd(["--print-config", "--config", good])
        #expect(printed.status == 0)
        #expect(printed.output.contains("refresh: 12h"))
        let bad = try folder.write("\nfacts: {refesh: 12h}\n", to: "bad.yaml")
        let refused = try norrisd(["--check-config", "--config", bad])
        #expect(refused.status == 78)
        #expect(refused.errors.contains("bad.yaml:\nnorrisd: line 2: facts.refesh"), "\(refused)")
        #expect(refused.errors.contains("facts.refresh"))
        #expect(try norrisd(["--config", folder("none.yaml")]).status == 78)
        #expect(try norrisd(["--no-such-flag"]).status == 64)
        #expect(try norrisd(["--version"]).output == "norrisd \(NorrisVersion.current)\n")
    }

    // MARK: Trouble

    @Test func whatAnotherDaemonHasIsNotTakenOver() throws {
        let daemon = try RunningDaemon()
        let other = TemporaryFolder()
        let file = try other.write("precious", to: "file")
        let long = other(String(repeating: "x", count: 120))
        for (socket, folder, status, reason) in [
            (other("sock"), daemon.folder, 75, "process id \(daemon.processID)"),
            (daemon.socket, other, 75, daemon.socket), (long, other, 73, "107 bytes"), (file, other, 73, file),
            (other("none/sock"), other, 73, "no folder"),
        ] as [(String, TemporaryFolder, Int32, String)] {
            let flags = ["--socket", socket, "--state-dir", folder("state"), "--cache-dir", folder("cache")]
            let second = try norrisd(flags)
            #expect(second.status == status, "\(second)")
            #expect(second.errors.contains(reason), "\(second)")
        }
        let flags = ["--socket", other("sock"), "--state-dir", other("state"), "--cache-dir", daemon.folder("cache")]
        let third = try norrisd(flags)
        #expect(third.status == 75 && third.errors.contains("give another --cache-dir"), "\(third)")
        #expect(try String(contentsOfFile: file, encoding: .utf8) == "precious")
        #expect(try daemon.ctl("fact").status == 0)
    }

    @Test func aDamagedCacheIsReplacedAndFilledAgain() async throws {
        let upstream = try await FakeUpstream.start(jokes: FakeUpstream.jokes(count: 40))
        do {
            let folder = TemporaryFolder()
            let before = try RunningDaemon.fetching(from: upstream, in: folder)
            try before.waitUntilFetched(before.watch())
            let items = try before.source().items
            #expect(before.end() == 0)
            let garbage = String(repeating: "garbage ", count: 1000)
            _ = try folder.write(garbage, to: "cache/cache.db")
            let daemon = try RunningDaemon.fetching(from: upstream, in: folder)
            #expect(try daemon.ctl("fact", "--category", "dev").status == 0)
            #expect(try String(contentsOfFile: folder("cache/cache.db.damaged"), encoding: .utf8) == garbage)
            #expect(try daemon.ctl("--json", "status").output.contains("cache.db.damaged"))
            try daemon.waitUntilFetched(daemon.watch())
            #expect(try daemon.source().items == items)
            #expect(upstream.requests.count == 6)
        }
        await upstream.stop()
    }

    @Test func stateAndCacheMayShareAFolder() throws {
        let folder = TemporaryFolder()
        let daemon = try RunningDaemon(
            in: folder, ["--state-dir", folder("both"), "--cache-dir", folder("both/../both")])
        #expect(try daemon.ctl("fact").status == 0)
    }

    @Test(arguments: ["cache/cache.db", "state/state.db"])
    func aDatabaseOfANewerDaemonIsLeftUntouched(name: String) throws {
        let folder = TemporaryFolder()
        try RunningDaemon(in: folder).end()
        let path = folder(name)
        // user_version is at offset 60 of the file, big-endian (SQLite: "Database File Format").
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        try file.seek(toOffset: 60)
        try file.write(contentsOf: Data([0, 0, 0, 99]))
        try file.close()
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        let result = try norrisd(RunningDaemon.arguments(in: folder))
        #expect(result.status == 78)
        #expect(result.errors.contains("newer"))
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
    }

    @Test func foldersThatCannotBeWrittenDoNotStopTheService() throws {
        let folder = TemporaryFolder()
        let file = try folder.write("", to: "file")
        let daemon = try RunningDaemon(in: folder, ["--state-dir", file + "/state", "--cache-dir", file + "/cache"])
        #expect(try daemon.ctl("fact").status == 0)
        #expect(try daemon.ctl("fact", "--today").status == 0)
        let status = try daemon.ctl("--json", "status").output
        #expect(status.contains(#""state":"degraded""#))
        #expect(status.contains(#""read_only":true"#))
    }

    // MARK: Rights

    @Test(.enabled(if: getuid() == 0, "needs root to become other users")) func onlyAdministratorsReload() throws {
        let folder = TemporaryFolder()
        let daemon = try RunningDaemon(in: folder)
        func asNobody(_ arguments: String...) throws -> ProgramResult { try daemon.ctl(uid: 65534, arguments) }
        try #require(chmod(folder.path, 0o755) == 0)
        try #require(access(Programs.norrisctl, X_OK) == 0)
        let closed = try asNobody("fact")
        #expect(closed.status == 77, "\(closed)")
        try #require(chmod(daemon.socket, 0o666) == 0)
        #expect(try asNobody("fact").status == 0)
        let refused = try asNobody("reload")
        #expect(refused.status == 77)
        #expect(refused.errors.contains("administrator"))
        #expect(try daemon.ctl("reload").status == 0)
    }
}

/// Tests of the messages of the built daemon to the service manager and the journal.
@Suite(.onTestThread, .serialized, .timeLimit(.minutes(20))) struct ServiceManagerEndToEndTests {
    @Test func statusSaysThatAReloadWasRefusedUntilOneIsNot() throws {
        let daemon = try RunningDaemon()
        let path = try daemon.folder.write("facts: {enabled: maybe}\nlog: {levle: info}\n", to: "config.yaml")
        daemon.send(SIGHUP)
        let refused = try #require(daemon.notifications.wait(for: "READY=1"))
        #expect(refused.contains("facts · A new configuration was refused: "))
        #expect(refused.contains("config.yaml:1: facts.enabled"))
        _ = try daemon.folder.write("facts: {enabled: false}\n", to: "config.yaml")
        daemon.send(SIGHUP)
        let applied = try #require(daemon.notifications.wait(for: "READY=1"))
        #expect(!applied.contains("refused"))
        // The log has one line for each fault.
        let lines = try daemon.log(of: "configuration.refused", atLeast: 2)
        #expect(lines.map { $0.contains("facts.enabled") } == [true, false], "\(lines)")

        _ = try daemon.folder.write("facts:\n  refesh: 24h\n", to: "config.yaml")
        let result = try daemon.ctl("--json", "reload")
        #expect(result.status == 78)
        let error = try ResponseError(parsing: result.errors.dropLastNewline)
        #expect(error.code == .invalidParams && error.message.contains("facts.refresh"))
        let details = ["file", "line", "key"].map { error.details[$0] }
        #expect(details == [.string(path), 2, "facts.refesh"])
    }

    @Test func whyItDoesNotStartIsItsStatus() throws {
        let folder = TemporaryFolder()
        let manager = NotifySocket(path: folder("notify"))
        let file = try folder.write("facts:\n  refesh: 24h\n  enabled: maybe\n", to: "config.yaml")
        let result = try run(
            Programs.norrisd, ["--config", file], environment: ["HOME": folder.path, "NOTIFY_SOCKET": manager.path])
        #expect(result.status == 78)
        let faults = result.errors.split(separator: "\n")
        #expect(faults.count == 2)
        let first = try #require(faults.first?.dropFirst("norrisd: ".count))
        #expect(manager.wait(for: "STATUS=\(first)", while: { false }) != nil, "\(manager.lines)")
        #expect(!manager.lines.contains("READY=1"))
    }

    @Test func whatTakesLongAtTheStartAsksForTime() throws {
        let folder = TemporaryFolder()
        func asksForTime() throws -> Bool {
            let daemon = try RunningDaemon(in: folder)
            defer { daemon.end() }
            return daemon.notifications.lines.contains("EXTEND_TIMEOUT_USEC=600000000")
        }
        #expect(try !asksForTime(), "nothing is there")
        #expect(try !asksForTime(), "no work remains")
        // norrisd checks a large file completely at the start.
        let script = "import sqlite3, sys; sqlite3.connect(sys.argv[1]).executescript(sys.argv[2])"
        let sql = "CREATE TABLE large (x); INSERT INTO large VALUES (zeroblob(40000000))"
        try #require(try run("python3", ["-c", script, folder("state/state.db"), sql]).status == 0)
        #expect(try asksForTime())
    }
}
