import Foundation
import NorrisTestSupport
import Testing

/// What the built daemon tells the service manager and the journal.
@Suite(.serialized, .timeLimit(.minutes(20)))
struct ServiceManagerEndToEndTests {
    // MARK: Status

    @Test func statusIsWhatIsStoredAndWhenMoreComes() async throws {
        let upstream = try await FakeUpstream.start()
        try await TestThread.run {
            let daemon = try RunningDaemon.fetching(from: upstream)
            try daemon.waitUntilFetched(daemon.watch())
            daemon.send(SIGHUP)
            let told = try #require(daemon.notifications.wait(for: "READY=1"))
            #expect(told.contains(#/STATUS=\d+ facts · next fetch (\d{4}-\d\d-\d\d )?\d\d:\d\d$/#), "\(told)")
            let reply = try daemon.ctl("--json", "status").output
            #expect(reply.contains(#/"message":"\d+ facts"/#), "that is in the sources' own fields")
        }
        await upstream.stop()
    }

    @Test func statusSaysThatAReloadWasRefusedUntilOneIsNot() throws {
        let daemon = try RunningDaemon()
        _ = try daemon.folder.write("facts: {enabled: maybe}\nlog: {levle: info}\n", to: "config.yaml")
        daemon.send(SIGHUP)
        let refused = try #require(daemon.notifications.wait(for: "READY=1"))
        #expect(refused.contains("facts · A new configuration was refused: "))
        #expect(refused.contains("config.yaml:1: facts.enabled"))
        _ = try daemon.folder.write("facts: {enabled: false}\n", to: "config.yaml")
        daemon.send(SIGHUP)
        let applied = try #require(daemon.notifications.wait(for: "READY=1"))
        #expect(!applied.contains("refused"))
        // Each fault is a line of its own.
        let lines = daemon.log.split(separator: "\n").filter { $0.contains("configuration.refused") }
        #expect(lines.map { $0.contains("facts.enabled") } == [true, false], "\(lines)")
    }

