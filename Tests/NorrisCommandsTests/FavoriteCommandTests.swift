import NorrisClient
@testable import NorrisCommands
import NorrisProtocol
import Testing

struct FavoriteCommandTests {
    private func favorite(_ kind: String, _ id: String, _ title: String) -> String {
        #"{"kind":"\#(kind)","id":"\#(id)","title":"\#(title)","added_at":"2026-11-21T10:00:00Z"}"#
    }

    // MARK: add

    @Test func keepsAnItemAndSaysItsTitle() {
        let machine = Machine(results: #"{"added":true}"#, #"{"items":[\#(favorite("fact", "a", "He counts."))]}"#)
        #expect(machine.run("favorite", "add", "fact", "a") == Outcome(output: "kept: He counts. (a)\n"))
        #expect(machine.methods == ["favorite.add", "favorite.list"])
        #expect(machine.parameters == [#"{"kind":"fact","id":"a"}"#, #"{"kind":"fact","limit":1}"#])
    }

    @Test func keepsTheLastOneThatWasShown() {
        let newest = #"{"items":[\#(favorite("gif", "-g", "Cat"))]}"#
        let machine = Machine(results: #"{"id":"-g"}"#, #"{"added":true}"#, newest)
        #expect(machine.run("favorite", "add", "gifs") == Outcome(output: "kept: Cat (-g)\n"))
        #expect(machine.methods == ["recent.served", "favorite.add", "favorite.list"])
        #expect(machine.parameters.prefix(2) == [#"{"kind":"gif"}"#, #"{"kind":"gif","id":"-g"}"#])
    }

    @Test func saysTheIdWhereTheTitleCannotBeHad() {
        let other = Machine(results: #"{"added":true}"#, #"{"items":[\#(favorite("fact", "b", "Another."))]}"#)
        #expect(other.run("favorite", "add", "fact", "a") == Outcome(output: "kept: a\n"))
        let untitled = Machine(results: #"{"added":true}"#, #"{"items":[\#(favorite("fact", "a", ""))]}"#)
        #expect(untitled.run("favorite", "add", "fact", "a") == Outcome(output: "kept: a\n"))
        let broken = Machine([
            .success(Array(Machine.result(#"{"added":true}"#).utf8)), .failure(.timedOut(path: "/s")),
        ])
        #expect(broken.run("favorite", "add", "fact", "a") == Outcome(output: "kept: a\n"))
    }

    @Test func isDoneWhereItWasKeptAlready() {
        let result = #"{"added":false}"#
        #expect(Machine(results: result).run("favorite", "add", "post", "t:1") == Outcome(
            output: "was kept already: t:1\n"
        ))
        #expect(Machine(results: result).run("favorite", "add", "post", "t:1", "--json") == Outcome(
            output: result + "\n"
        ))
    }

    @Test(arguments: [(["--", "-x"], "-x"), (["--", "--json"], "--json"), (["x=y"], "x=y")])
    func takesIdsThatLookLikeOptions(arguments: [String], id: String) {
        for verb in ["add", "remove"] {
            let machine = Machine(results: #"{"added":false,"removed":true}"#)
            #expect(machine.run(["favorite", verb, "fact"] + arguments).status == .done)
            #expect(machine.parameters == [#"{"kind":"fact","id":"\#(id)"}"#])
        }
    }

    @Test(arguments: ["add", "remove"])
    func wantsAnIdWhereNothingWasShown(verb: String) {
        let error = ResponseError.notFound("There is none.", hint: "Daemon's hint.")
        #expect(Machine(error: error).run("favorite", verb, "gif") == Outcome(
            errors: """
                norrisctl: norrisd has not given you a gif since it started.
                  Name one: norrisctl favorite \(verb) gif ID

                """,
            status: .nothing
        ))
        #expect(Machine(error: error).run("favorite", verb, "gif", "--json").errors == error.jsonText + "\n")
        #expect(Machine(error: .shuttingDown).run("favorite", verb, "gif").status == .temporary)
    }

    @Test func saysWhyAnItemIsNotKept() {
        let error = ResponseError.notFound("There is no fact \"x\".")
        #expect(Machine(error: error).run("favorite", "add", "fact", "x") == Outcome(
            errors: "norrisctl: There is no fact \"x\".\n", status: .nothing
        ))
        let full = ResponseError.storage("The disk is full.")
        #expect(Machine(error: full).run("favorite", "add", "fact", "x").status == .inputOutput)
    }

