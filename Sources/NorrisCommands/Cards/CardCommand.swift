import ArgumentParser
import NorrisProtocol
import NorrisTerminal

/// `norrisctl card`: a fact as a picture.
struct CardCommand: SessionCommand {
    static let configuration = CommandConfiguration.command(
        "card", abstract: "Make a picture of a fact.",
        usage: """
            [--id <id> | --text <text> | --today] [--size <n>] [--no-tags] -o <file> [--open]
            norrisctl card ... [-o <file>] --alt | --show
            """,
        discussion: """
            It is the fact you were shown last, or where there is none the next one, unless an option names another. A
            fact has the same picture every time. Short texts make a square; long ones make it higher.
            --show draws with chafa; --open takes xdg-open. norris-card may take 60s to draw, unless --timeout is
            given, which is for all.

            Examples:
              norrisctl card -o fact.png
              norrisctl card --today --size 2160 -o today.png --open
              norrisctl card --text "Ship it." --show
              norrisctl card --id builtin-8t1ie85ph93io -o - | wl-copy -t image/png
            """
    )

    @Option(parsing: .unconditional, help: ArgumentHelp("The fact of this id.", valueName: "id")) var id: String?

    @Option(parsing: .unconditional, help: ArgumentHelp("A text of your own; needs no daemon.", valueName: "text"))
    var text: String?

    @Flag(help: "The fact of the day.") var today = false

    @Option(
        help: ArgumentHelp("The width in pixels, 256 to 4096. (default: 1080)", valueName: "n"),
        transform: integer(256...4096)
    )
    var size: Int?

    @Flag(name: .customLong("no-tags"), help: "Leave out the #tags.") var leavesOutTags = false

    @Option(
        name: [.customShort("o"), .long],
        help: ArgumentHelp("Write the picture, a PNG, into this file; - is standard output.", valueName: "file")
    )
    var output: String?

    @Flag(help: "Print what is to be seen, for those who do not see it.") var alt = false
    @Flag(help: "Draw the picture on the terminal.") var show = false
    @Flag(help: "Open the file that -o names.") var open = false

    @OptionGroup(title: GlobalOptions.title) var globals: GlobalOptions

    private var actions: [ExternalAction] { (show ? [.show] : []) + (open ? [.open] : []) }

    func validate() throws {
        if [id != nil, text != nil, today].count(where: { $0 }) > 1 {
            throw ValidationError("Of --id, --text and --today there can be one only.")
        }
        if output == "" { throw ValidationError("The name of the file behind -o is empty.") }
        try globals.check(actions)
        if globals.json, alt {
            throw ValidationError("--json and --alt are both for standard output: leave out one of the two.")
        }
        if output == "-", globals.json || alt || !actions.isEmpty {
            throw ValidationError("-o - is the picture alone: leave out --json, --alt, --show and --open.")
        }
        if alt, show { throw ValidationError("--alt is for those who do not see the picture: leave out --show.") }
        if open, output == nil { throw ValidationError("--open opens the file that -o names: add -o fact.png.") }
        if output == nil, !alt, !show {
            throw ValidationError("Say where the picture is to go: add -o fact.png, --show or --alt.")
        }
    }

    private var subject: CardSubject {
        id.map(CardSubject.id) ?? text.map(CardSubject.text) ?? (today ? .today : .last)
    }

    func run(in session: Session) throws(Failure) -> Report {
        if show {
            try session.requireTerminalToDraw(otherwise: "-o fact.png writes the picture into a file.")
        }
        if output == "-", session.system.terminal.isTerminal {
            throw Failure(
                .usage, "A picture cannot be printed on a terminal.",
                hint: "--show draws it there, and -o fact.png writes it into a file."
            )
        }
        let (fact, json, freshness) = try subject.fact(session)
        let drawing = CardDrawing(fact: fact, size: size ?? 1080, showsTags: !leavesOutTags)
        let words = alt ? try drawing.alternativeText(session) : nil
        let picture = output != nil || show ? try drawing.picture(session) : nil
        var report = session.report(json, freshness: freshness, source: "facts") { screen in
            words.map { screen.line($0) }
        }
        if let picture { try deliver(picture, session, &report) }
        return report
    }

    /// Writes, shows and opens the picture.
    private func deliver(_ picture: CardPicture, _ session: Session, _ report: inout Report) throws(Failure) {
        if output == "-" {
            report.output = picture.bytes
        } else if let output {
            do {
                try session.system.writeFile(output, picture.bytes)
            } catch {
                throw Failure(.inputOutput, "\(output.quotedForMessage) cannot be written: \(error.reason).")
            }
            report.remark("Wrote \(output), \(picture.width) × \(picture.height).")
        }
        if show {
            do throws(Failure) {
                try session.draw(picture: picture.bytes)
            } catch {
                report.add(error)
            }
        }
        if open, let output {
            report.attempt { () throws(Failure) in try session.open(file: output) }
        }
    }
}
