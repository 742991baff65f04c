@testable import NorrisCommands
import NorrisProtocol
import Testing

struct RecentCommandTests {
    private let list = """
        {"items":[{"kind":"fact","query":"round house","at":"2026-11-21T11:59:50Z"},\
        {"kind":"fact","query":"--json","at":"2026-11-21T09:00:00Z"},\
        {"kind":"gif","query":"kick","at":"2026-11-19T12:00:00Z"}]}
        """

    @Test func listsThemWithTheirNumbers() {
        let machine = Machine(results: list).onTerminal()
        #expect(machine.run("recent") == Outcome(output: """
            1  fact  just now     round house
            2  fact  3 hours ago  --json
            3  gif   2 days ago   kick

            """))
        #expect(machine.methods == ["recent.list"])
        #expect(Machine(results: list).run("recent").output.split(separator: "\n").first
            == "1\tround house\tfact\t2026-11-21T11:59:50Z")
        #expect(Machine(results: list).run("recent", "--json") == Outcome(output: list + "\n"))
    }

    @Test("Running one again is the search with its text", arguments: [(1, "round house"), (2, "--json")])
    func runsOneAgain(number: Int, query: String) {
        let machine = Machine(results: list, page(fact("a", "It's round."), total: 312, next: "c")).onTerminal()
        let outcome = machine.run("recent", "\(number)", "--socket", "/s")
        #expect(machine.methods == ["recent.list", "fact.search"])
        #expect(machine.parameters.last == #"{"query":"\#(query)"}"#)
        #expect(machine.sockets == [["/s"], ["/s"]])
        let search = Machine(results: page(fact("a", "It's round."), total: 312, next: "c")).onTerminal()
        #expect(outcome == search.run("search", "--socket", "/s", "--", query))
    }

    @Test func runsASearchForGifsAgain() {
        let machine = Machine(results: list, page(gif("a"), total: 60, next: "c")).onTerminal()
        let outcome = machine.run("recent", "3", "--socket", "/s")
        #expect(machine.methods == ["recent.list", "gif.search"])
        #expect(machine.parameters.last == #"{"query":"kick"}"#)
        let search = Machine(results: page(gif("a"), total: 60, next: "c")).onTerminal()
        #expect(outcome == search.run("gif", "kick", "--socket", "/s"))
    }

    @Test(arguments: ["0", "4", "99"])
    func saysWhichThereAre(number: String) {
        #expect(Machine(results: list).run("recent", number) == Outcome(
            errors: "norrisctl: There is no search \(number).\n  norrisctl recent lists 3.\n", status: .nothing
        ))
    }

    @Test func doesNotRunASearchOfAnotherKind() {
        let list = #"{"items":[{"kind":"film","query":"kick","at":"2026-11-19T12:00:00Z"}]}"#
        let outcome = Machine(results: list).run("recent", "1")
        #expect(outcome.status == .unavailable)
        #expect(outcome.errors == """
            norrisctl: This norrisctl searches facts and GIFs only, and that was a search for films.
              Update norrisctl.

            """)
    }

    @Test(arguments: [["recent"], ["recent", "1"]])
    func saysThatThereAreNone(arguments: [String]) {
        #expect(Machine(results: #"{"items":[]}"#).run(arguments) == Outcome(
            errors: "norrisctl: nothing searched yet\n", status: .nothing
        ))
    }

    @Test func forgetsThem() {
        let machine = Machine(results: #"{"removed":3}"#)
        #expect(machine.run("recent", "--clear") == Outcome(output: "removed 3 searches\n"))
        #expect(machine.methods == ["recent.clear"])
        #expect(Machine(results: #"{"removed":1}"#).run("recent", "--clear").output == "removed 1 search\n")
        let none = #"{"removed":0}"#
        #expect(Machine(results: none).run("recent", "--clear", "--json") == Outcome(output: none + "\n"))
    }

    @Test func anOlderDaemonDoesNotKnowThem() {
        #expect(Machine(error: .unknownMethod("recent.list")).run("recent").status == .unavailable)
    }
}
