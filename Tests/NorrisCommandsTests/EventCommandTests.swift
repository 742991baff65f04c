import NorrisClient
@testable import NorrisCommands
import NorrisProtocol
import NorrisTerminal
import Testing

struct WatchCommandTests {
    private static let started = Machine.line(.source("facts", .started, at: Machine.now))
    private static let finished = Machine.line(.source("facts", .finished, items: 9_000, at: Machine.now))
    private static let added = Machine.line(.item(source: "facts", added: 12, at: Machine.now))
    private static let stopping = Machine.line(.server(.stopping, at: Machine.now))

    @Test func printsALineForEachEventUntilTheDaemonStops() {
        let machine = Machine.subscribed(Self.started, Self.added, Self.finished, Self.stopping)
        #expect(machine.run("watch") == Outcome(
            output: """
                2026-11-21T12:00:00Z\tfacts\tstarted
                2026-11-21T12:00:00Z\tfacts\t12 new
                2026-11-21T12:00:00Z\tfacts\tfinished: 9,000 items
                2026-11-21T12:00:00Z\tnorrisd\tstopping

                """,
            errors: "norrisctl: norrisd has stopped.\n"
        ))
        #expect(machine.methods == ["event.subscribe"])
        #expect(machine.parameters == ["{}"])
        // Its time is for the beginning; then it waits for as long as it takes.
        #expect(machine.waits == [.seconds(5), nil, nil, nil, nil, nil])
    }

    @Test func looksWellOnAScreen() throws {
        let failure = SourceFailure(
            kind: .offline, message: "There is no route to town.example.", since: Machine.now,
            retryAt: Timestamp("2026-11-21T12:05:00Z")
        )
        let failed = Machine.line(.source("community-of-a-long-name", .failed, error: failure, at: Machine.now))
        try GoldenScreen(name: "watch", arguments: ["watch"]) {
            Machine.subscribed(Self.started, Self.added, Self.finished, failed, Self.stopping)
        }.check()
    }

    @Test func printsTheParametersAsJSON() {
        let params = #"{"topic":"source","source":"facts","phase":"started","at":"2026-11-21T12:00:00Z","x_new":1}"#
        let machine = Machine.subscribed(#"{"jsonrpc":"2.0","method":"event","params":\#(params)}"#, Self.stopping)
        #expect(machine.run("watch", "--json").output == """
            \(params)
            {"topic":"server","phase":"stopping","at":"2026-11-21T12:00:00Z"}

            """)
    }

    @Test func passesOverWhatItDoesNotKnow() {
        let machine = Machine.subscribed(
            #"{"jsonrpc":"2.0","method":"event","params":{"topic":"moon","phase":"rising","#
                + #""at":"2026-11-21T12:00:00Z"}}"#,
            #"{"jsonrpc":"2.0","method":"event","params":[1]}"#, #"{"jsonrpc":"2.0","method":"news","params":{}}"#,
            Self.stopping
        )
        #expect(machine.run("watch") == Outcome(
            output: "2026-11-21T12:00:00Z\tnorrisd\trising\n2026-11-21T12:00:00Z\tnorrisd\tstopping\n",
            errors: "norrisctl: norrisd has stopped.\n"
        ))
    }

    @Test("A connection that ends without a word is an error", arguments: [[], [started], [stopping, started]])
    func lost(lines: [String]) {
        let machine = Machine.subscribed()
        machine.stream += lines
        let outcome = machine.run("watch")
        #expect(outcome.status == .unavailable)
        #expect(outcome.errors == """
            norrisctl: The connection to norrisd at /run/norrisd.sock was lost.
              Read its log: journalctl -u norrisd -n 20

            """)
    }

    @Test func endsQuietlyWhenNobodyReads() {
        let machine = Machine.subscribed(Self.started, Self.finished)
        machine.outputError = .closedPipe
        #expect(machine.run("watch") == Outcome())
        machine.outputError = .system(errno: 28)
        #expect(machine.run("watch").status == .inputOutput)
    }

    @Test func saysWhatIsWrongAtTheBeginning() {
        let machine = Machine()
        machine.streamEnd = .noSocket(paths: ["/run/norrisd.sock"])
        #expect(machine.run("watch").errors.hasPrefix("norrisctl: norrisd is not running: there is no socket at"))
        let older = Machine()
        older.stream = [Response(id: .integer(1), outcome: .failure(.unknownMethod("event.subscribe"))).jsonText]
        let outcome = older.run("watch")
        #expect(outcome.status == .unavailable)
        #expect(outcome.errors.hasPrefix("norrisctl: This norrisd does not know event.subscribe; it is older than"))
        let broken = Machine()
        broken.stream = ["{"]
        #expect(broken.run("watch").status == .internalError)
    }
}

struct RefreshCommandTests {
    private static func failure(_ kind: SourceFailure.Kind = .offline) -> SourceFailure {
        SourceFailure(kind: kind, message: "No route.", since: Machine.now, retryAt: Timestamp("2026-11-21T12:05:00Z"))
    }

    private static func started(_ sources: String...) -> String {
        Machine.result(SourceRefresh.Result(started: sources).jsonText, id: 2)
    }

    private static func finished(_ source: String, items: Int? = 9_000) -> String {
        Machine.line(.source(source, .finished, items: items, at: Machine.now))
    }

    private static func failed(_ source: String, _ kind: SourceFailure.Kind = .offline) -> String {
        Machine.line(.source(source, .failed, error: failure(kind), at: Machine.now))
    }

    private static func added(_ source: String, _ count: Int) -> String {
        Machine.line(.item(source: source, added: count, at: Machine.now))
    }

    // MARK: Without waiting

    @Test func saysWhatWasStarted() {
        let machine = Machine(results: #"{"started":["facts","planet"]}"#)
        #expect(machine.run("refresh") == Outcome(output: "started: facts, planet\n"))
        #expect(machine.methods == ["source.refresh"])
        #expect(machine.parameters == ["{}"])
        let one = Machine(results: #"{"started":["facts"]}"#)
        #expect(one.run("refresh", "facts", "--json") == Outcome(output: #"{"started":["facts"]}"# + "\n"))
        #expect(one.parameters == [#"{"source":"facts"}"#])
    }

    @Test func saysThatThereIsNothingToStart() {
        let note = "norrisctl: There is no source to fetch from; norrisctl status shows which are off.\n"
        #expect(Machine(results: #"{"started":[]}"#).run("refresh") == Outcome(errors: note, status: .nothing))
        let waiting = Machine.subscribed(Self.started())
        #expect(waiting.run("refresh", "--wait") == Outcome(errors: note, status: .nothing))
    }

    @Test("A limit of the daemon says when it ends", arguments: [
        ("2026-11-21T12:04:00Z", "Try again in 4 minutes."), ("2026-11-21T11:59:00Z", "Try again now."),
    ])
    func limits(retryAt: String, hint: String) {
        let error = ResponseError(
            .busy, reason: "busy", message: "facts was fetched a minute ago.", details: ["retry_at": .string(retryAt)]
        )
        let expected = Outcome(errors: "norrisctl: facts was fetched a minute ago.\n  \(hint)\n", status: .temporary)
        #expect(Machine(error: error).run("refresh") == expected)
        let waiting = Machine.subscribed(Response(id: .integer(2), outcome: .failure(error)).jsonText)
        #expect(waiting.run("refresh", "--wait") == expected)
        let untold = ResponseError.busy("No.", hint: "Wait.")
        #expect(Machine(error: untold).run("refresh").errors == "norrisctl: No.\n  Wait.\n")
    }

    // MARK: Waiting

    @Test func subscribesRefreshesAndWaitsForEverySource() {
        let machine = Machine.subscribed(
            Self.finished("facts", items: 1), Self.started("facts", "planet"), Self.added("facts", 5),
            Self.finished("town"), Self.added("facts", 7), Self.finished("facts"), Self.finished("planet", items: 1),
            Self.finished("planet")
        )
        #expect(machine.run("refresh", "--wait") == Outcome(output: "facts: 9,000 items, 12 new\nplanet: 1 item\n"))
        #expect(machine.methods == ["event.subscribe", "source.refresh"])
        #expect(machine.parameters == [#"{"topics":["source","item"]}"#, "{}"])
        #expect(machine.waits.first == .seconds(5))
        #expect(machine.waits.dropFirst().allSatisfy { $0 == .seconds(600) })
    }

    @Test func saysWhatFailed() {
        let machine = Machine.subscribed(
            Self.started("facts", "planet"), Self.failed("facts"), Self.finished("planet", items: nil)
        )
        #expect(machine.run("refresh", "--wait") == Outcome(
            output: "planet: done\n", errors: "norrisctl: facts: offline just now (No route); next try in 5 minutes\n",
            status: .temporary
        ))
    }

    @Test("A missing key is a fault of the configuration, unless something else failed too")
    func credentials() {
        let start = [Self.started("gifs", "planet"), Self.failed("gifs", .credentials)]
        let keys = Machine.subscribed(start[0], start[1], Self.finished("planet"))
        #expect(keys.run("refresh", "--wait").status == .configuration)
        let both = Machine.subscribed(start[0], start[1], Self.failed("planet"))
        #expect(both.run("refresh", "--wait").status == .temporary)
    }

    @Test func aFailureWithoutWordsIsAFailure() {
        let failed = Machine.line(.source("facts", .failed, at: Machine.now))
        let outcome = Machine.subscribed(Self.started("facts"), failed).run("refresh", "--wait")
        #expect(outcome == Outcome(errors: "norrisctl: facts: failing just now\n", status: .temporary))
    }

    @Test func tellsATerminalWhatItWaitsFor() {
        let machine = Machine.subscribed(Self.started("facts"), Self.finished("facts"))
        machine.isErrorTerminal = true
        #expect(machine.run("refresh", "--wait") == Outcome(output: "facts: 9,000 items\n", errors: "started: facts\n"))
    }

    @Test func givesTheEventOfEachSourceAsJSON() {
        let machine = Machine.subscribed(Self.started("facts", "planet"), Self.finished("facts"), Self.failed("planet"))
        #expect(machine.run("refresh", "--wait", "--json") == Outcome(
            output: """
                {"topic":"source","source":"facts","phase":"finished","items":9000,"at":"2026-11-21T12:00:00Z"}
                {"topic":"source","source":"planet","phase":"failed","error":{"kind":"offline","message":"No route.",\
                "since":"2026-11-21T12:00:00Z","retry_at":"2026-11-21T12:05:00Z"},"at":"2026-11-21T12:00:00Z"}

                """,
            status: .temporary
        ))
    }

    @Test("It waits for ten minutes in all, or for as long as was said", arguments: [
        ([], "10m"), (["--timeout", "90s"], "90s"),
    ])
    func givesUp(arguments: [String], text: String) {
        let machine = Machine.subscribed(
            Self.started("facts", "planet"), Self.finished("facts"), Self.added("planet", 1)
        )
        machine.delay = arguments.isEmpty ? .seconds(150) : .milliseconds(22_500)
        #expect(machine.run(["refresh", "--wait"] + arguments) == Outcome(
            output: "facts: 9,000 items\n",
            errors: """
                norrisctl: norrisd is still fetching from planet after \(text).
                  See how it ends: norrisctl watch; or wait longer: --timeout 30m

                """,
            status: .unavailable
        ))
    }

    @Test func saysThatTheConnectionWasLost() {
        let outcome = Machine.subscribed(Self.started("facts")).run("refresh", "--wait")
        #expect(outcome.status == .unavailable)
        #expect(outcome.errors.hasPrefix("norrisctl: The connection to norrisd at /run/norrisd.sock was lost.\n"))
        let refused = Machine()
        refused.streamEnd = .refused(path: "/run/norrisd.sock")
        #expect(refused.run("refresh", "--wait").errors.hasPrefix("norrisctl: norrisd is not running any more"))
    }

    @Test func endsQuietlyWhenNobodyReads2() {
        let machine = Machine.subscribed(Self.started("facts", "planet"), Self.finished("facts"))
        machine.outputError = .closedPipe
        #expect(machine.run("refresh", "--wait") == Outcome())
    }
}
