import Glibc
import NorrisClient
@testable import NorrisCommands
import NorrisTerminal
import Testing

struct ShowTests {
    private let picture = Array("\u{1}PNG".utf8)
    private let card = "Cat GIF\n480×229\na\n\nPowered by GIPHY\n"
    private let gifReply = #"{"gif":\#(gif("a"))}"#

    private func machine(
        _ reply: String, curl: [SubprocessOutcome]? = nil, chafa: [SubprocessOutcome] = [.ended(status: 0)]
    ) -> Machine {
        let machine = Machine(results: reply)
        machine.terminal = TerminalFacts(isTerminal: true, columns: 90, rows: 30)
        machine.environment = ["TERM": "xterm", "LANG": "C.UTF-8"]
        machine.programs = ["curl": curl ?? [.ended(status: 0, output: picture)], "chafa": chafa]
        return machine
    }

    private func images(_ addresses: [String]) -> String {
        let images = addresses.map { #"{"url":"\#($0)"}"# }.joined(separator: ",")
        return #"{"post":\#(post("town:1", "x"))}"#.replacing(#""images":[]"#, with: #""images":[\#(images)]"#)
    }

    @Test func fetchesOverHTTPSWithBoundsAndDrawsInTheTerminal() {
        let machine = machine(gifReply)
        machine.environment["NO_COLOR"] = "1"
        #expect(machine.run("gif", "--id", "a", "--show") == Outcome(output: card))
        #expect(
            machine.runs == [
                Machine.Run(
                    program: "curl",
                    arguments: [
                        "--disable", "--silent", "--fail", "--location", "--max-redirs", "3", "--proto", "=https",
                        "--proto-redir", "=https", "--globoff", "--max-time", "20", "--max-filesize", "16777216",
                        "--url", "https://media.example/a.gif",
                    ]),
                Machine.Run(
                    program: "chafa",
                    arguments: ["--size", "90x23", "--format", "symbols", "--colors", "none", "--animate", "off", "-"],
                    input: picture),
            ])
    }

    private static let pictures: [String: Bool] = [
        "RIFF1234WEBPVP8X1234\u{2}": true, "RIFF1234WEBPVP8X1234\u{10}": false, "RIFF1234WEBPVP8 1234\u{2}": false,
        "RIFF": false, "": false, "GIF89a": true,
    ]

    @Test(arguments: pictures) func drawsWhatMovesForSomeSeconds(picture: String, moves: Bool) {
        let machine = machine(gifReply, curl: [.ended(status: 0, output: Array(picture.utf8))])
        #expect(machine.run("gif", "--id", "a", "--show").status == .done)
        #expect(machine.runs.last?.arguments == ["--size", "90x23"] + (moves ? ["--duration", "5"] : []) + ["-"])
    }

