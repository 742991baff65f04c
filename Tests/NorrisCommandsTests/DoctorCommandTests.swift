import NorrisClient
@testable import NorrisCommands
import NorrisProtocol
import Testing

struct DoctorCommandTests {
    private func info(version: String = NorrisVersion.current, protocol number: Int = 1) -> String {
        """
        {"name":"norrisd","version":"\(version)","protocol":\(number),"capabilities":[],"pid":1,\
        "started_at":"2026-11-21T11:00:00Z"}
        """
    }

    private func status(
        _ state: String = "ok", message: String = "120 facts are served.", freshness: String = builtin,
        isEnabled: Bool = true, isReadOnly: Bool = false, kind: String = "chucknorris", nextRunAt: String? = nil
    ) -> String {
        """
        {"state":"\(state)","message":"\(message)","uptime_seconds":1,"connections":1,"requests_total":1,"sources":[\
        {"name":"facts","kind":"\(kind)","enabled":\(isEnabled),"items":120,"freshness":\(freshness),\
        \(nextRunAt.map { #""next_run_at":"\#($0)","# } ?? "")"consecutive_failures":0}],\
        "database":{"cache_bytes":4096,"state_bytes":2048,"read_only":\(isReadOnly)},\
        "version":"0.1.0"}
        """
    }

    private let well = """
        ok\tsocket\t/run/norrisd.sock is there.
        ok\tconnect\tnorrisd answers.
        ok\tversion\tnorrisd \(NorrisVersion.current) speaks protocol 1, as this norrisctl does.
        ok\tstatus\t120 facts are served.
        ok\tdatabases\tThey can be written: cache 4.0 KiB, state 2.0 KiB.
        ok\tclock\tIt says 2026-11-21T12:00:00Z.
        ok\tsource facts\t120 items are stored.
        ok\tprompt\t/run/norrisd/prompt-facts was written just now.

        """

    /// The checks of a run whose line begins so.
    private func line(_ beginning: String, _ machine: Machine, status: ExitStatus = .done) -> String? {
        let outcome = machine.run("doctor")
        #expect(outcome.status == status)
        #expect(outcome.errors.isEmpty)
        return outcome.output.split(separator: "\n").first { $0.contains(beginning) }.map(String.init)
    }

    @Test func findsNothingWhereAllIsWell() {
        let machine = Machine(results: info(), status()).withPromptFacts()
        #expect(machine.run("doctor") == Outcome(output: well))
        #expect(machine.methods == ["server.info", "server.status"])
    }

