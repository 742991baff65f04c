import NorrisClient
@testable import NorrisCommands
import NorrisProtocol
import Testing

struct GifCommandTests {
    private let line = "a\tCat GIF\thttps://media.example/a.gif\tPowered by GIPHY\n"

    @Test func showsWhatIsTrendingByDefault() {
        for arguments in [["gif"], ["gif", "--trending"]] {
            let machine = Machine(results: page(gif("a")))
            #expect(machine.run(arguments) == Outcome(output: line))
            #expect(machine.methods == ["gif.trending"])
            #expect(machine.parameters == ["{}"])
        }
    }

    @Test func searchesForTheWordsAsOneText() {
        let machine = Machine(results: page(gif("a")))
        #expect(machine.run("gif", "round", "house", "--limit", "50", "--offline") == Outcome(output: line))
        #expect(machine.methods == ["gif.search"])
        #expect(machine.parameters == [#"{"query":"round house","limit":50,"offline":true}"#])
    }

    @Test(arguments: [(["--random"], "{}"), (["--random", "big", "cat"], #"{"tag":"big cat"}"#)])
    func givesAnyOne(arguments: [String], parameters: String) {
        let machine = Machine(results: #"{"gif":\#(gif("a")),"freshness":\#(fresh)}"#)
        #expect(machine.run(["gif"] + arguments) == Outcome(output: line))
        #expect(machine.methods == ["gif.random"])
        #expect(machine.parameters == [parameters])
    }

    @Test(arguments: [["--id", "-x"], ["--id=-x"]])
    func givesTheOneOfAnId(arguments: [String]) {
        let machine = Machine(results: #"{"gif":\#(gif("a"))}"#)
        #expect(machine.run(["gif"] + arguments) == Outcome(output: line))
        #expect(machine.methods == ["gif.get"])
        #expect(machine.parameters == [#"{"id":"-x"}"#])
    }

    @Test func isAScreenOnATerminal() {
        let machine = Machine(results: page(gif("a"), gif("b", "It's a dog"), total: 60, next: "c")).onTerminal()
        #expect(machine.run("gif", "it's", "cats", "--limit", "2") == Outcome(output: """
            Cat GIF
            480×229 · g
            https://media.example/a.gif
            a

            It's a dog
            480×229 · g
            https://media.example/b.gif
            b

            Powered by GIPHY

            Page 1, 60 GIFs in all. The next page:
              norrisctl gif --limit 2 --page 2 'it'\\''s cats'

            """))
    }

    @Test(arguments: [
        ([], "norrisctl gif --trending --page 2"),
        (["--socket", "/s", "--offline", "--", "-x"], "norrisctl gif --socket /s --offline --page 2 -- -x"),
        (["cats", "--rendition", "hd"], "norrisctl gif --rendition hd --page 2 cats"),
    ])
    func writesTheCommandOfTheNextPage(arguments: [String], command: String) {
        let outcome = Machine(results: page(gif("a"), next: "c")).onTerminal().run(["gif"] + arguments)
        #expect(outcome.output.hasSuffix("\n  \(command)\n"))
    }

    @Test func followsCursorsToAPage() {
        let machine = Machine(results: page(gif("a"), next: "c1"), page(gif("b")))
        #expect(machine.run("gif", "--page", "2", "--url") == Outcome(
            output: "https://media.example/b.gif\n", errors: "Powered by GIPHY\n"
        ))
        #expect(machine.parameters == ["{}", #"{"cursor":"c1"}"#])
        #expect(Machine(results: page(gif("a"))).run("gif", "x", "--page", "3", "--url") == Outcome(
            errors: "norrisctl: There is no page 3; the last one: norrisctl gif --url --page 1 x\n", status: .nothing
        ))
    }

    @Test(arguments: [
        (["gif", "x"], "norrisctl gif --page 2 x"), (["gif"], "norrisctl gif --trending --page 2"),
    ])
    func leavesOutHowManyThereAreWhereNobodyKnows(arguments: [String], command: String) {
        let machine = Machine(results: page(gif("a"), next: "c")).onTerminal()
        #expect(machine.run(arguments).output.hasSuffix("\n\nPage 1. The next page:\n  \(command)\n"))
    }

    @Test func tellsAnEmptyLaterPageFromNothingAtAll() {
        let empty = #"{"items":[],"freshness":\#(fresh)}"#
        let outcome = Outcome(
            errors: "norrisctl: There is no page 3; the last one: norrisctl gif --page 1 x\n", status: .nothing
        )
        for results in [[empty], [#"{"items":[],"next":"c2","freshness":\#(fresh)}"#, empty]] {
            let pages = [page(gif("a"), next: "c1")] + results
            let machine = Machine(pages.map { .success(Array(Machine.result($0).utf8)) })
            #expect(machine.run("gif", "x", "--page", "3") == outcome)
        }
    }

    @Test func passesOverAnEmptyPageBeforeOneWithItems() {
        let empty = #"{"items":[],"next":"c","freshness":\#(fresh)}"#
        #expect(Machine(results: empty, page(gif("a"))).run("gif", "x", "--page", "2") == Outcome(output: line))
    }

    @Test func printsAddressesAloneAndSaysTheRestBesides() {
        let result = page(gif("a"), gif("b"), next: "c")
        for machine in [Machine(results: result).onTerminal(columns: 20), Machine(results: result)] {
            #expect(machine.run("gif", "cats", "--url", "--color", "always") == Outcome(
                output: "https://media.example/a.gif\nhttps://media.example/b.gif\n", errors: "Powered by GIPHY\n"
            ))
        }
    }

    @Test func printsPicturesForMarkdown() {
        let machine = Machine(results: #"{"gif":\#(gif("a", "[Big] cat")),"freshness":\#(fresh)}"#).onTerminal()
        #expect(machine.run("gif", "--random", "--markdown") == Outcome(
            output: "![\\[Big\\] cat](https://media.example/a.gif)\n", errors: "Powered by GIPHY\n"
        ))
    }

    @Test func printsTheRenditionThatWasNamed() {
        #expect(Machine(results: page(gif("a"))).run("gif", "--rendition", "hd").output
            == "a\tCat GIF\thttps://media.example/a.mp4\tPowered by GIPHY\n")
        #expect(Machine(results: page(gif("a"))).run("gif", "--rendition", "hd", "--url").output
            == "https://media.example/a.mp4\n")
    }

    @Test func leavesOutThoseWithoutTheRendition() {
        let result = page(gif("a"), gif("b", renditions: "{}"), gif("c"))
        #expect(Machine(results: result).run("gif", "--rendition", "hd", "--url") == Outcome(
            output: "https://media.example/a.mp4\nhttps://media.example/c.mp4\n",
            errors: """
                norrisctl: GIF b has no rendition "hd"; it has: none that can be shown
                Powered by GIPHY

                """
        ))
    }

    @Test(arguments: [[], ["--url"], ["--markdown"]])
    func endsWithOneWhereNoneHasTheRendition(form: [String]) {
        let five = page(gif("a"), gif("b"), gif("c"), gif("d"), gif("e"))
        #expect(Machine(results: five).run(["gif", "--rendition", "fixed"] + form) == Outcome(
            errors: "norrisctl: 5 GIFs (a, b, c and others) have no rendition \"fixed\"; they have: hd, original\n",
            status: .nothing
        ))
        let one = #"{"gif":\#(gif("a"))}"#
        #expect(Machine(results: one).run(["gif", "--id", "a", "--rendition", "fixed"] + form) == Outcome(
            errors: "norrisctl: GIF a has no rendition \"fixed\"; it has: hd, original\n", status: .nothing
        ))
    }

    @Test func leavesOutAddressesThatCannotBePrinted() {
        let result = page(
            gif("a", renditions: #"{"original":{"url":"https://e.org/a b"}}"#),
            gif("b", renditions: #"{"original":{"url":"file:///etc/passwd"}}"#), gif("c")
        )
        #expect(Machine(results: result).run("gif", "--url") == Outcome(
            output: "https://media.example/c.gif\n",
            errors: "norrisctl: 2 GIFs (a, b) have no address that can be printed.\nPowered by GIPHY\n"
        ))
        #expect(Machine(results: result).run("gif", "--rendition", "original", "--url").errors
            == "norrisctl: 2 GIFs (a, b) have no address that can be printed.\nPowered by GIPHY\n")
        // Without an address there is still something to show.
        #expect(Machine(results: result).run("gif").output.hasPrefix("a\tCat GIF\t-\tPowered by GIPHY\n"))
    }

    @Test func passesTheResultOnAsJSON() {
        let result = page(gif("a"), total: 1)
        for extra in [[], ["--url"], ["--rendition", "none"]] {
            let machine = Machine(results: result).onTerminal()
            #expect(machine.run(["gif", "--json"] + extra) == Outcome(output: result + "\n"))
        }
    }

    @Test(arguments: [
        (["gif", "kung", "fu"], "No GIF answers \"kung fu\"; try other words, or: norrisctl gif --trending"),
        (["gif", "x", "--offline"], "No GIF that is stored answers \"x\"; leave out --offline to ask Giphy."),
        (["gif"], "No GIFs are stored yet; fetch some: norrisctl refresh gifs --wait"),
    ])
    func saysWhatToTryWhenNothingMatches(arguments: [String], message: String) {
        let empty = #"{"items":[],"total":0,"freshness":\#(fresh)}"#
        #expect(Machine(results: empty).run(arguments) == Outcome(errors: "norrisctl: \(message)\n", status: .nothing))
        #expect(Machine(results: empty).run(arguments + ["--json"]) == Outcome(output: empty + "\n", status: .nothing))
    }

    @Test(arguments: [
        (["--random", "x"], "Try other words, or: norrisctl gif --random"),
        (["--id", "x"], "norrisctl gif shows the id of each GIF in its last line."),
    ])
    func saysWhatToTryWhenThereIsNoSuchGif(arguments: [String], hint: String) {
        let error = ResponseError.notFound("There is no such GIF.", hint: "gif.search finds others.")
        #expect(Machine(error: error).run(["gif"] + arguments) == Outcome(
            errors: "norrisctl: There is no such GIF.\n  \(hint)\n", status: .nothing
        ))
    }
}
