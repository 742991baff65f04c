import Glibc
import NorrisClient
@testable import NorrisCommands
import NorrisProtocol
import NorrisSystem
import NorrisTerminal
import NorrisTestSupport
import Testing

struct CardCommandTests {
    private static let card = "/opt/bin/norris-card"
    private static let further = "/opt/libexec/norris-card"

    /// The header of a PNG of 1080 × 1350 pixels. norrisctl does not read the bytes after it.
    private static let picture: [UInt8] = [0x89] + Array("PNG\r\n\u{1A}\n\0\0\0\u{D}IHDR\0\0\u{4}8\0\0\u{5}F".utf8)
    private static let drawn = SubprocessOutcome.ended(status: 0, output: picture)

    private let one = #"{"fact":\#(fact("a", "First."))}"#
    private let today = #"{"fact":\#(fact("t", "Today.")),"freshness":\#(fresh)}"#
    private let wrote = "Wrote f.png, 1080 × 1350.\n"

    private func machine(_ results: [String] = [], card: [SubprocessOutcome] = [drawn]) -> Machine {
        let machine = Machine(results: results)
        machine.programs[Self.card] = card
        return machine
    }

    private func error(_ code: ErrorCode) -> Result<[UInt8], ClientError> {
        Machine.reply(ResponseError(code, reason: "r", "It failed."))
    }

    /// The standard input of the last norris-card run.
    private func input(_ machine: Machine) -> String {
        String(decoding: machine.runs.last?.input ?? [], as: UTF8.self)
    }

