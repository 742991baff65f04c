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

    @Test func alignsThemOnATerminal() {
        let failure = SourceFailure(
            kind: .offline, message: "No route.", since: Machine.now, retryAt: Timestamp("2026-11-21T12:05:00Z")
        )
        let failed = Machine.line(.source("planet", .failed, error: failure, at: Machine.now))
        let machine = Machine.subscribed(Self.finished, failed, Self.stopping).onTerminal(columns: 66)
        #expect(machine.run("watch").output == """
            12:00:00Z  facts     finished: 9,000 items
            12:00:00Z  planet    failed: offline just now (No route); next try
                                 in 5 minutes
            12:00:00Z  norrisd   stopping

            """)
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
        older.stream = [
            Response(id: .integer(1), outcome: .failure(.unknownMethod("event.subscribe"))).jsonText
        ]
        let outcome = older.run("watch")
        #expect(outcome.status == .unavailable)
        #expect(outcome.errors.hasPrefix("norrisctl: This norrisd does not know event.subscribe; it is older than"))
        let broken = Machine()
        broken.stream = ["{"]
        #expect(broken.run("watch").status == .internalError)
    }
}