    @Test func theTimeOfTheUserIsForAllPrograms() {
        let moving = SubprocessOutcome.ended(status: 0, output: Array("GIF89a".utf8))
        let short = machine(gifReply, curl: [moving])
        short.delay = .seconds(2)
        #expect(short.run("gif", "--id", "a", "--show", "--timeout", "5s").status == .done)
        #expect(short.runs.last?.arguments.suffix(3) == ["--duration", "2", "-"])
        let machine = machine(gifReply, curl: [.timedOut])
        #expect(
            machine.run("gif", "--id", "a", "--show", "--timeout", "100ms").errors == """
                norrisctl: curl took too long and was stopped.
                  Allow more time: --timeout 1m

                """)
    }

    @Test(arguments: [
        (TerminalFacts(isTerminal: true), "80x17"), (TerminalFacts(isTerminal: true, columns: 1, rows: 1), "1x1"),
        (TerminalFacts(isTerminal: true, columns: 200, rows: 50), "100x43"),
        (TerminalFacts(isTerminal: true, columns: 20, rows: 50), "20x43"),
    ]) func fitsThePictureIntoTheTerminal(terminal: TerminalFacts, size: String) {
        let machine = machine(gifReply)
        machine.terminal = terminal
        let arguments = terminal.columns == nil || terminal.columns == 1 ? [] : ["--width", "100"]
        #expect(machine.run(["gif", "--id", "a", "--show"] + arguments).status == .done)
        #expect(machine.runs.last?.arguments.prefix(2) == ["--size", size])
    }

    @Test func drawsTheFirstOfAPageOrAsManyAsTheLimitSays() {
        let reply = page(gif("a"), gif("b"), gif("c"))
        let first = machine(reply)
        #expect(first.run("gif", "cats", "--show", "--color", "never") == Outcome(output: card))
        #expect(first.runs.map(\.program) == ["curl", "chafa"])
        #expect(first.parameters == [#"{"query":"cats","limit":1}"#])

        let fetched = SubprocessOutcome.ended(status: 0, output: picture)
        let two = machine(reply, curl: [fetched, fetched], chafa: [.ended(status: 0), .ended(status: 0)])
        #expect(two.run("gif", "cats", "--show", "--limit", "2", "--rendition", "original").status == .done)
        #expect(
            two.runs.filter { $0.program == "curl" }.map(\.arguments.last) == [
                "https://media.example/a.gif", "https://media.example/b.gif",
            ])
    }

    @Test func drawsFourImagesOfAPostAndGoesOnWhereOneCannotBeDrawn() {
        let fetched = SubprocessOutcome.ended(status: 0, output: picture)
        let machine = machine(
            images(["http://e.org/1", "http://e.org/0"] + (2...6).map { "https://e.org/\($0)" }),
            curl: [.ended(status: 22), fetched, fetched, fetched],
            chafa: [.ended(status: 2), .ended(status: 0), .ended(status: 0)])
        let outcome = machine.run("post", "town:1", "--show")
        #expect(
            outcome.errors == """
                norrisctl: The image at https://e.org/2 cannot be fetched: the host answers with an error.
                norrisctl: chafa cannot draw the image: it exited with status 2.
                norrisctl: Only the first 4 of 5 images are drawn.
                norrisctl: 2 images cannot be drawn here: --show fetches https addresses only.
                  See them in a browser: --open

                """)
        #expect(outcome.status == .nothing)
        #expect(machine.runs.map(\.program) == ["curl", "curl", "chafa", "curl", "chafa", "curl", "chafa"])
    }

    @Test(arguments: [
        (SubprocessOutcome.missing, "curl is not installed.\n  sudo apt install chafa curl", ExitStatus.unavailable),
        (.ended(status: 63), "The image at https://media.example/a.gif is larger than 16 MiB.", .nothing),
        (
            .ended(status: 6), "The image at https://media.example/a.gif cannot be fetched: the host was not found.",
            .temporary
        ),
    ]) func saysWhyThereIsNothingToDraw(outcome: SubprocessOutcome, message: String, status: ExitStatus) {
        drawsNothing(outcome, message, status)
    }

    /// No argument of the test above, because the testing library prints arguments byte by byte.
    @Test func refusesAnImageThatIsLargerThanCurlWasAskedFor() {
        drawsNothing(
            .ended(status: 0, output: [UInt8](repeating: 0, count: 16 << 20 + 1)),
            "The image at https://media.example/a.gif is larger than 16 MiB.", .nothing)
    }

    private func drawsNothing(_ outcome: SubprocessOutcome, _ message: String, _ status: ExitStatus) {
        let machine = machine(gifReply, curl: [outcome])
        #expect(
            machine.run("gif", "--id", "a", "--show", "--color", "never")
                == Outcome(output: card, errors: "norrisctl: \(message)\n", status: status))
        #expect(!machine.runs.contains { $0.program == "chafa" })
    }

    @Test(arguments: [
        "http://e.org/a.gif", "file:///etc/passwd", "--config=x", "https://e.org/ x", #"https://e.org/\u001b[2J"#,
        #"https://e.org/\n--output"#, "@file", "",
    ]) func fetchesNothingButAnHTTPSAddress(address: String) {
        let machine = machine(images([address]))
        let outcome = machine.run("post", "town:1", "--show")
        #expect(outcome.status == .nothing)
        #expect(outcome.errors.hasPrefix("norrisctl: 1 image cannot be drawn here: --show fetches https "))
        #expect(forbidden(in: outcome.errors).isEmpty)
        #expect(machine.runs.isEmpty)
    }

    @Test func aPostNamesTheCommandThatDrawsItsImagesIfItWorks() {
        func hint(
            _ words: [String], _ addresses: [String], chafa: SubprocessOutcome = .ended(status: 0)
        ) -> Substring? {
            let machine = machine(images(addresses), chafa: [chafa])
            machine.environment["NO_COLOR"] = "1"
            return machine.run(["post"] + words).output.split(separator: "\n").first { $0.hasPrefix("▣") }
        }
        let both = ["http://e.org/1", "https://e.org/2"]
        #expect(hint(["town:1"], both) == "▣ 2 images: norrisctl post town:1 --show")
        let command = "norrisctl post --socket /s --id -x --show"
        #expect(hint(["--id", "-x", "--socket", "/s"], both) == "▣ 2 images: \(command)")
        #expect(hint(["town:1"], ["http://e.org/1"]) == "▣ 1 image")
        #expect(hint(["town:1"], both, chafa: .missing) == "▣ 2 images")
        #expect(hint(["town:1"], []) == nil)
    }

    @Test(arguments: [["gif", "x"], ["gif", "--random"], ["gif", "--id", "a"], ["post", "a"]])
    func refusesToDrawWhereThereIsNoTerminal(arguments: [String]) {
        let machine = Machine()
        let outcome = machine.run(arguments + ["--show"])
        #expect(outcome.status == .usage && outcome.output.isEmpty && machine.requests.isEmpty)
        #expect(outcome.errors.hasPrefix("norrisctl: --show needs a terminal"))
    }
}
