import Foundation
import NorrisProtocol
import NorrisTestSupport
import Testing

/// How the built daemon starts, stops, reloads and meets trouble.
@Suite(.serialized)
struct DaemonEndToEndTests {
    private func norrisd(_ arguments: [String], environment: [String: String] = [:]) throws -> ProgramResult {
        try run(Programs.norrisd, arguments, environment: ["HOME": "/nonexistent"].merging(environment) { $1 })
    }

    /// Once it has run a job, libdispatch wakes up every second. Threads of the pool are named after its queues, such as
    /// com.apple.root.default-qos; those of serial queues end in `.overcommit`.
    @Test func nothingRunsInSwiftsPool() throws {
        let daemon = try RunningDaemon()
        #expect(try daemon.ctl("fact").status == 0)
        #expect(try daemon.ctl("search", "Chuck").status == 0)
        #expect(try daemon.ctl("reload").status == 0)
        let tasks = "/proc/\(daemon.processID)/task"
        let names = try FileManager.default.contentsOfDirectory(atPath: tasks).compactMap { task in
            // A thread that has ended meanwhile has none.
            try? String(contentsOfFile: "\(tasks)/\(task)/comm", encoding: .utf8)
        }
        #expect(!names.isEmpty)
        #expect(!names.contains { $0.hasSuffix("-qos\n") }, "\(names)")
    }

    // MARK: The service manager

    @Test func readyIsSaidOnceItServesAndStoppingAtTheEnd() throws {
        let daemon = try RunningDaemon()
        #expect(try daemon.ctl("status").status == 0)
        #expect(daemon.end() == 0)
        #expect(daemon.notifications.wait(for: "STOPPING=1") != nil)
        #expect(!FileManager.default.fileExists(atPath: daemon.socket), "The socket's file goes with the daemon")
    }

    @Test func watchdogIsPingedByTheServingLoop() throws {
        let daemon = try RunningDaemon(environment: ["WATCHDOG_USEC": "200000"])
        #expect(daemon.notifications.wait(for: "WATCHDOG=1") != nil)
        #expect(daemon.notifications.wait(for: "WATCHDOG=1") != nil)
    }

    @Test func hangUpReloads() throws {
        let daemon = try RunningDaemon(configuration: "facts: {enabled: false}\nlog: {level: info}\n")
        _ = try daemon.folder.write("facts: {enabled: false}\nlog: {level: loud}\n", to: "config.yaml")
        daemon.send(SIGHUP)
        #expect(daemon.notifications.wait(for: "RELOADING=1")?.contains("MONOTONIC_USEC=") == true)
        let refused = try #require(daemon.notifications.wait(for: "READY=1"))
        #expect(refused.contains("config.yaml:2: log.level"))
        #expect(try daemon.ctl("--json", "status").output.contains(#""state":"degraded""#))

        _ = try daemon.folder.write("facts: {enabled: false}\nlog: {level: debug}\n", to: "config.yaml")
        daemon.send(SIGHUP)
        #expect(daemon.notifications.wait(for: "RELOADING=1") != nil)
        #expect(daemon.notifications.wait(for: "READY=1") != nil)
        #expect(try daemon.ctl("--json", "status").output.contains(#""state":"ok""#))
    }

    @Test func reloadSaysFileLineAndKey() throws {
        let daemon = try RunningDaemon(configuration: "facts:\n  enabled: false\n")
        #expect(try daemon.ctl("reload").status == 0)
        let path = try daemon.folder.write("facts:\n  refesh: 24h\n", to: "config.yaml")
        let result = try daemon.ctl("--json", "reload")
        #expect(result.status == 64)
        let error = try ResponseError(json: JSON.parse(result.errors.dropLastNewline))
        #expect(error.code == .invalidParams)
        #expect(error.details["file"] == .string(path))
        #expect(error.details["line"] == 2)
        #expect(error.details["key"] == "facts.refesh")
        #expect(error.message.contains("facts.refresh"))
    }

    @Test func aSocketOfTheServiceManagerIsTakenOver() throws {
        let folder = TemporaryFolder()
        let activator = try ChildProcess(
            "systemd-socket-activate",
            ["--listen", folder("sock"), Programs.norrisd] + RunningDaemon.arguments(in: folder).dropFirst(2)
        )
        // The activator makes the socket some time after it starts; whoever connects then waits for the daemon.
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
        #expect(refused.errors.contains("bad.yaml:2: facts.refesh"))
        #expect(refused.errors.contains("facts.refresh"))
        #expect(try norrisd(["--config", folder("none.yaml")]).status == 78)
        #expect(try norrisd(["--no-such-flag"]).status == 64)
        #expect(try norrisd(["--version"]).output == "norrisd \(NorrisVersion.current)\n")
    }

