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

    @Test(arguments: [(["gif", "x"], "norrisctl gif --page 2 x"), (["gif"], "norrisctl gif --trending --page 2")])
    func leavesOutHowManyThereAreWhereNobodyKnows(arguments: [String], command: String) {
        let machine = Machine(results: page(gif("a"), next: "c")).onTerminal()
        #expect(machine.run(arguments).output.hasSuffix("\n\nPage 1. The next page:\n  \(command)\n"))
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

/// What is said where the daemon has no key, or may not ask.
struct GifFailureTests {
    private static let commands = [
        ["gif"], ["gif", "cats"], ["gif", "--random"], ["gif", "--id", "x"], ["favorite", "add", "gif", "x"],
    ]

    private func error(_ kind: SourceFailure.Kind, _ message: String = "m", retryAt: String? = nil) -> ResponseError {
        let failure = SourceFailure(
            kind: kind, message: message, since: Machine.now, retryAt: retryAt.flatMap { Timestamp($0) }
        )
        return .nothingCached("There are no GIFs.", source: "gifs", lastError: failure)
    }

    @Test(arguments: commands)
    func saysHowToGetAKeyAndWhereToPutIt(arguments: [String]) {
        let error = error(.credentials, "There is no file /x/key")
        #expect(Machine(error: error).run(arguments) == .failed(
            .configuration, "There are no GIFs. There is no file /x/key.",
            "Get an API key of your own at https://developers.giphy.com, and give it to norrisd.",
            "To the system's: /etc/credstore/giphy-api-key, mode 0600, then: systemctl restart norrisd",
            "To one of your own: gifs.api_key_file in ~/.config/norrisd/config.yaml, then: norrisctl reload"
        ))
        #expect(Machine(error: error).run(arguments + ["--json"]) == Outcome(
            errors: error.jsonText + "\n", status: .configuration
        ))
    }

    @Test(arguments: [
        ("HTTP 401: Unauthorized.", "There are no GIFs. HTTP 401: Unauthorized."), ("", "There are no GIFs."),
        ("There are no GIFs", "There are no GIFs."),
    ])
    func saysOnceWhatIsWrong(detail: String, message: String) {
        let outcome = Machine(error: error(.credentials, detail)).run("gif")
        #expect(outcome.errors.hasPrefix("norrisctl: \(message)\n  Get "))
    }

    @Test(arguments: commands)
    func passesTheDaemonsHintOnWhereNothingFails(arguments: [String]) {
        var error = ResponseError.nothingCached("No GIF is stored.", source: "gifs", lastError: nil)
        error.hint = "GIFs are switched off; set gifs.enabled to true in the daemon's configuration."
        #expect(Machine(error: error).run(arguments) == .failed(
            .temporary, "No GIF is stored.",
            "GIFs are switched off; set gifs.enabled to true in the daemon's configuration."
        ))
    }

    @Test(arguments: commands)
    func saysWhatIsWrongAndWhenItIsTriedAgain(arguments: [String]) {
        #expect(Machine(error: error(.quota, retryAt: "2026-11-21T12:40:00Z")).run(arguments) == Outcome(
            errors: "norrisctl: There are no GIFs.\n  gifs: out of quota just now (m); next try in 40 minutes\n",
            status: .temporary
        ))
        #expect(Machine(error: error(.offline)).run(arguments) == Outcome(
            errors: "norrisctl: There are no GIFs.\n  gifs: offline just now (m)\n", status: .temporary
        ))
    }

    @Test(arguments: [
        (
            #"{"kind":"credentials","message":"There is no key for Giphy.","since":"2026-11-21T09:00:00Z"}"#,
            "gifs: without a valid key for 3 hours (There is no key for Giphy); showing what is stored"
        ),
        (
            #"{"kind":"quota","message":"","since":"2026-11-21T11:50:00Z","retry_at":"2026-11-21T12:40:00Z"}"#,
            "gifs: out of quota for 10 minutes; next try in 40 minutes; showing what is stored"
        ),
    ])
    func warnsInOneLineBesideWhatIsStored(error: String, warning: String) {
        let freshness = #"{"origin":"cache","state":"stale","error":\#(error)}"#
        let outcome = Machine(results: page(gif("a"), freshness: freshness)).run("gif", "cats")
        #expect(outcome.errors == "norrisctl: \(warning)\n")
        #expect(outcome.output.hasPrefix("a\t"))
        #expect(outcome.status == .done)
    }
}