    @Test func saysThatExplicitFactsAreNotKept() {
        let error = ResponseError.notFound("The fact \"x\" is explicit.", hint: "fact.random has allow_explicit.")
        #expect(Machine(error: error).run("favorite", "add", "fact", "x") == Outcome(
            errors: "norrisctl: The fact \"x\" is explicit.\n  Explicit facts cannot be kept.\n", status: .nothing
        ))
        let unknown = ResponseError.notFound("There is no fact with the id \" is explicit.\".")
        #expect(!Machine(error: unknown).run("favorite", "add", "fact", " is explicit.").errors.contains("be kept"))
    }

    // MARK: remove

    @Test func letsGoOfAnItem() {
        let machine = Machine(results: #"{"removed":true}"#)
        #expect(machine.run("favorite", "remove", "gif", "a") == Outcome(output: "removed: a\n"))
        #expect(machine.methods == ["favorite.remove"])
    }

    @Test func endsWithOneWhereItWasNotKept() {
        let result = #"{"removed":false}"#
        #expect(Machine(results: result).run("favorite", "remove", "gif", "a") == Outcome(
            errors: """
                norrisctl: You do not keep a gif of the id "a".
                  norrisctl favorite list --kind gif lists those you do.

                """,
            status: .nothing
        ))
        #expect(Machine(results: result).run("favorite", "remove", "gif", "a", "--json") == Outcome(
            output: result + "\n", status: .nothing
        ))
    }

    // MARK: list

    @Test func listsWhatIsKept() {
        let items = [favorite("fact", "a", "He counts."), favorite("post", "t:1", "News")]
        let result = #"{"items":[\#(items.joined(separator: ","))],"total":7,"next":"c"}"#
        let terminal = Machine(results: result).onTerminal()
        #expect(terminal.run("favorite", "list", "--limit", "2", "--socket", "/s") == Outcome(output: """
            He counts.
            fact  2 hours ago  a

            News
            post  2 hours ago  t:1

            Page 1, 7 favourites in all. The next page:
              norrisctl favorite list --socket /s --limit 2 --page 2

            """))
        let machine = Machine(results: result, #"{"items":[\#(items[0])]}"#)
        #expect(machine.run("favorite", "list", "--kind", "facts", "--page", "2") == Outcome(
            output: "fact\ta\t2026-11-21T10:00:00Z\tHe counts.\n"
        ))
        #expect(machine.parameters == [#"{"kind":"fact"}"#, #"{"kind":"fact","cursor":"c"}"#])
        #expect(Machine(results: result).run("favorite", "list", "--json") == Outcome(output: result + "\n"))
    }

    @Test func saysWhoPowersTheGifsBesideWhatGoesToAPipe() {
        let result = #"{"items":[\#(favorite("fact", "a", "F")),\#(favorite("gif", "g", "Cat"))]}"#
        #expect(Machine(results: result).run("favorite", "list") == Outcome(
            output: "fact\ta\t2026-11-21T10:00:00Z\tF\ngif\tg\t2026-11-21T10:00:00Z\tCat\n",
            errors: "Powered by GIPHY\n"
        ))
        let terminal = Machine(results: result).onTerminal().run("favorite", "list")
        #expect(terminal.errors.isEmpty)
        #expect(terminal.output.hasSuffix("\nPowered by GIPHY\n"))
        #expect(Machine(results: result).run("favorite", "list", "--json") == Outcome(output: result + "\n"))
        let without = #"{"items":[\#(favorite("fact", "a", "F"))]}"#
        #expect(Machine(results: without).run("favorite", "list").errors.isEmpty)
    }

    @Test(arguments: [
        ([], "You keep no favourites yet; keep the last fact you were shown: norrisctl favorite add fact"),
        (["--kind", "gif"], "You keep no gifs yet; keep the last gif you were shown: norrisctl favorite add gif"),
    ])
    func saysHowToBegin(arguments: [String], message: String) {
        #expect(Machine(results: #"{"items":[]}"#).run(["favorite", "list"] + arguments) == Outcome(
            errors: "norrisctl: \(message)\n", status: .nothing
        ))
    }

    // MARK: the group

    @Test(arguments: [
        ["favorite", "list", "--json", "--timeout", "2s", "--socket", "/s"],
        ["--socket", "/s", "favorite", "--timeout=2s", "list", "--json"],
        ["--json", "--socket=/s", "--timeout", "2s", "favorite", "list"],
    ])
    func takesTheCommonOptionsEverywhere(arguments: [String]) {
        let machine = Machine(results: #"{"items":[]}"#)
        #expect(machine.run(arguments).output == "{\"items\":[]}\n")
        #expect(machine.sockets == [["/s"]])
        #expect(machine.timeouts == [.seconds(2)])
    }

    @Test func wantsASecondWord() {
        #expect(Machine().run("favorite", "--json") == Outcome(
            errors: """
                norrisctl: favorite needs a word behind it: add, remove, list, export or import.
                  norrisctl favorite --help shows what they do.

                """,
            status: .usage
        ))
        #expect(Machine().run("favorite", "lsit") == Outcome(
            errors: """
                norrisctl: There is no command "favorite lsit".
                  Did you mean: norrisctl favorite list

                """,
            status: .usage
        ))
        let hint = "\n  norrisctl favorite --help lists them.\n"
        #expect(Machine().run("help", "favorite", "banana").errors.hasSuffix(hint))
    }

    @Test(arguments: ["add", "remove", "list", "export", "import"])
    func helpsWithEachOfThem(verb: String) {
        let outcome = Machine().run("favorite", verb, "--help")
        #expect(outcome.status == .done)
        #expect(outcome.output.contains("\nExamples:\n  "))
        #expect(outcome.output.contains("USAGE: norrisctl favorite \(verb)"))
        #expect(outcome.output.contains("\n  --socket <path> "))
        #expect(Machine().run("help", "favorite", verb) == outcome)
        #expect(Machine().run("--help", "favorite", verb) == outcome)
        #expect(Machine().run("favorite", "--help").output.contains("\n  \(verb) "))
        #expect(Machine().run("favorite", verb, "--bogus").errors.hasSuffix(
            "\n  norrisctl favorite \(verb) --help shows what it takes.\n"
        ))
    }
}
