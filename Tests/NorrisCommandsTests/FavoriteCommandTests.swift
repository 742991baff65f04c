import NorrisClient
@testable import NorrisCommands
import NorrisProtocol
import NorrisTerminal
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
        #expect(Machine(error: error).run("favorite", verb, "gif") == .failed(
            .nothing, "norrisd has not given you a gif since it started.", "Name one: norrisctl favorite \(verb) gif ID"
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
        #expect(Machine(results: result).run("favorite", "remove", "gif", "a") == .failed(
            .nothing, "You do not keep a gif of the id \"a\".", "norrisctl favorite list --kind gif lists those you do."
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

    @Test func wantsASecondWord() {
        #expect(Machine().run("favorite", "--json") == .failed(
            .usage, "favorite needs a word behind it: add, remove, list, export or import.",
            "norrisctl favorite --help shows what they do."
        ))
        #expect(Machine().run("favorite", "lsit") == .failed(
            .usage, "There is no command \"favorite lsit\".", "Did you mean: norrisctl favorite list"
        ))
        let hint = "\n  norrisctl favorite --help lists them.\n"
        #expect(Machine().run("help", "favorite", "banana").errors.hasSuffix(hint))
    }
}

struct FavoriteExportTests {
    private let fact = """
        {"kind":"fact","id":"a","title":"T","added_at":"2026-11-21T10:00:00Z","new":{"x":1.5},\
        "fact":{"id":"a","text":"T\\u202e","categories":[],"source":"s"}}
        """
    private let post = #"{"kind":"post","id":"t:1","title":"P","added_at":"2026-11-20T10:00:00Z"}"#
    private let cat = #"{"kind":"gif","id":"g","title":"Cat","added_at":"2026-11-19T10:00:00Z""#

    @Test func printsAllPagesAsTheyCome() {
        let pages = [#"{"items":[\#(fact),\#(post)],"next":"c"}"#, #"{"items":[\#(cat)}]}"#]
        let machine = Machine(results: pages[0], pages[1]).onTerminal()
        #expect(machine.run("favorite", "export") == Outcome(output: "\(fact)\n\(post)\n\(cat)}\n"))
        #expect(machine.methods == ["favorite.list", "favorite.list"])
        #expect(machine.parameters == [#"{"limit":100}"#, #"{"limit":100,"cursor":"c"}"#])
    }

    @Test func leavesOutWhatChangesOfAGif() {
        let machine = Machine(results: #"{"items":[\#(cat),"gif":\#(gif("g"))}]}"#)
        #expect(machine.run("favorite", "export", "--json") == Outcome(output: cat + "}\n"))
    }

    @Test func isEmptyWhereNothingIsKept() {
        #expect(Machine(results: #"{"items":[]}"#).run("favorite", "export") == Outcome())
    }

    @Test func hasMoreTimeForAllPages() {
        let pages = ["{\"items\":[],\"next\":\"c\"}", "{\"items\":[]}"]
        let machine = Machine(results: pages[0], pages[1])
        machine.delay = .seconds(3)
        _ = machine.run("favorite", "export")
        #expect(machine.timeouts == [.seconds(600), .seconds(597)])
        let hasty = Machine(results: pages[0], pages[1])
        hasty.delay = .seconds(3)
        _ = hasty.run("favorite", "export", "--timeout", "5s")
        #expect(hasty.timeouts == [.seconds(5), .seconds(2)])
    }

    @Test func saysThatItIsNotWhole() {
        let first = Machine.result(#"{"items":[\#(post)],"next":"c"}"#)
        let machine = Machine([.success(Array(first.utf8)), .failure(.timedOut(path: "/s"))])
        let outcome = machine.run("favorite", "export")
        #expect(outcome.output == post + "\n")
        #expect(outcome.status == .unavailable)
        #expect(outcome.errors.hasSuffix("\n  The export ends early, with 1 item; do not rely on it.\n"))
        #expect(!Machine(failure: .timedOut(path: "/s")).run("favorite", "export").errors.contains("ends early"))
    }

    @Test func stopsWhereNobodyReadsOrNothingCanBeWritten() {
        let result = #"{"items":[\#(post)],"next":"c"}"#
        let closed = Machine(results: result)
        closed.outputError = .closedPipe
        #expect(closed.run("favorite", "export") == Outcome())
        let full = Machine(results: result)
        full.outputError = .system(errno: 28)
        #expect(full.run("favorite", "export").status == .inputOutput)
    }
}
