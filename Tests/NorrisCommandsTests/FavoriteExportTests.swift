import NorrisClient
@testable import NorrisCommands
import NorrisProtocol
import NorrisTerminal
import Testing

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
