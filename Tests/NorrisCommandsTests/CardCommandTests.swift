import Glibc
import NorrisClient
@testable import NorrisCommands
import NorrisProtocol
import NorrisSystem
import NorrisTerminal
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
        let machine = Machine(results.map { .success(Array(Machine.result($0).utf8)) })
        machine.programs[Self.card] = card
        return machine
    }

    private func error(_ code: ErrorCode) -> Result<[UInt8], ClientError> {
        let error = ResponseError(code, reason: "r", "It failed.")
        return .success(Array(Response(id: .integer(1), outcome: .failure(error)).jsonText.utf8))
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
                    program: Self.card, arguments: ["--size", "1080"], input: Array(fact("a", "First.").utf8))
            ])
    }

    @Test func formatsMembersThatTheFactHasNot() {
        let machine = machine([#"{"fact":{"id":"a","text":"First.","categories":[],"source":"s"}}"#])
        #expect(
            machine.run("card", "--id", "a", "-o", "f.png", "--format", "{id} {url}.")
                == Outcome(output: "a .\n", errors: wrote))
    }

    @Test func refusesAnUnknownFieldBeforeItWrites() {
        let machine = machine([one])
        let outcome = machine.run("card", "-o", "f.png", "--format", "{nosuch}")
        #expect(outcome.status == .usage && outcome.errors.contains("no field \"nosuch\""))
        #expect(machine.requests.isEmpty && machine.runs.isEmpty && !machine.hasWritten)
    }

    @Test func passesItsOptionsOn() {
        let machine = machine([today])
        #expect(machine.run("card", "--today", "--size", "256", "--no-tags", "--output=f.png").errors == wrote)
        #expect(machine.methods == ["fact.today"])
        #expect(machine.runs.map(\.arguments) == [["--size", "256", "--no-tags"]])
        #expect(input(machine).hasPrefix(#"{"id":"t","text":"Today.""#))
    }

    @Test func takesTheFactThatWasShownLast() {
        let machine = machine([#"{"id":"x"}"#, one])
        #expect(machine.run("card", "-o", "f.png").errors == wrote)
        #expect(machine.methods == ["recent.served", "fact.get"])
        #expect(machine.parameters == [#"{"kind":"fact"}"#, #"{"id":"x"}"#])
    }

    @Test func keepsTheNameThatWasUsed() {
        let machine = machine([#"{"id":"x","name":"Ada"}"#, one])
        #expect(machine.run("card", "-o", "f.png").errors == wrote)
        #expect(machine.parameters == [#"{"kind":"fact"}"#, #"{"id":"x","name":"Ada"}"#])
        let other = self.machine([#"{"id":"x","name":"Ada"}"#, one])
        #expect(other.run("card", "--name", "Grace", "-o", "f.png").errors == wrote)
        #expect(other.parameters.last == #"{"id":"x","name":"Grace"}"#)
        let byID = self.machine([one])
        #expect(byID.run("card", "--id", "a", "--name", "-Ada", "-o", "f.png").errors == wrote)
        #expect(byID.parameters == [#"{"id":"a","name":"-Ada"}"#])
        let today = self.machine([self.today, one])
        #expect(today.run("card", "--today", "--name", "Ada", "-o", "f.png").errors == wrote)
        #expect(today.methods == ["fact.today", "fact.get"])
        #expect(today.parameters.last == #"{"id":"t","name":"Ada"}"#)
    }

    @Test(arguments: [["-c", "dev"], ["-cdev"], ["--category", "dev"]]) func takesAFactOfACategory(option: [String]) {
        let machine = machine([page(fact("n", "Next."))])
        #expect(machine.run(["card"] + option + ["--name", "Ada", "-of.png"]).errors == wrote)
        #expect(machine.methods == ["fact.random"])
        #expect(machine.parameters == [#"{"category":["dev"],"name":"Ada"}"#])
        #expect(input(machine).contains("Next."))
        let empty = self.machine([page()])
        #expect(
            empty.run(["card"] + option + ["-o", "f.png"])
                == Outcome(
                    errors:
                        "norrisctl: There is no fact of this category.\n  List the categories: norrisctl categories\n",
                    status: .nothing))
    }

    @Test func categoriesAreOfAnyCaseAndSeveral() {
        let machine = machine([page(fact("n", "Next."))])
        #expect(machine.run("card", "-c", "Dev,science", "-c", "food", "-o", "f.png").errors == wrote)
        #expect(machine.parameters == [#"{"category":["dev","science","food"]}"#])
    }

    @Test func passesTheStyleOn() {
        let machine = machine()
        let poster = ["--style", "poster", "--headline", "No fear"]
        #expect(machine.run(["card", "--text", "x", "-o", "f.png"] + poster).errors == wrote)
        #expect(machine.runs.map(\.arguments) == [["--size", "1080", "--style", "poster", "--headline=No fear"]])
        let scenic = self.machine()
        #expect(scenic.run("card", "--text", "x", "--style", "scenic", "-o", "f.png").errors == wrote)
        #expect(scenic.runs.map(\.arguments) == [["--size", "1080"]])
    }

    @Test func passesAspectSceneAndLookOn() {
        let machine = machine([#"{"id":"x","name":"Ada"}"#, one])
        let options = ["--aspect", "4:5", "--scene=sea", "--another", "--another"]
        #expect(machine.run(["card", "-o", "f.png"] + options).errors == wrote)
        #expect(
            machine.runs.map(\.arguments) == [
                ["--size", "1080", "--scene", "sea", "--look", "2", "--aspect", "4:5", "--name=Ada"]
            ])
        let many = Array(repeating: "--another", count: 1001)
        #expect(self.machine().run(["card", "-o", "f.png"] + many).status == .usage)
        let full = self.machine([one], card: [.ended(status: 66, output: [])])
        let outcome = full.run("card", "--id", "a", "-o", "f.png", "--aspect", "16:9")
        #expect(outcome.status == .usage && outcome.errors.contains("needs more room"))
        let bare = terminal([])
        #expect(
            bare.run("card", "--text", "x", "--another", "--aspect", "1:1").errors
                == "To save it: norrisctl card --text x --aspect 1:1 --another -o card.png\n")
    }

    @Test(
        "Invalid file names, styles and headlines are refused before the first request",
        arguments: [
            (["-o", "x.jpg"], "Cards are PNG files, not JPG: give -o a name that ends in .png."),
            (["-o", "a.b/x.JPEG"], "Cards are PNG files, not JPEG: give -o a name that ends in .png."),
            (["--output=x.webp"], "Cards are PNG files, not WEBP: give -o a name that ends in .png."),
            (["--style", "poster", "--headline", "", "-o", "f.png"], "it takes 1 to 24 characters."),
            (["--style=poster", "--headline=a headline that is too long", "-o", "f"], "it takes 1 to 24 characters."),
            (["--headline", "Courage", "-o", "f.png"], "--headline is for posters: add --style poster."),
            (["--style", "comic", "-o", "f.png"], "it takes poster or scenic."),
            (["--aspect", "2:1", "-o", "f.png"], "it takes 1:1, 4:5, 9:16 or 16:9."),
            (["--scene", "moon", "-o", "f.png"], "it takes city, desert, forest, lake, sea or snow."),
            (
                ["--today", "-c", "dev", "-o", "f.png"],
                "Use only one of a number, --id, --text, --today and --category."
            ),
            (["--alt", "--show"], "--alt and --show exclude each other."),
            (["--json"], "--json needs a file: add -o card.png."),
            (["--text", "x", "--name", "Ada", "-o", "f.png"], "--name is for facts: leave it out beside --text."),
        ])
    func refuses(options: [String], message: String) {
        let machine = machine()
        let outcome = machine.run(["card"] + options)
        #expect(outcome.status == .usage)
        #expect(outcome.errors.contains(message), "\(outcome.errors)")
        #expect(machine.runs.isEmpty && machine.requests.isEmpty && !machine.hasWritten)
    }

    @Test(arguments: ["f", "f.png", "F.PNG", "x.jpg/f", "/dev/stdout", "jpg"]) func takesOtherNames(name: String) {
        let machine = machine()
        machine.files["x.jpg/other"] = []
        #expect(machine.run("card", "--text", "x", "-o", name).status == .done)
        #expect(machine.written(name) == Self.picture)
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

    @Test func complainsOfNoShapeThatTheUserHasChosen() {
        // Any story is taller than 4:5.
        let machine = machine(card: [.ended(status: 0, output: Self.picture)])
        #expect(machine.run("card", "--text", "x", "--aspect", "9:16", "-o", "f.png").errors == wrote)
    }

    @Test func copiesThePicture() {
        let machine = machine()
        machine.environment["WAYLAND_DISPLAY"] = "w"
        machine.programs["wl-copy"] = [.ended(status: 0)]
        #expect(machine.run("card", "--text", "x", "--copy") == Outcome(errors: "Copied the card to the clipboard.\n"))
        #expect(machine.runs.last?.arguments == ["--type", "image/png"])
        #expect(machine.runs.last?.input == Self.picture)
        let other = self.machine()
        other.environment["DISPLAY"] = ":0"
        other.programs["xclip"] = [.ended(status: 0)]
        let both = other.run("card", "--text", "x", "--copy", "-o", "f.png")
        #expect(both.errors == wrote + "Copied the card to the clipboard.\n")
        #expect(other.runs.last?.arguments == ["-selection", "clipboard", "-target", "image/png", "-in"])
        let none = self.machine().onTerminal()
        #expect(
            none.run("card", "--text", "x", "--copy")
                == Outcome(
                    errors: "norrisctl: No clipboard program took the card.\n"
                        + "  With Wayland: apt install wl-clipboard; with X11: apt install xclip\n",
                    status: .unavailable))
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
        // The suggested command draws the fact shown last, and the daemon remembers the name.
        let random = terminal([page(fact("n", "Next."))])
        #expect(random.run("card", "-c", "dev", "--name", "Ada").errors == "To save it: norrisctl card -o card.png\n")
    }

    @Test(arguments: [
        ("\u{1B}_Ga=T\u{1B}\\", ["--size", "1080", "--scene", "sea", "--style", "poster"]),
        ("\u{1B}P0;1;0q#0\u{1B}\\", ["--size", "1080", "--scene", "sea", "--style", "poster"]),
        (
            "\u{1B}[0m\u{1B}[38;2;15;8m▁\u{1B}[0m\n",
            ["--size", "1080", "--scene", "sea", "--aspect", "16:9", "--no-text"]
        ),
    ])
    func cellsShowTheLandscapeWithoutLetters(format: String, arguments: [String]) {
        let format = SubprocessOutcome.ended(status: 0, output: Array(format.utf8))
        let machine = terminal([], chafa: [format, .ended(status: 0)])
        machine.environment["NO_COLOR"] = nil
        let outcome = machine.run("card", "--color", "always", "--text", "x", "--style", "poster", "--scene", "sea")
        #expect(outcome.output.hasPrefix("x\n"))
        #expect(machine.runs.map(\.program) == ["chafa", Self.card, "chafa"])
        #expect(machine.runs[1].arguments == arguments)
        #expect(machine.runs.last?.input == Self.picture)
    }

    @Test func aloneShowsTheFactWhereItCannotShowTheCard() {
        let machine = terminal([#"{"id":"x"}"#, one], chafa: [])
        machine.programs["chafa"] = nil
        #expect(
            machine.run("card")
                == Outcome(
                    output: "First.\n#dev  a\n",
                    errors: """
                        norrisctl: chafa is not installed.
                          apt install chafa
                        To save it: norrisctl card -o card.png

                        """, status: .unavailable))
        let missing = terminal([#"{"id":"x"}"#, one])
        missing.programs[Self.card] = nil
        #expect(
            missing.run("card")
                == Outcome(
                    output: "First.\n#dev  a\n",
                    errors: "norrisctl: norris-card is not installed.\n  apt install norris-card\n",
                    status: .unavailable))
    }

    @Test(arguments: [[], ["--plain"], ["--format", "{id}"], ["--style", "poster"]])
    func aloneIsRefusedWhereThereIsNoTerminal(options: [String]) {
        let machine = options.first?.hasPrefix("--style") ?? true ? machine() : terminal([])
        #expect(
            machine.run(["card"] + options)
                == .failed(
                    .usage, "norrisctl card without -o needs a terminal, and no --plain or --format.",
                    "-o card.png writes it into a file, and --alt prints it in words."))
        #expect(machine.runs.isEmpty && machine.requests.isEmpty)
    }

    @Test func takesTheNextFactWhereNoneWasShown() {
        let machine = Machine([error(.notFound), .success(Array(Machine.result(page(fact("n", "Next."))).utf8))])
        machine.programs[Self.card] = [Self.drawn]
        #expect(machine.run("card", "-o", "f.png").errors == wrote)
        #expect(machine.methods == ["recent.served", "fact.random"])
        #expect(input(machine).contains("Next."))
    }

    @Test func takesNoOtherFactWhereTheLastIsExplicitOrGone() {
        let machine = Machine([.success(Array(Machine.result(#"{"id":"x"}"#).utf8)), error(.notFound)])
        #expect(machine.run("card", "-o", "f.png").status == .nothing)
        #expect(machine.methods == ["recent.served", "fact.get"] && machine.runs.isEmpty)
    }

    @Test func otherFailuresOfTheDaemonAreTold() {
        for (reply, status) in [
            (error(.busy), ExitStatus.temporary), (.failure(.noSocket(paths: ["/s"])), .unavailable),
        ] {
            let machine = Machine([reply])
            #expect(machine.run("card", "-o", "f.png").status == status)
            #expect(machine.runs.isEmpty)
        }
        let unknown = Machine([error(.notFound)])
        #expect(unknown.run("card", "--id", "x", "-o", "f.png").status == .nothing)
        let empty = Machine([error(.notFound), .success(Array(Machine.result(page()).utf8))])
        #expect(
            empty.run("card", "-o", "f.png")
                == Outcome(
                    errors: "norrisctl: norrisd has no fact.\n  Draw a text of your own: --text \"Ship it.\"\n",
                    status: .nothing))
    }

    @Test func drawsATextWithoutADaemon() {
        let machine = machine()
        #expect(machine.run("card", "--text", "Ship it.", "-o", "f.png") == Outcome(errors: wrote))
        #expect(machine.requests.isEmpty)
        let id = "text-" + String(stableHash("Ship it."), radix: 16)
        #expect(input(machine) == #"{"id":"\#(id)","text":"Ship it.","categories":[],"source":"text"}"#)
    }

    @Test func theTextIsMadeHarmlessFirst() {
        let machine = machine()
        let raw = "-Ship\u{1B}[31m it\u{202E}.\nNow\u{FFFD}."
        #expect(machine.run("card", "--text", raw, "-o", "f.png").errors == wrote)
        let text = "-Ship it.\nNow."
        let id = "text-" + String(stableHash(text), radix: 16)
        #expect(input(machine).hasPrefix(#"{"id":"\#(id)","text":\#(JSON.string(text).jsonText),"#))
    }

    @Test func refusesATextThatIsTooLong() {
        let long = machine()
        #expect(long.run("card", "--text", String(repeating: "é", count: 10_000), "-o", "f.png").status == .done)
        #expect(
            machine().run("card", "--text", String(repeating: "é", count: 10_001), "-o", "f.png")
                == Outcome(
                    errors: "norrisctl: The text is longer than 10,000 characters.\n  Shorten it.\n", status: .usage))
    }

    @Test func jsonIsTheFactBesideTheFile() {
        #expect(
            machine([one]).run("card", "--id", "a", "-o", "f.png", "--json")
                == Outcome(output: one + "\n", errors: wrote))
        let next = machine([#"{"id":"x"}"#, one])
        #expect(next.run("card", "-o", "f.png", "--json") == Outcome(output: one + "\n", errors: wrote))
        let text = machine().run("card", "--text", "x", "-o", "f.png", "--json")
        let id = "text-" + String(stableHash("x"), radix: 16)
        #expect(
            text
                == Outcome(
                    output: #"{"fact":{"id":"\#(id)","text":"x","categories":[],"source":"text"}}"# + "\n",
                    errors: wrote))
    }

    @Test func writesThePictureToStandardOutput() {
        let machine = machine()
        // The machine decodes its output as UTF-8.
        #expect(
            machine.run("card", "--text", "x", "-o", "-")
                == Outcome(output: String(decoding: Self.picture, as: UTF8.self)))
        #expect(!machine.hasWritten)
    }

    @Test func writesNoPictureToATerminal() {
        for options in [[], ["--plain"]] {
            let terminal = machine().onTerminal()
            #expect(
                terminal.run(["card", "-o", "-"] + options)
                    == .failed(
                        .usage, "A picture cannot be printed on a terminal.",
                        "--show draws it there, and -o fact.png writes it into a file."))
            #expect(terminal.runs.isEmpty)
            #expect(terminal.requests.isEmpty)
        }
    }

    @Test func printsTheWords() {
        let words = "A poster that says: Ship it.\n"
        let machine = machine(card: [.ended(status: 0, output: Array(words.utf8))]).onTerminal(columns: 9)
        #expect(machine.run("card", "--text", "Ship it.", "--alt") == Outcome(output: words))
        #expect(machine.runs.map(\.arguments) == [["--size", "1080", "--alt"]])
    }

    @Test func nothingOfAHostileNorrisCardReachesTheTerminal() {
        let bytes = Array(hostile.utf8) + [0x9B, 0xFF, 0xC0]
        for isTerminal in [true, false] {
            let machine = machine(card: [.ended(status: 0, output: bytes)])
            machine.terminal = TerminalFacts(isTerminal: isTerminal, columns: 80)
            machine.environment["NO_COLOR"] = "1"
            let outcome = machine.run("card", "--text", "x", "--alt")
            #expect(outcome.output.hasPrefix("ab"))
            #expect(outcome.output.split(separator: "\n").count == 1)
            #expect(forbidden(in: outcome.output + outcome.errors) == [])
        }
        let name = machine().run("card", "--text", "x", "-o", hostile)
        #expect(name.status == .done)
        #expect(forbidden(in: name.errors) == [])
        let failing = machine()
        failing.files["\(hostile.prefix { $0 != "\0" })/x"] = []
        #expect(forbidden(in: failing.run("card", "--text", "x", "-o", hostile).errors) == [])
    }

    @Test func drawsOnTheTerminal() {
        let machine = machine().onTerminal()
        machine.environment["LANG"] = "C.UTF-8"
        machine.programs["chafa"] = [.ended(status: 0)]
        #expect(machine.run("card", "--text", "x", "--show", "-o", "f.png") == Outcome(errors: wrote))
        #expect(machine.runs.map(\.program) == [Self.card, "chafa"])
        #expect(machine.runs.last?.input == Self.picture)
        #expect(machine.written("f.png") == Self.picture)

        let missing = self.machine().onTerminal()
        #expect(
            missing.run("card", "--text", "x", "--show", "-o", "f.png")
                == Outcome(
                    errors: wrote + "norrisctl: chafa is not installed.\n  apt install chafa\n", status: .unavailable))
        let pipe = self.machine()
        #expect(pipe.run("card", "--show").status == .usage)
        #expect(pipe.requests.isEmpty)
    }

    @Test(arguments: [
        ("f.png", "./f.png"), ("-o", "./-o"), ("/tmp/f.png", "/tmp/f.png"), ("http://e.org", "./http://e.org"),
    ]) func opensTheFile(name: String, path: String) {
        let machine = machine()
        machine.environment["DISPLAY"] = ":0"
        machine.programs["xdg-open"] = [.ended(status: 0)]
        machine.files["http:/other"] = []
        let outcome = machine.run("card", "--text", "x", "--output=\(name)", "--open")
        #expect(outcome == Outcome(errors: "Wrote \(name), 1080 × 1350.\nOpened \(path)\n"))
        #expect(machine.runs.last?.arguments == [path])
    }

    @Test func theFileStaysWhereItCannotBeOpened() {
        let machine = machine()
        #expect(
            machine.run("card", "--text", "x", "-o", "f.png", "--open")
                == Outcome(
                    errors: wrote + """
                        norrisctl: There is no display and no terminal to open it in.
                          Open it yourself: ./f.png

                        """, status: .unavailable))
        #expect(machine.hasWritten)
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
                    errors: "norrisctl: norris-card is not installed.\n  apt install norris-card\n",
                    status: .unavailable))
    }

    private static let mismatch =
        "\n  norrisctl and norris-card must be of one version: apt install norrisd norris-card"
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
              apt install fonts-inter fonts-noto-core fonts-noto-color-emoji; \
            for Chinese, Japanese and Korean: apt install fonts-noto-cjk
            """, .unavailable
        ), (.ended(status: 64), "norris-card failed with status 64.\(mismatch)", .internalError),
        (.ended(status: 1), "norris-card failed with status 1.\(mismatch)", .internalError),
        (.ended(status: 70), "norris-card could not draw the picture.\(shortage)", .internalError),
        (.ended(status: 137), "norris-card was killed by signal 9.\(shortage)", .internalError),
        (.ended(status: 139, output: picture), "norris-card was killed by signal 11.\(shortage)", .internalError),
        (.ended(status: 0), noPicture, .internalError),
        (.ended(status: 0, output: Array("GIF89a".utf8)), noPicture, .internalError),
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

    @Test(arguments: ["", "\n \n", "\u{1B}[2J"]) func wordsThatAreNoneAreAFault(words: String) {
        let machine = machine(card: [.ended(status: 0, output: Array(words.utf8))])
        #expect(
            machine.run("card", "--text", "x", "--alt", "-o", "f.png")
                == Outcome(
                    errors: "norrisctl: norris-card has no words for the picture.\(Self.mismatch)\n",
                    status: .internalError))
        #expect(!machine.hasWritten)
    }

    @Test func theTimeOfTheUserIsForDrawingToo() {
        let machine = machine([today])
        machine.delay = .seconds(2)
        #expect(machine.run("card", "--today", "-o", "f.png", "--timeout", "7s").status == .done)
        let late = self.machine([today], card: [.timedOut])
        late.delay = .seconds(2)
        #expect(late.run("card", "--today", "-o", "f.png", "--timeout", "1s").errors.contains("took too long"))
        let slow = self.machine(card: [.timedOut])
        #expect(
            slow.run("card", "--text", "x", "-o", "f.png", "--timeout", "1s")
                == Outcome(
                    errors: "norrisctl: norris-card took too long and was stopped.\(Self.moreTime)\n",
                    status: .unavailable))
    }

    @Test func saysThatItDraws() {
        let machine = machine([today], card: [.timedOut])
        machine.isErrorTerminal = true
        machine.delay = .seconds(1)
        let errors = machine.run("card", "--today", "-o", "f.png", "--timeout", "2s").errors
        #expect(errors.contains("drawing the card…"))
        #expect(errors.contains("\r\u{1B}[Knorrisctl: norris-card took too long"))
    }
}