    @Test func aLongSubjectDoesNotPushTheOthersAside() {
        let long = status(freshness: failing("http")).replacing("\"facts\"", with: "\"a-feed-with-a-very-long-name\"")
        let output = Machine(results: info(), long).withPromptFacts().onTerminal().run("doctor").output
        #expect(output.hasPrefix("ok    socket     /run/norrisd.sock is there.\n"))
        #expect(output.contains("""

            warn  source a-feed-with-a-very-long-name: It is answering with errors just now
                  (m).
                  Try now:
                  norrisctl refresh a-feed-with-a-very-long-name --wait

            """))
    }

    @Test func aDaemonThatHangsIsKilledAndOneThatAnswersIsNot() {
        let hung = Machine(failure: .timedOut(path: "/tmp/s")).run("doctor", "--socket", "/tmp/s").output
        #expect(hung.contains(" Start it anew: pkill -KILL -x norrisd; norrisd --socket /tmp/s\n"))
        let older = Machine(results: info(version: "0.0.9"), status()).run("doctor", "--socket", "/tmp/s").output
        #expect(older.contains(" Update both, then: pkill -x norrisd; sleep 2; norrisd --socket /tmp/s\n"))
    }

    @Test func isAnObjectAsJSON() {
        let outcome = Machine(failure: .noSocket(paths: ["/run/norrisd.sock"])).run("doctor", "--json")
        #expect(outcome == Outcome(output: """
            {"checks":[{"check":"socket","outcome":"fail","message":"norrisd is not running: there is no socket at \
            /run/norrisd.sock.","fix":"Start it: systemctl start norrisd, or systemctl --user start norrisd, or just: \
            norrisd"}]}

            """, status: .unavailable))
    }

    @Test func saysWhereTheWayToTheDaemonEnds() {
        let path = "/run/norrisd.sock"
        let cases: [(ClientError, String, ExitStatus)] = [
            (.noSocket(paths: [path]), "fail\tsocket\tnorrisd is not running: there is no socket", .unavailable),
            (.notASocket(path: path), "fail\tsocket\t/run/norrisd.sock is not a socket", .unavailable),
            (.notPermitted(path: path), "fail\tsocket\tYou may not connect", .notPermitted),
            (.refused(path: path), "fail\tconnect\tnorrisd is not running any more", .unavailable),
            (.timedOut(path: path), "fail\tconnect\tnorrisd at /run/norrisd.sock did not answer within", .unavailable),
            (.closed(path: path), "fail\tconnect\tnorrisd at /run/norrisd.sock closed", .unavailable),
            (.malformedReply(path: path, detail: "x"), "fail\tconnect\tnorrisd at /run/norrisd", .internalError),
        ]
        for (error, beginning, status) in cases {
            let machine = Machine(failure: error)
            #expect(line("fail", machine, status: status)?.hasPrefix(beginning) == true, "\(error)")
            #expect(machine.requests.count == 1)
        }
    }

    @Test func neverAdvisesItself() {
        let slow = Machine(failure: .timedOut(path: "/run/norrisd.sock"))
        #expect(line("fail", slow, status: .unavailable) == """
            fail\tconnect\tnorrisd at /run/norrisd.sock did not answer within 5s. Start it anew: systemctl restart \
            norrisd.socket norrisd
            """)
        let unreadable = Machine([.success(Array("?".utf8))])
        #expect(line("fail", unreadable, status: .internalError) == """
            fail\tconnect\tnorrisd sent a reply that cannot be read: The byte at 0 is not JSON there. Start it anew: \
            systemctl restart norrisd.socket norrisd
            """)
        let strange = Machine(results: "{}")
        #expect(line("fail", strange, status: .internalError) == """
            fail\tversion\tnorrisd sent a reply that cannot be read: name is missing. Update both, then: systemctl \
            restart norrisd.socket norrisd
            """)
    }

    @Test func triesOneSocketAfterTheOther() {
        let user = "/run/user/1000/norrisd.sock"
        let reply = Array(#"{"jsonrpc":"2.0","id":1,"result":\#(info())}"#.utf8)
        let statusReply = Array(#"{"jsonrpc":"2.0","id":1,"result":\#(status())}"#.utf8)
        // That there is no daemon of the user's own is nothing to speak of.
        let missing = Machine([.failure(.noSocket(paths: [user])), .success(reply), .success(statusReply)])
        missing.files["/run/norrisd/prompt-facts"] = [0x61]
        missing.environment = ["XDG_RUNTIME_DIR": "/run/user/1000"]
        #expect(missing.run("doctor") == Outcome(output: well))
        #expect(missing.sockets.prefix(2) == [[user], ["/run/norrisd.sock"]])
        // That it has died is.
        let dead = Machine([.failure(.refused(path: user)), .success(reply), .success(statusReply)])
        dead.files["/run/norrisd/prompt-facts"] = [0x61]
        dead.environment = ["XDG_RUNTIME_DIR": "/run/user/1000"]
        #expect(dead.run("doctor") == Outcome(output: """
            warn\tsocket\tnorrisd is not running any more: nobody listens on \(user). Start it again: systemctl --user \
            restart norrisd, or just: norrisd
            \(well)
            """))
        let none = Machine([.failure(.noSocket(paths: [user])), .failure(.noSocket(paths: ["/run/norrisd.sock"]))])
        none.environment = ["XDG_RUNTIME_DIR": "/run/user/1000"]
        #expect(line("fail", none, status: .unavailable)?.contains("\(user) or /run/norrisd.sock.") == true)
    }

    @Test func stopsAtTheFirstSocketThatTakesAllTheTime() {
        let machine = Machine(failure: .timedOut(path: "/run/user/1000/norrisd.sock"))
        machine.environment = ["XDG_RUNTIME_DIR": "/run/user/1000"]
        #expect(line("fail", machine, status: .unavailable)?.contains("/run/user/1000/norrisd.sock did not") == true)
        #expect(machine.requests.count == 1)
    }

    @Test func hasOneTimeForAll() {
        let machine = Machine(results: info(), status())
        machine.delay = .seconds(4)
        _ = machine.run("doctor")
        #expect(machine.timeouts == [.seconds(5), .seconds(1)])
    }

    @Test func comparesTheVersions() {
        #expect(line("version", Machine(results: info(version: "0.0.9"), status())) == """
            warn\tversion\tnorrisd 0.0.9 speaks protocol 1, but this is norrisctl \(NorrisVersion.current). Update \
            both, then: systemctl restart norrisd.socket norrisd
            """)
        let machine = Machine(results: info(protocol: 2))
        #expect(line("version", machine, status: .unavailable) == """
            fail\tversion\tnorrisd \(NorrisVersion.current) speaks protocol 2, norrisctl \(NorrisVersion.current) \
            speaks protocol 1. Update norrisctl.
            """)
        #expect(machine.requests.count == 1)
        #expect(line("version", Machine(error: .unknownMethod("server.info")), status: .unavailable) != nil)
    }

    @Test func warnsOfWhatTheStatusTells() {
        #expect(line("\tstatus\t", Machine(results: info(), status("degraded", message: "A file was refused."))) == """
            warn\tstatus\tA file was refused. Read its log: journalctl -u norrisd -n 20
            """)
        let soon = "2026-11-21T12:05:00Z"
        let stale = #"{"origin":"cache","state":"stale","fetched_at":"2026-11-20T12:00:00Z","error":null}"#
        #expect(line("source", Machine(results: info(), status(freshness: stale, nextRunAt: soon))) == """
            warn\tsource facts\tIt is out of date, last fetched 1 day ago. Next try in 5 minutes.
            """)
        #expect(line("source", Machine(results: info(), status(freshness: offline, isEnabled: false))) == """
            ok\tsource facts\tIt is turned off; 120 items are stored.
            """)
    }

    @Test(arguments: [
        ("quota", #","retry_at":"2026-11-21T12:40:00Z""#, "out of quota just now (m). Next try in 40 minutes."),
        ("http", #","retry_at":"2026-11-21T11:00:00Z""#, "answering with errors just now (m). Next try now."),
        ("http", "", "answering with errors just now (m). Next try in 5 minutes."),
        ("credentials", "", "without a valid key just now (m). Next try in 5 minutes."),
    ])
    func saysWhenASourceIsTriedAgain(kind: String, more: String, text: String) {
        let freshness = failing(kind, more)
        let status = status(freshness: freshness, nextRunAt: "2026-11-21T12:05:00Z")
        #expect(line("source", Machine(results: info(), status)) == "warn\tsource facts\tIt is \(text)")
    }

    @Test(arguments: [
        (
            "/run/norrisd.sock",
            "as root: install -D -m 600 /dev/stdin /etc/credstore/giphy-api-key (paste it, Return, Ctrl-D), "
                + "then: systemctl restart norrisd"
        ),
        (
            "/run/user/7/norrisd.sock",
            ": install -D -m 600 /dev/stdin ~/.config/norrisd/giphy-api-key (paste it, Return, Ctrl-D), name that "
                + "file as gifs.api_key_file in ~/.config/norrisd/config.yaml, then: norrisctl reload"
        ),
    ])
    func saysWhereTheKeyForGiphyGoes(socket: String, fix: String) {
        let machine = Machine(results: info(), status(freshness: failing("credentials"), kind: "giphy"))
        #expect(machine.run("doctor", "--socket", socket).output.contains(
            "\tIt is without a valid key just now (m). Get a key at https://developers.giphy.com, then"
                + (fix.hasPrefix(":") ? fix : " " + fix) + "\n"
        ))
    }

    private func failing(_ kind: String, _ more: String = "") -> String {
        """
        {"origin":"none","state":"empty","error":{"kind":"\(kind)","message":"m",\
        "since":"2026-11-21T12:00:00Z"\(more)}}
        """
    }

    @Test func failsWhereNothingCanBeWritten() {
        let machine = Machine(results: info(), status(isReadOnly: true))
        #expect(line("databases", machine, status: .inputOutput) == """
            fail\tdatabases\tThey cannot be written, so nothing new is kept. Free space or repair the disk: df -h \
            /var/lib /var/cache, then: systemctl restart norrisd.socket norrisd
            """)
    }

    @Test func failsWhereTheStatusCannotBeHad() {
        let machine = Machine([
            .success(Array(#"{"jsonrpc":"2.0","id":1,"result":\#(info())}"#.utf8)),
            .failure(.timedOut(path: "/run/norrisd.sock")),
        ])
        #expect(line("fail", machine, status: .unavailable)?.hasPrefix("fail\tstatus\t") == true)
        #expect(machine.sockets == [["/run/norrisd.sock"], ["/run/norrisd.sock"]])
        let strange = Machine(results: info(), "[]")
        #expect(line("fail", strange, status: .internalError)?.hasPrefix("fail\tstatus\t") == true)
    }
}
