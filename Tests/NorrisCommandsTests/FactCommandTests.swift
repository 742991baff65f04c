import NorrisClient
@testable import NorrisCommands
import NorrisProtocol
import NorrisTerminal
import NorrisTestSupport
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

    @Test func saysWhatToTryWhenNothingMatches() {
        let empty = #"{"items":[],"freshness":{"origin":"none","state":"empty","error":null}}"#
        #expect(Machine(results: empty).run("fact") == .failed(
            .nothing, "No fact matches; try other categories (norrisctl categories) or a larger --max-length."
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

struct CategoriesCommandTests {
    private let result = #"{"items":[{"name":"animal","count":9},{"name":"dev","count":31}],"freshness":\#(fresh)}"#

    @Test func printsNamesAndCounts() {
        let machine = Machine(results: result)
        #expect(machine.run("categories") == Outcome(output: "animal\t9\ndev\t31\n"))
        #expect(machine.methods == ["fact.categories"])
        #expect(Machine(results: result).onTerminal().run("categories").output == "animal   9\ndev     31\n")
        #expect(Machine(results: result).onTerminal().run("categories", "--plain").output == "animal\t9\ndev\t31\n")
        #expect(Machine(results: result).run("categories", "--json").output == result + "\n")
    }

    @Test func saysWhyThereAreNone() {
        let empty = #"{"items":[],"freshness":{"origin":"none","state":"empty","error":null}}"#
        #expect(Machine(results: empty).run("categories") == Outcome(
            errors: "norrisctl: No categories: there are no facts yet; norrisctl status says why.\n", status: .nothing
        ))
    }
}

struct PromptCommandTests {
    @Test func asksOnceAndPrintsOneLine() {
        let machine = Machine(results: page(fact("a", "First.\\nSecond.")))
        #expect(machine.run("prompt") == Outcome(output: "First. Second.\n"))
        #expect(machine.methods == ["fact.random"])
        #expect(machine.parameters == [#"{"max_length":80}"#])
        #expect(machine.timeouts == [.milliseconds(50)])
    }

    @Test(arguments: [["--max-length", "20", "--timeout", "1s"], ["--max-length=20", "--timeout=1s"]])
    func takesALengthAndATime(arguments: [String]) {
        let machine = Machine(results: page(fact("a", "Short.")))
        #expect(machine.run(["prompt"] + arguments) == Outcome(output: "Short.\n"))
        #expect(machine.parameters == [#"{"max_length":20}"#])
        #expect(machine.timeouts == [.seconds(1)])
    }

    @Test func leavesOutWhatAShellGivesAMeaning() {
        let machine = Machine(results: page(fact("a", #"`id` $(touch X) \\w %n !! \u001b[31mred\u202e"#)))
        #expect(machine.run("prompt").output == "id (touch X) w n  red\n")
    }

    @Test func addsNoColourToATerminal() {
        let machine = Machine(results: page(fact("a", String(repeating: "long ", count: 16))))
        machine.terminal.isTerminal = true
        machine.environment["CLICOLOR_FORCE"] = "1"
        machine.terminal.columns = 40
        #expect(machine.run("prompt").output == String(repeating: "long ", count: 16).dropLast() + "\n")
    }

    @Test func printsTheResultAsJSON() {
        let result = page(fact("a", "x"))
        #expect(Machine(results: result).run("prompt", "--json").output == result + "\n")
    }

    @Test(arguments: [
        ClientError.noSocket(paths: ["/run/norrisd.sock"]), .refused(path: "/s"), .notPermitted(path: "/s"),
        .notASocket(path: "/s"), .timedOut(path: "/s"), .closed(path: "/s"), .malformedReply(path: "/s", detail: ""),
    ])
    func saysNothingWhereTheDaemonIsAway(error: ClientError) {
        #expect(Machine(failure: error).run("prompt") == Outcome())
        #expect(Machine(failure: error).run("prompt", "--json", "--timeout=1s") == Outcome())
    }

    @Test func saysNothingWhereTheDaemonHasNothing() {
        #expect(Machine(error: .busy("Too many.")).run("prompt") == Outcome())
        #expect(Machine(results: #"{"items":[],"freshness":\#(builtin)}"#).run("prompt") == Outcome())
        #expect(Machine(results: page(fact("a", "$%"))).run("prompt") == Outcome())
        // More than was asked for.
        #expect(Machine(results: page(fact("a", String(repeating: "x", count: 81)))).run("prompt") == Outcome())
        #expect(Machine(results: "17").run("prompt") == Outcome())
    }

    @Test func readsRepliesOf64KiBAndNoMore() {
        let reply = Array(Machine.result(page(fact("a", "x"))).utf8)
        let longest = reply + [UInt8](repeating: UInt8(ascii: " "), count: 65_536 - reply.count)
        let tooLong = longest + [UInt8(ascii: " ")]
        for command in [["prompt"], ["prompt", "--json", "--timeout=1s"]] {
            #expect(Machine([.success(longest)]).run(command).output.hasSuffix("\n"))
            #expect(Machine([.success(tooLong)]).run(command) == Outcome())
        }
        #expect(Machine([.success(tooLong)]).run("fact").status == .done)
    }

    @Test(arguments: [
        ["prompt", "--bogus"], ["prompt", "x"], ["prompt", "--max-length", "0"], ["--json", "prompt", "x"],
    ])
    func aMistakeIsToldButNeverAStatus(arguments: [String]) {
        let outcome = Machine().run(arguments)
        #expect(outcome.status == .done)
        #expect(outcome.output.isEmpty)
        #expect(outcome.errors.hasSuffix("\n  norrisctl prompt --help shows what it takes.\n"))
    }

    @Test func saysNothingOfWaiting() {
        for command in [["prompt", "--timeout", "3s"], ["prompt", "--timeout=3s"]] {
            let machine = Machine(results: page(fact("a", "Late.")))
            machine.isErrorTerminal = true
            machine.delay = .seconds(2)
            #expect(machine.run(command) == Outcome(output: "Late.\n"))
        }
    }
}

/// Plain command lines are read without ArgumentParser, those with `=` never are: both must come to the same.
struct PlainCommandTests {
    private static let words = [
        "--category", "dev", "--count", "2", "101", "--max-length", "80", "--name", "Ada", "--id", "-x", "--today",
        "--explicit", "--json", "--plain", "--width", "40", "--color", "never", "red", "--timeout", "20ms", "5",
        "--cou", "--", "", "-1", "--help", "--bogus", "--socket",
    ]

    /// All that can be seen of a run.
    private struct Sight: Equatable {
        var outcome: Outcome
        var requests: [JSON]
        var sockets: [[String]]
        var timeouts: [Duration]
    }

    private func run(_ arguments: [String]) -> Sight {
        let machine = Machine(results: page(fact("a", "He divides by zero.")))
        let outcome = machine.run(arguments)
        return Sight(outcome: outcome, requests: machine.requests, sockets: machine.sockets, timeouts: machine.timeouts)
    }

    @Test(arguments: ["fact", "prompt"])
    func meanWhatArgumentParserMakesOfThem(command: String) {
        var generator = SeededGenerator(state: 5)
        var done = 0
        for _ in 0..<100 {
            let arguments = (0..<Int.random(in: 0...5, using: &generator)).compactMap { _ in
                Self.words.randomElement(using: &generator)
            }
            let plain = run([command, "--socket", "/s"] + arguments)
            #expect(plain == run([command, "--socket=/s"] + arguments), "\(arguments)")
            done += plain.outcome.status == .done && !plain.requests.isEmpty ? 1 : 0
        }
        #expect(done > 5)
    }
}
