import NorrisCommands
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
}