    @Test func drawsAFactIntoAFile() {
        let machine = machine([one])
        #expect(machine.run("card", "--id", "-a", "-o", "f.png") == Outcome(errors: wrote))
        #expect(machine.methods == ["fact.get"])
        #expect(machine.parameters == [#"{"id":"-a"}"#])
        #expect(machine.written("f.png") == Self.picture)
        #expect(
            machine.runs == [
                Machine.Run(
                    program: Self.card, arguments: [], input: Array(fact("a", "First.").utf8))
            ])
    }

    @Test func refusesAnUnknownFieldBeforeItWrites() {
        let machine = machine([one])
        let outcome = machine.run("card", "-o", "f.png", "--format", "{nosuch}")
        #expect(outcome.status == .usage && outcome.errors.contains("no field \"nosuch\""))
        #expect(machine.requests.isEmpty && machine.runs.isEmpty && !machine.hasWritten)
    }

    @Test func takesTheFactThatWasShownLastWithItsName() {
        let machine = machine([#"{"id":"x","name":"Ada"}"#, one])
        #expect(machine.run("card", "-o", "f.png").errors == wrote)
        #expect(machine.methods == ["recent.served", "fact.get"])
        #expect(machine.parameters == [#"{"kind":"fact"}"#, #"{"id":"x","name":"Ada"}"#])
        let other = self.machine([#"{"id":"x","name":"Ada"}"#, one])
        #expect(other.run("card", "--name", "Grace", "-o", "f.png").errors == wrote)
        #expect(other.parameters.last == #"{"id":"x","name":"Grace"}"#)
        let today = self.machine([self.today, one])
        #expect(today.run("card", "--today", "--name", "Ada", "-o", "f.png").errors == wrote)
        #expect(today.methods == ["fact.today", "fact.get"])
        #expect(today.parameters.last == #"{"id":"t","name":"Ada"}"#)
    }

    @Test func takesAFactOfACategory() {
        let machine = machine([page(fact("n", "Next."))])
        #expect(machine.run("card", "-cDev,food", "--name", "Ada", "-of.png").errors == wrote)
        #expect(machine.methods == ["fact.random"])
        #expect(machine.parameters == [#"{"category":["dev","food"],"name":"Ada"}"#])
        #expect(input(machine).contains("Next."))
    }

    @Test func passesItsOptionsOn() {
        let machine = machine([#"{"id":"x","name":"Ada"}"#, one])
        let options = ["--aspect", "4:5", "--scene=sea", "--another", "--another", "--size", "256", "--no-tags"]
        #expect(machine.run(["card", "-o", "f.png"] + options).errors == wrote)
        #expect(
            machine.runs.map(\.arguments) == [
                ["--size", "256", "--aspect", "4:5", "--scene", "sea", "--no-tags", "--look", "2", "--name", "Ada"]
            ])
        let poster = self.machine([today])
        let words = ["--style", "poster", "--headline", "No fear"]
        #expect(poster.run(["card", "--today", "--output=f.png"] + words).errors == wrote)
        #expect(poster.runs.map(\.arguments) == [["--style", "poster", "--headline", "No fear"]])
        let full = self.machine([one], card: [.ended(status: 66, output: [])])
        let outcome = full.run("card", "--id", "a", "-o", "f.png", "--aspect", "16:9")
        #expect(outcome.status == .usage && outcome.errors.contains("needs more room"))
    }

    @Test(
        "Invalid file names, styles and headlines are refused before the first request",
        arguments: [
            (["-o", "x.jpg"], "Cards are PNG files, not JPG: give -o a name that ends in .png."),
            (
                ["--style=poster", "--headline=a headline that is too long", "-o", "f"],
                "it takes 1 to 24 characters, at least one"
            ),
            (["--headline", "Courage", "-o", "f.png"], "--headline is for posters: add --style poster."),
            (["--aspect", "2:1", "-o", "f.png"], "it takes 1:1, 4:5, 9:16 or 16:9."),
            (
                ["--today", "-c", "dev", "-o", "f.png"],
                "Use only one of a number, --id, --text, --today and --category."
            ),
            (["--alt", "--show"], "--alt and --show exclude each other."),
            (["--by", "Nora", "-o", "f.png"], "A fact names its source. --by signs a text of your own: add --text."),
            (["--text", "x", "--by", " ", "-o", "f.png"], "it takes at most 80 characters, at least one"),
            (["--json"], "--json needs a file: add -o card.png."),
            (["--text", "x", "--name", "Ada", "-o", "f.png"], "--name is for facts: leave it out beside --text."),
            (["--text", String(repeating: "é", count: 10_001), "-o", "f.png"], "longer than 10,000 characters."),
        ])
    func refuses(options: [String], message: String) {
        let machine = machine()
        let outcome = machine.run(["card"] + options)
        #expect(outcome.status == .usage)
        #expect(outcome.errors.contains(message), "\(outcome.errors)")
        #expect(machine.runs.isEmpty && machine.requests.isEmpty && !machine.hasWritten)
    }

    @Test func warnsOfACardThatIsTallerThanFourByFive() {
        let tall = Self.picture.dropLast(1) + [0x47]
        let machine = machine(card: [.ended(status: 0, output: Array(tall))])
        #expect(
            machine.run("card", "--text", "x", "-o", "f.png")
                == Outcome(
                    errors: """
                        Wrote f.png, 1080 × 1351.
                        norrisctl: The text makes the card taller than 4:5; some sites crop such pictures.

                        """))
    }

    @Test func saysWhichFontsAreMissing() {
        let warning = "Some characters have no font: sudo apt install fonts-noto-cjk"
        let text = Array("iTXtComment\0\0\0\0\0\(warning)".utf8)
        let chunks = [8, 6, 0, 0, 0, 0, 0, 0, 0] + [0, 0, 0, UInt8(text.count - 4)] + text + [0, 0, 0, 0]
        let machine = machine(card: [.ended(status: 0, output: Self.picture + chunks)])
        let outcome = machine.run("card", "--text", "骨", "-o", "f.png")
        #expect(outcome == Outcome(errors: "\(wrote)norrisctl: \(warning)\n"))
    }

    @Test func signsATextOfTheUser() {
        let machine = machine()
        #expect(machine.run("card", "--text", "Ship it.", "--by", "Nora", "-o", "f.png").errors == wrote)
        #expect(machine.runs.map(\.arguments) == [["--by", "Nora"]])
    }

    @Test func copiesThePicture() {
        let machine = machine()
        machine.environment["WAYLAND_DISPLAY"] = "w"
        machine.programs["wl-copy"] = [.ended(status: 0)]
        #expect(machine.run("card", "--text", "x", "--copy") == Outcome(errors: "Copied the card to the clipboard.\n"))
        #expect(machine.runs.last?.arguments == ["--type", "image/png"])
        #expect(machine.runs.last?.input == Self.picture)
        let none = self.machine().onTerminal()
        #expect(
            none.run("card", "--text", "x", "--copy")
                == Outcome(
                    errors: "norrisctl: No clipboard program took the card.\n"
                        + "  With Wayland: sudo apt install wl-clipboard; with X11: sudo apt install xclip\n",
                    status: .unavailable))
    }

    @Test func alternativeTextIsWrappedForATerminal() {
        let words = SubprocessOutcome.ended(status: 0, output: Array("A card: Face to Face with Chuck.\n".utf8))
        let terminal = machine(card: [words]).onTerminal(columns: 20)
        let wrapped = "A card: Face to Face\nwith Chuck.\n"
        #expect(terminal.run("card", "--text", "x", "--alt") == Outcome(output: wrapped))
    }

    // MARK: Without an output file

    private func terminal(_ results: [String], chafa: [SubprocessOutcome] = [.ended(status: 0)]) -> Machine {
        let machine = machine(results).onTerminal()
        machine.environment["LANG"] = "C.UTF-8"
        machine.environment["NO_COLOR"] = "1"
        machine.programs["chafa"] = chafa
        return machine
    }

    @Test func aloneShowsCardAndFactAndSaysHowToSaveIt() {
        let machine = terminal([#"{"id":"x"}"#, one])
        #expect(
            machine.run("card")
                == Outcome(output: "First.\n#dev  a\n", errors: "To save it: norrisctl card -o card.png\n"))
        #expect(machine.runs.map(\.program) == [Self.card, "chafa"])
        #expect(!machine.hasWritten)
        let options = terminal([])
        let words = ["--text", "Ship it.", "--style", "poster", "--headline", "Grit", "--size", "540", "--no-tags"]
        #expect(
            options.run(["card"] + words).errors == "To save it: norrisctl card --text 'Ship it.' --style poster "
                + "--headline Grit --size 540 --no-tags -o card.png\n")
        // A one-line command would draw a different text.
        #expect(
            terminal([]).run("card", "--text", "Ship\nit.").errors == "To save it: the same command with -o card.png\n")
    }

    @Test(arguments: [["--plain"], ["--format", "{id}"], []])
    func aloneIsRefusedWhereThereIsNoTerminal(options: [String]) {
        let machine = options.isEmpty ? machine() : terminal([])
        #expect(
            machine.run(["card"] + options)
                == .failed(
                    .usage, "norrisctl card without -o needs a terminal, and no --plain or --format.",
                    "-o card.png writes it into a file, and --alt prints it in words."))
        #expect(machine.runs.isEmpty && machine.requests.isEmpty)
    }

    @Test func takesTheNextFactWhereNoneWasShownAndNoOtherWhereTheLastIsGone() {
        let next = Machine([error(.notFound), Machine.reply(page(fact("n", "Next.")))])
        next.programs[Self.card] = [Self.drawn]
        #expect(next.run("card", "-o", "f.png").errors == wrote)
        #expect(next.methods == ["recent.served", "fact.random"] && input(next).contains("Next."))
        let machine = Machine([Machine.reply(#"{"id":"x"}"#), error(.notFound)])
        #expect(machine.run("card", "-o", "f.png").status == .nothing)
        #expect(machine.methods == ["recent.served", "fact.get"] && machine.runs.isEmpty)
    }

    @Test func drawsATextWithoutADaemonAfterItIsMadeHarmless() {
        let machine = machine()
        let raw = "-Ship\u{1B}[31m it\u{202E}.\nNow\u{FFFD}."
        #expect(machine.run("card", "--text", raw, "-o", "f.png") == Outcome(errors: wrote))
        #expect(machine.requests.isEmpty)
        let text = "-Ship it.\nNow."
        let id = "text-" + String(stableHash(text), radix: 16)
        #expect(input(machine).hasPrefix(#"{"id":"\#(id)","text":\#(JSON.string(text).jsonText),"#))
    }

    @Test func jsonIsTheFactBesideTheFile() {
        #expect(
            machine([one]).run("card", "--id", "a", "-o", "f.png", "--json")
                == Outcome(output: one + "\n", errors: wrote))
    }

    @Test func writesThePictureToStandardOutputButNotToATerminal() {
        // The machine decodes its output as UTF-8.
        #expect(machine().run("card", "--text", "x", "-o", "-").output == String(decoding: Self.picture, as: UTF8.self))
        let terminal = machine().onTerminal()
        #expect(
            terminal.run("card", "-o", "-")
                == .failed(
                    .usage, "A picture cannot be printed on a terminal.",
                    "--show draws it there, and -o fact.png writes it into a file."))
        #expect(terminal.runs.isEmpty && terminal.requests.isEmpty)
    }

    @Test func nothingOfAHostileNorrisCardReachesTheTerminal() {
        let bytes = Array(hostile.utf8) + [0x9B, 0xFF, 0xC0]
        for isTerminal in [true, false] {
            let machine = machine(card: [.ended(status: 0, output: bytes)])
            machine.terminal = TerminalFacts(isTerminal: isTerminal, columns: 80)
            machine.environment["NO_COLOR"] = "1"
            let outcome = machine.run("card", "--text", "x", "--alt")
            #expect(machine.runs.map(\.arguments) == [["--alt"]])
            #expect(outcome.output.hasPrefix("ab") && outcome.output.split(separator: "\n").count == 1)
            #expect(forbidden(in: outcome.output + outcome.errors) == [])
        }
        #expect(forbidden(in: machine().run("card", "--text", "x", "-o", hostile).errors) == [])
    }

    @Test func drawsOnTheTerminal() {
        let machine = machine().onTerminal()
        machine.environment["LANG"] = "C.UTF-8"
        machine.programs["chafa"] = [.ended(status: 0)]
        #expect(machine.run("card", "--text", "x", "--show", "-o", "f.png") == Outcome(errors: wrote))
        #expect(machine.runs.map(\.program) == [Self.card, "chafa"])
        #expect(machine.runs.last?.input == Self.picture)
        #expect(machine.written("f.png") == Self.picture)
    }

    @Test(arguments: [
        ("-o", "./-o"), ("/tmp/f.png", "/tmp/f.png"), ("http://e.org", "./http://e.org"),
    ]) func opensTheFile(name: String, path: String) {
        let machine = machine()
        machine.environment["DISPLAY"] = ":0"
        machine.programs["xdg-open"] = [.ended(status: 0)]
        machine.files["http:/other"] = []
        let outcome = machine.run("card", "--text", "x", "--output=\(name)", "--open")
        #expect(outcome == Outcome(errors: "Wrote \(name), 1080 × 1350.\nOpened \(path)\n"))
        #expect(machine.runs.last?.arguments == [path])
    }

    @Test func opensAFileOfItsOwn() throws {
        let folder = TemporaryFolder()
        let machine = machine()
        machine.environment = ["DISPLAY": ":0", "XDG_RUNTIME_DIR": folder.path]
        machine.programs["xdg-open"] = [.ended(status: 0)]
        let outcome = machine.run("card", "--text", "x", "--open")
        let file = try #require(machine.runs.last?.arguments.first)
        #expect(outcome == Outcome(errors: "Opened \(file)\n"))
        #expect(file.hasPrefix(folder("norrisctl/")) && file.hasSuffix(".png"))
        #expect(try readFile(file, limit: 1 << 20) == Self.picture)

        let without = self.machine()
        without.environment["DISPLAY"] = ":0"
        #expect(
            without.run("card", "--text", "x", "--open").errors == """
                norrisctl: There is no XDG_RUNTIME_DIR for the file.
                  Write it elsewhere: -o fact.png

                """)
    }

    @Test func saysWhyAFileCannotBeWritten() {
        let machine = machine()
        #expect(symlink("/dev/full", machine("f.png")) == 0)
        machine.environment["DISPLAY"] = ":0"
        #expect(
            machine.run("card", "--text", "x", "-o", "f.png", "--open")
                == Outcome(
                    errors: "norrisctl: \"f.png\" cannot be written: No space left on device.\n", status: .inputOutput))
        #expect(machine.runs.count == 1)
    }

    @Test func looksForNorrisCardInItsOwnFoldersAlone() {
        let machine = machine(card: [])
        machine.programs = [Self.further: [Self.drawn]]
        #expect(machine.run("card", "--text", "x", "-o", "f.png").errors == wrote)
        #expect(machine.runs.map(\.program) == [Self.further])

        let missing = self.machine(card: [])
        missing.programs = ["norris-card": [Self.drawn]]
        #expect(
            missing.run("card", "--text", "x", "-o", "f.png")
                == Outcome(
                    errors: "norrisctl: norris-card is not installed.\n  sudo apt install norris-card\n",
                    status: .unavailable))
    }

    private static let mismatch =
        "\n  norrisctl and norris-card must be of one version: sudo apt install norrisd norris-card"
    private static let shortage =
        "\n  Memory or open files may be short; a smaller --size, or a shorter text, needs less."
    private static let moreTime = "\n  Allow more time: --timeout 5m, or draw it smaller: --size 540"
    private static let noPicture = "The output of norris-card is not a PNG." + mismatch

    @Test(arguments: [
        (
            SubprocessOutcome.ended(status: 65),
            """
            The text cannot be drawn: it has no visible characters, or more lines than fit into a picture.
              Take another text, or a shorter one.
            """, ExitStatus.usage
        ),
        (
            .ended(status: 69),
            """
            There is no font to draw the text with.
              sudo apt install fonts-inter fonts-noto-core fonts-noto-color-emoji; \
            for Chinese, Japanese and Korean: sudo apt install fonts-noto-cjk
            """, .unavailable
        ), (.ended(status: 64), "norris-card failed with status 64.\(mismatch)", .internalError),
        (.ended(status: 139, output: picture), "norris-card was killed by signal 11.\(shortage)", .internalError),
        (.ended(status: 0, output: picture.dropLast()), noPicture, .internalError),
        (.notStarted(errno: ENOEXEC), "norris-card cannot be started: Exec format error.", .unavailable),
    ]) func saysWhyThereIsNoPicture(outcome: SubprocessOutcome, message: String, status: ExitStatus) {
        for options in [[], ["--alt"]] {
            if case .ended(status: 0, _) = outcome, !options.isEmpty { continue }
            let machine = machine(card: [outcome])
            machine.programs[Self.further] = [Self.drawn]
            #expect(
                machine.run(["card", "--text", "x", "-o", "f.png"] + options)
                    == Outcome(errors: "norrisctl: \(message)\n", status: status))
            #expect(!machine.hasWritten)
        }
    }

    @Test func theTimeOfTheUserIsForDrawingToo() {
        let late = machine([today], card: [.timedOut])
        late.delay = .seconds(2)
        #expect(late.run("card", "--today", "-o", "f.png", "--timeout", "1s").errors.contains("took too long"))
        let slow = self.machine(card: [.timedOut])
        #expect(
            slow.run("card", "--text", "x", "-o", "f.png", "--timeout", "1s")
                == Outcome(
                    errors: "norrisctl: norris-card took too long and was stopped.\(Self.moreTime)\n",
                    status: .unavailable))
    }
}
