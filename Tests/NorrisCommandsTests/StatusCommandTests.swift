@testable import NorrisCommands
import NorrisProtocol
import Testing

struct StatusCommandTests {
    private let result = """
        {"state":"degraded","message":"A configuration was refused.","uptime_seconds":61,"connections":1,\
        "requests_total":7,"sources":[{"name":"facts","kind":"chucknorris","enabled":true,"items":120,\
        "freshness":\(builtin),"consecutive_failures":0}],"database":{"cache_bytes":4096,"state_bytes":2048,\
        "read_only":false},"version":"0.1.0"}
        """

    @Test func isAPageOnATerminal() {
        let machine = Machine(results: result).onTerminal()
        #expect(machine.run("status") == Outcome(output: """
            ● norrisd 0.1.0 degraded
            A configuration was refused.

            uptime       1 minute 1 second
            connections  1
            requests     7
            databases    cache 4.0 KiB · state 2.0 KiB

            SOURCE  ITEMS  STATE     NEXT RUN  KIND
            facts     120  built in  -         chucknorris

            """))
        #expect(machine.methods == ["server.status"])
    }

    @Test func isLinesForAPipe() {
        let lines = Machine(results: result).run("status").output.split(separator: "\n")
        #expect(lines.first == "state\tdegraded")
        #expect(lines.contains("source.facts.items\t120"))
    }

    @Test func isTheResultAsJSON() {
        #expect(Machine(results: result).run("status", "--json") == Outcome(output: result + "\n"))
    }

    // MARK: Figures

    private let figures = ##"{"text":"# TYPE a gauge\na{b=\"c\"} 1\n# EOF\n"}"##

    @Test func figuresComeAsTheyAreToAPipeAndToATerminal() {
        let expected = Outcome(output: "# TYPE a gauge\na{b=\"c\"} 1\n# EOF\n")
        let machine = Machine(results: figures)
        #expect(machine.run("status", "--metrics") == expected)
        #expect(machine.methods == ["server.metrics"])
        #expect(machine.parameters == [""])
        #expect(Machine(results: figures).onTerminal(columns: 10).run("status", "--metrics") == expected)
    }

    @Test func figuresAsJSONAreTheResult() {
        #expect(Machine(results: figures).run("status", "--metrics", "--json") == Outcome(output: figures + "\n"))
    }

    @Test func noFigureReachesATerminalRaw() {
        let hostile = #"{"text":"a\u001b]0;x\u0007b\u0085\u202e 1\n"}"#
        #expect(Machine(results: hostile).run("status", "--metrics").output == "ab 1\n")
    }

    @Test func anOlderDaemonHasNoFigures() {
        let outcome = Machine(error: .unknownMethod("server.metrics")).run("status", "--metrics")
        #expect(outcome.status == .unavailable)
        #expect(outcome.output.isEmpty)
    }
}
