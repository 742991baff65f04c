import NorrisClient
@testable import NorrisCommands
import NorrisProtocol
import Testing

struct SearchCommandTests {
    private let empty = #"{"items":[],"total":0,"freshness":\#(fresh)}"#

    @Test func joinsTheWordsByOneSpace() {
        let machine = Machine(results: page(fact("a", "Round house kick."), total: 1))
        #expect(machine.run("search", "round", "house") == Outcome(output: "Round house kick.\n"))
        #expect(machine.methods == ["fact.search"])
        #expect(machine.parameters == [#"{"query":"round house"}"#])
    }

    @Test func passesItsOptionsOn() {
        let machine = Machine(results: page(fact("a", "x")))
        _ = machine.run("search", "--category", "dev", "--limit", "5", "--offline", "x")
        #expect(machine.parameters == [#"{"query":"x","category":["dev"],"limit":5,"offline":true}"#])
    }

    @Test func looksForWordsThatLookLikeOptions() {
        let machine = Machine(results: page(fact("a", "x")))
        _ = machine.run("search", "--limit", "5", "--", "-x", "--json")
        #expect(machine.parameters == [#"{"query":"-x --json","limit":5}"#])
    }

    @Test func followsCursorsToAPage() {
        let machine = Machine(
            results: page(fact("a", "1"), next: "c1"), page(fact("b", "2"), next: "c2"), page(fact("c", "3"))
        )
        #expect(machine.run("search", "--page", "3", "--limit", "1", "x") == Outcome(output: "3\n"))
        #expect(machine.parameters == [
            #"{"query":"x","limit":1}"#, #"{"query":"x","limit":1,"cursor":"c1"}"#,
            #"{"query":"x","limit":1,"cursor":"c2"}"#,
        ])
    }

    @Test(arguments: [
        (["--socket", "/run/a b", "x"], "norrisctl search --socket '/run/a b' --page 2 x"),
        (["--offline", "--limit", "3", "$HOME"], "norrisctl search --limit 3 --offline --page 2 '$HOME'"),
        (["--category", "-c", "--category", "d", "x"], "norrisctl search --category -c --category d --page 2 x"),
        (["--", "-x", "y"], "norrisctl search --page 2 -- '-x y'"), (["--plain", "--no-such"], nil),
        (["a\u{1B}b"], "the same command with --page 2"),
    ] as [([String], String?)])
    func writesACommandThatFindsTheSame(arguments: [String], command: String?) {
        let machine = Machine(results: page(fact("a", "x"), next: "c")).onTerminal()
        let outcome = machine.run(["search"] + arguments)
        #expect(outcome.output.split(separator: "\n").last.map(String.init) == command.map { "  " + $0 })
    }

    @Test func countsPastAThousandAsMore() {
        let machine = Machine(results: page(fact("a", "x"), next: "c")).onTerminal()
        #expect(machine.run("search", "x").output.contains("Page 1, more than 1000 facts in all."))
    }

    @Test func printsNoFootToAPipeNorAtTheEnd() {
        #expect(Machine(results: page(fact("a", "x"), next: "c")).run("search", "x").output == "x\n")
        #expect(Machine(results: page(fact("a", "x"))).onTerminal().run("search", "x").output == "x\n#dev  a\n")
    }

    @Test func endsAtPageTen() {
        let pages = (1...10).map { page(fact("\($0)", "f\($0)"), next: "c\($0)") }
        let machine = Machine(pages.map { .success(Array(#"{"jsonrpc":"2.0","id":1,"result":\#($0)}"#.utf8)) })
        let outcome = machine.onTerminal().run("search", "--page", "10", "x")
        #expect(outcome.output == """
            f10
            #dev  10

            Page 10, more than 1000 facts in all. This is the last page that is shown;
            narrow it down to see the rest.

            """)
        #expect(machine.requests.count == 10)
    }

    @Test(arguments: ["0", "11", "-1", "two", ""])
    func refusesOtherPages(page: String) {
        let outcome = Machine().run("search", "x", "--page=\(page)")
        #expect(outcome.status == .usage)
        #expect(outcome.errors.contains("--page"))
    }

    @Test func saysWhichPageIsTheLast() {
        let pages = [page(fact("a", "1"), total: 2, next: "c"), page(fact("b", "2"), total: 2)]
        #expect(Machine(results: pages[0], pages[1]).run("search", "x", "--page", "5") == Outcome(
            errors: "norrisctl: There is no page 5; the last one: norrisctl search --page 2 x\n", status: .nothing
        ))
        #expect(Machine(results: pages[0], pages[1]).run("search", "x", "--page", "5", "--json") == Outcome(
            output: #"{"items":[],"total":2,"freshness":\#(fresh)}"# + "\n", status: .nothing
        ))
    }

    @Test func saysWhatToTryWhenNothingMatches() {
        let errors = "norrisctl: No fact contains \"kung fu\"; try a shorter text, or: norrisctl categories\n"
        #expect(Machine(results: empty).run("search", "kung", "fu") == Outcome(errors: errors, status: .nothing))
        // Without a single match there is no page to go back to.
        #expect(Machine(results: empty).run("search", "--page", "2", "kung fu").errors == errors)
        #expect(Machine(results: empty).run("search", "--json", "x") == Outcome(output: empty + "\n", status: .nothing))
    }

    @Test(arguments: [[], [""], ["", ""]] as [[String]])
    func wantsSomethingToLookFor(words: [String]) {
        let outcome = Machine(results: empty).run(["search"] + words)
        // Two empty words are a space, which can be looked for.
        #expect(outcome.status == (words.count == 2 ? .nothing : .usage))
    }

    @Test func hasOneTimeForAllPages() {
        let machine = Machine(
            results: page(fact("a", "1"), next: "c1"), page(fact("b", "2"), next: "c2"), page(fact("c", "3"))
        )
        machine.delay = .seconds(2)
        _ = machine.run("search", "--page", "3", "x", "--timeout", "1m")
        #expect(machine.timeouts == [.seconds(60), .seconds(58), .seconds(56)])
    }
}

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
}
