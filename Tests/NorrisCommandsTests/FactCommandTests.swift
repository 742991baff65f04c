@testable import NorrisCommands
import NorrisProtocol
import NorrisTerminal
import Testing

struct FactCommandTests {
    private let one = page(fact("-x_1", "He divides by zero."))
    private let two = page(fact("a", "First."), fact("b", "Second,\\nin two lines.", tags: ""))

    @Test func asksForTheNextFact() {
        let machine = Machine(results: one)
        #expect(machine.run("fact") == Outcome(output: "He divides by zero.\n"))
        #expect(machine.requests == [["jsonrpc": "2.0", "id": 1, "method": "fact.random", "params": [:]]])
    }

    @Test func passesItsOptionsOn() {
        let machine = Machine(results: two)
        _ = machine.run(
            "fact", "--category", "dev", "--category", "-odd", "--count", "2", "--max-length", "100", "--name", "-Bob",
            "--explicit"
        )
        #expect(machine.parameters == [
            #"{"category":["dev","-odd"],"count":2,"max_length":100,"name":"-Bob","allow_explicit":true}"#
        ])
    }

    @Test func showsTheFactOfTheDay() {
        let machine = Machine(results: #"{"fact":\#(fact("a", "Today's.")),"freshness":\#(builtin)}"#)
        #expect(machine.run("fact", "--today") == Outcome(output: "Today's.\n"))
        #expect(machine.methods == ["fact.today"])
    }

    @Test(arguments: [["--id", "-x"], ["--id=-x"]])
    func showsTheFactOfAnId(arguments: [String]) {
        let machine = Machine(results: #"{"fact":\#(fact("-x", "That one."))}"#)
        #expect(machine.run(["fact"] + arguments) == Outcome(output: "That one.\n"))
        #expect(machine.methods == ["fact.get"])
        #expect(machine.parameters == [#"{"id":"-x"}"#])
    }

    @Test func wrapsForATerminalAndShowsIdsAndTags() {
        let machine = Machine(results: two).onTerminal(columns: 12)
        #expect(machine.run("fact", "--count", "2").output == """
            First.
            #dev  a

            Second,
            in two
            lines.
            b

            """)
    }

    @Test func linksAndDimsInColour() {
        let machine = Machine(results: one)
        machine.terminal = TerminalFacts(isTerminal: true, columns: 80)
        machine.environment["TERM"] = "xterm"
        #expect(machine.run("fact").output == """
            He divides by zero.
            \u{1B}[2m#dev\u{1B}[0m  \u{1B}]8;;https://example.org/-x_1\u{1B}\\\u{1B}[2m-x_1\u{1B}[0m\u{1B}]8;;\u{1B}\\

            """)
    }

    @Test func passesTheResultOnAsJSON() {
        let item = #"{"id":"a","text":"é\u009b","categories":[],"source":"s","new":1.5}"#
        let result = #"{"items":[\#(item)],"freshness":\#(offline)}"#
        let machine = Machine(results: result).onTerminal()
        // As it came, members that this norrisctl does not know included, with no byte that a terminal obeys.
        #expect(machine.run("fact", "--json") == Outcome(output: result + "\n"))
    }

    @Test func warnsOfAFailingSourceAndShowsWhatThereIs() {
        let machine = Machine(results: page(fact("a", "Stored."), freshness: offline))
        #expect(machine.run("fact") == Outcome(
            output: "Stored.\n",
            errors: """
                norrisctl: facts: offline for 3 hours (There is no route to api.chucknorris.io); showing what is \
                stored

                """
        ))
    }

    @Test func doesNotWarnOfTheStartingCollection() {
        let machine = Machine(results: page(fact("a", "Built in."), freshness: builtin))
        #expect(machine.run("fact") == Outcome(output: "Built in.\n"))
    }

    @Test func saysWhatToTryWhenNothingMatches() {
        let empty = #"{"items":[],"freshness":{"origin":"none","state":"empty","error":null}}"#
        #expect(Machine(results: empty).run("fact") == Outcome(
            errors: """
                norrisctl: No fact matches; try other categories (norrisctl categories) or a larger --max-length.

                """,
            status: .nothing
        ))
        #expect(Machine(results: empty).run("fact", "--json") == Outcome(output: empty + "\n", status: .nothing))
    }

    @Test func saysInItsOwnWordsHowToGetAtCategories() {
        let error = ResponseError.notFound("There is no category \"x\".", hint: "fact.categories lists them.")
        #expect(Machine(error: error).run("fact", "--category", "x") == Outcome(
            errors: "norrisctl: There is no category \"x\".\n  norrisctl categories lists those there are.\n",
            status: .nothing
        ))
        #expect(Machine(error: error).run("fact", "--category", "explicit").errors.hasSuffix(
            "\n  norrisctl fact --explicit shows explicit facts as well.\n"
        ))
        #expect(Machine(error: error).run("fact", "--id", "x").errors.hasSuffix("\n  fact.categories lists them.\n"))
    }
}