    @Test func aManagerThatDoesNotReadKeepsItFromNothing() async throws {
        try await TestThread.run {
            let daemon = try RunningDaemon()
            // Two messages each: most kernels keep ten.
            for _ in 0..<8 { #expect(try daemon.ctl("reload", "--timeout", "1m").status == 0) }
            #expect(try daemon.ctl("fact", "--timeout", "1m").status == 0)
            #expect(daemon.end() == 0)
        }
    }

    @Test func whyItDoesNotStartIsItsStatus() async throws {
        try await TestThread.run {
            let folder = TemporaryFolder()
            let manager = NotifySocket(path: folder("notify"))
            let file = try folder.write("facts:\n  refesh: 24h\n  enabled: maybe\n", to: "config.yaml")
            let result = try run(
                Programs.norrisd, ["--config", file],
                environment: ["HOME": folder.path, "NOTIFY_SOCKET": manager.path]
            )
            #expect(result.status == 78)
            let faults = result.errors.split(separator: "\n")
            #expect(faults.count == 2)
            let first = try #require(faults.first?.dropFirst("norrisd: ".count))
            #expect(manager.wait(for: "STATUS=\(first)", while: { false }) != nil, "\(manager.lines)")
            #expect(!manager.lines.contains("READY=1"))
        }
    }

    @Test(arguments: ["--check-config", "--print-config", "--no-such-flag"])
    func whatIsNoStartIsNoStatus(_ flag: String) async throws {
        try await TestThread.run {
            let folder = TemporaryFolder()
            let manager = NotifySocket(path: folder("notify"))
            let file = try folder.write("facts: {refesh: 24h}\n", to: "config.yaml")
            let result = try run(
                Programs.norrisd, ["--config", file, flag],
                environment: ["HOME": folder.path, "NOTIFY_SOCKET": manager.path]
            )
            #expect(result.status == (flag == "--no-such-flag" ? 64 : 78))
            #expect(result.errors.hasPrefix("norrisd: "))
            #expect(manager.wait(for: "", while: { false }) == nil)
            #expect(manager.lines.isEmpty)
        }
    }

    @Test func aKeyThatIsOfNoUseIsToldAndStopsNothing() throws {
        let folder = TemporaryFolder()
        let key = try folder.write("", to: "giphy-api-key")
        let given = try RunningDaemon(in: folder, environment: ["CREDENTIALS_DIRECTORY": folder.path])
        #expect(given.log.contains(" warning source.impeded error=\"The credential \(key) is empty"))
        #expect(try given.ctl("fact").status == 0)
        #expect(try given.ctl("status").output.contains("is empty"))
        #expect(try RunningDaemon().log.contains(" notice source.impeded "), "most who have no key want none")
    }

    @Test func eachFortuneFileThatCannotBeReadIsTold() throws {
        let folder = TemporaryFolder()
        let files = try (1...8).map { try folder.write("\0no text", to: "fortunes-\($0)") }
        let list = files.joined(separator: ", ")
        let daemon = try RunningDaemon(in: folder, configuration: "facts: {enabled: false, fortunes: [\(list)]}\n")
        try daemon.waitForLog("path=\(files[7])\n")
        for file in files {
            #expect(daemon.log.contains("error fortunes.unreadable error=\"\(file): "), "\(daemon.log)")
            #expect(daemon.log.contains(" path=\(file)\n"))
        }
    }

    // MARK: Time to start

    @Test func aMigrationAsksForTime() async throws {
        try await TestThread.run {
            let folder = TemporaryFolder()
            func asksForTime() throws -> Bool {
                let daemon = try RunningDaemon(in: folder)
                defer { daemon.end() }
                return daemon.notifications.lines.contains("EXTEND_TIMEOUT_USEC=600000000")
            }
            #expect(try !asksForTime(), "nothing is there")
            #expect(try !asksForTime(), "nothing is to be done")
            try makeFirst(folder("state/state.db"))
            #expect(try asksForTime())
            #expect(try !asksForTime(), "it was done")
        }
    }

    /// Puts a state of the first version in place of another.
    private func makeFirst(_ path: String) throws {
        let script = """
            import os, sqlite3, sys
            os.unlink(sys.argv[1])
            sqlite3.connect(sys.argv[1]).executescript('''
                CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
                INSERT INTO grdb_migrations VALUES ('walks and facts of the day');
                CREATE TABLE seats (
                    roster TEXT NOT NULL, seat INTEGER NOT NULL, fact TEXT, length INTEGER NOT NULL,
                    PRIMARY KEY (roster, seat)
                ) STRICT, WITHOUT ROWID;
                CREATE UNIQUE INDEX seats_by_fact ON seats (fact, roster) WHERE fact IS NOT NULL;
                CREATE TABLE walks (
                    uid INTEGER NOT NULL, filter TEXT NOT NULL, position BLOB NOT NULL, used_at INTEGER NOT NULL,
                    PRIMARY KEY (uid, filter)
                ) STRICT, WITHOUT ROWID;
                CREATE TABLE facts_of_the_day (
                    number INTEGER PRIMARY KEY, day TEXT NOT NULL UNIQUE, fact TEXT NOT NULL
                ) STRICT;
                PRAGMA application_id = 0x4E525253;
                PRAGMA user_version = 1;
            ''')
            """
        let result = try run("python3", ["-c", script, path])
        #expect(result.status == 0, "\(result)")
    }

    // MARK: The journal

    /// Runs norrisd with a journal that only its process sees, ends it once it serves, and gives the entries.
    private func entries(in folder: TemporaryFolder, _ arguments: [String]) throws -> [[String: String]] {
        let script = """
            import json, os, signal, socket, subprocess, sys
            os.makedirs("/run/systemd/journal")
            journal = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            journal.bind("/run/systemd/journal/socket")
            error = open(sys.argv[1], "w")
            status = os.fstat(error.fileno())
            environment = dict(os.environ, JOURNAL_STREAM=f"{status.st_dev}:{status.st_ino}")
            daemon = subprocess.Popen(sys.argv[2:], stderr=error, env=environment)
            journal.settimeout(0.1)
            entries = []
            has_ended = False
            while True:
                try:
                    entry = journal.recv(65536)
                except TimeoutError:
                    # What it wrote last may have come between; then there is another silence.
                    if has_ended: break
                    has_ended = daemon.poll() is not None
                    continue
                fields = dict(line.split("=", 1) for line in entry.decode().splitlines() if "=" in line)
                entries.append(fields)
                if fields.get("NORRISD_EVENT") == "server.ready": daemon.send_signal(signal.SIGTERM)
            print(json.dumps(entries))
            """
        let result = try run(
            "unshare",
            ["-m", "sh", "-c", #"mount -t tmpfs none /run && exec "$@""#, "sh", "python3", "-c", script]
                + [folder("stderr"), Programs.norrisd] + arguments,
            environment: ["HOME": folder.path, "PATH": "/usr/bin:/bin:/usr/sbin:/sbin"]
        )
        #expect(result.status == 0, "\(result)")
        return try JSONDecoder().decode([[String: String]].self, from: Data(result.output.utf8))
    }

    @Test(.enabled(if: getuid() == 0, "needs root to give a process a journal of its own"))
    func theJournalGetsFieldsAndNoLines() async throws {
        try await TestThread.run {
            let folder = TemporaryFolder()
            let config = try folder.write("facts: {enabled: false}\nadmin_groups: [nobody-knows-it]\n", to: "c.yaml")
            let entries = try entries(in: folder, RunningDaemon.arguments(in: folder) + ["--config", config])
            let ready = try #require(entries.first { $0["NORRISD_EVENT"] == "server.ready" })
            #expect(ready["MESSAGE_ID"]?.count == 32)
            #expect(ready["PRIORITY"] == "5")
            #expect(ready["NORRISD_SOCKET"] == folder("sock"))
            #expect(ready["CODE_FILE"]?.hasSuffix("Daemon+build.swift") == true)
            let warning = try #require(entries.first { $0["NORRISD_EVENT"] == "configuration.unknown-group" })
            #expect(warning["PRIORITY"] == "4")
            #expect(warning["NORRISD_GROUP"] == "nobody-knows-it")
            #expect(entries.contains { $0["NORRISD_EVENT"] == "server.stopped" })
            #expect(try String(contentsOfFile: folder("stderr"), encoding: .utf8) == "")
        }
    }

    @Test(.enabled(if: getuid() == 0, "needs root to give a process a journal of its own"))
    func aStartThatFailsIsAnEntryForEachReason() async throws {
        try await TestThread.run {
            let folder = TemporaryFolder()
            let config = try folder.write("facts:\n  refesh: 24h\n  enabled: maybe\n", to: "c.yaml")
            let entries = try entries(in: folder, ["--config", config])
            #expect(entries.map { $0["NORRISD_EVENT"] } == ["server.failed", "server.failed"])
            #expect(entries.allSatisfy { $0["PRIORITY"] == "2" && $0["MESSAGE_ID"]?.count == 32 })
            #expect(entries.first?["NORRISD_ERROR"]?.hasPrefix("\(config):2: facts.refesh") == true)
            #expect(entries.last?["MESSAGE"]?.contains("\(config):3: facts.enabled") == true)
            #expect(try String(contentsOfFile: folder("stderr"), encoding: .utf8) == "")
        }
    }

    @Test(
        .enabled(if: getuid() == 0, "needs root to give a process a journal of its own"),
        arguments: ["--check-config", "--print-config", "--no-such-flag"]
    )
    func whatIsNoStartIsNoEntry(_ flag: String) async throws {
        try await TestThread.run {
            let folder = TemporaryFolder()
            let config = try folder.write("facts: {refesh: 24h}\n", to: "c.yaml")
            #expect(try entries(in: folder, ["--config", config, flag]).isEmpty)
            let errors = try String(contentsOfFile: folder("stderr"), encoding: .utf8)
            #expect(errors.contains(flag == "--no-such-flag" ? flag : "\(config):1: facts.refesh"))
        }
    }
}