    // MARK: Trouble

    @Test func aSecondDaemonOnTheSameStateEndsAtOnce() throws {
        let daemon = try RunningDaemon()
        let second = try norrisd(
            ["--socket", daemon.folder("other"), "--state-dir", daemon.folder("state"),
             "--cache-dir", daemon.folder("cache")]
        )
        #expect(second.status == 75)
        #expect(second.errors.contains("process id \(daemon.processID)"))
        #expect(try daemon.ctl("fact").status == 0)
    }

    @Test func aLiveSocketIsNeverTakenOver() throws {
        let daemon = try RunningDaemon()
        let other = TemporaryFolder()
        let second = try norrisd(
            ["--socket", daemon.socket, "--state-dir", other("state"), "--cache-dir", other("cache")]
        )
        #expect(second.status == 75)
        #expect(second.errors.contains(daemon.socket))
        #expect(try daemon.ctl("fact").status == 0)
    }

    @Test func aStaleSocketIsReplaced() throws {
        let folder = TemporaryFolder()
        try RunningDaemon(in: folder).end(SIGKILL)
        #expect(FileManager.default.fileExists(atPath: folder("sock")))
        let daemon = try RunningDaemon(in: folder)
        #expect(try daemon.ctl("fact").status == 0)
    }

    @Test func unusableSocketPathsAreTold() throws {
        let folder = TemporaryFolder()
        let rest = ["--state-dir", folder("state"), "--cache-dir", folder("cache")]
        let long = try norrisd(["--socket", folder(String(repeating: "x", count: 120))] + rest)
        #expect(long.status == 73)
        #expect(long.errors.contains("107 bytes"))
        let file = try folder.write("precious", to: "file")
        let plain = try norrisd(["--socket", file] + rest)
        #expect(plain.status == 73)
        #expect(try String(contentsOfFile: file, encoding: .utf8) == "precious")
        #expect(try norrisd(["--socket", folder("none/sock")] + rest).errors.contains("no folder"))
    }

    @Test func aDamagedCacheIsSetAsideAndMadeAnew() throws {
        let folder = TemporaryFolder()
        try FileManager.default.createDirectory(atPath: folder("cache"), withIntermediateDirectories: true)
        _ = try folder.write(String(repeating: "garbage ", count: 1000), to: "cache/cache.db")
        let daemon = try RunningDaemon(in: folder)
        #expect(try daemon.ctl("fact", "--category", "dev").status == 0)
        #expect(FileManager.default.fileExists(atPath: folder("cache/cache.db.damaged")))
        #expect(try daemon.ctl("--json", "status").output.contains("set aside"))
    }

    @Test(arguments: ["cache/cache.db", "state/state.db"])
    func aDatabaseOfANewerDaemonIsLeftUntouched(name: String) throws {
        let folder = TemporaryFolder()
        try RunningDaemon(in: folder).end()
        let path = folder(name)
        // user_version lies at offset 60 of the file, big-endian (SQLite: "Database File Format").
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
        let daemon = try RunningDaemon(
            in: folder, ["--state-dir", file + "/state", "--cache-dir", file + "/cache"]
        )
        #expect(try daemon.ctl("fact").status == 0)
        #expect(try daemon.ctl("fact", "--today").status == 0)
        let status = try daemon.ctl("--json", "status").output
        #expect(status.contains(#""state":"degraded""#))
        #expect(status.contains(#""read_only":true"#))
    }

    @Test func unreadableFortunesAreToldAndTheRestServed() throws {
        let folder = TemporaryFolder()
        let good = try folder.write("A good one.\n%\n", to: "good")
        let binary = try folder.write("a\u{0}b", to: "binary")
        let daemon = try RunningDaemon(
            in: folder, configuration: "facts: {enabled: false, fortunes: [\(good), \(binary), \(folder("none"))]}\n"
        )
        // They are read in the background; what cannot be read is told at the end.
        try daemon.waitForLog("binary: is no text")
        #expect(try daemon.ctl("fact", "--category", "good").output == "A good one.\n")
        #expect(daemon.log.contains("none: cannot be read"))
    }

    // MARK: Rights

    @Test(.enabled(if: getuid() == 0, "needs root to become somebody else"))
    func onlyAdministratorsReload() throws {
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
