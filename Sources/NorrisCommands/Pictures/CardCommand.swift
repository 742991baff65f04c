import ArgumentParser
import NorrisProtocol
import NorrisTerminal
import NorrisText

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

    @Option("The fact of this id.", "id", parsing: .unconditional) var id: String?
    @Option("A text of your own; needs no daemon.", "text", parsing: .unconditional) var text: String?
    @Flag(help: "The fact of the day.") var today = false
    @Option("The width in pixels, 256 to 4096. (default: 1080)", in: 256...4096) var size: Int?
    @Flag(name: .customLong("no-tags"), help: "Leave out the #tags.") var leavesOutTags = false

    @Option(
        name: [.customShort("o"), .long],
        help: ArgumentHelp("Write the picture, a PNG, into this file; - is standard output.", valueName: "file")
    )
    var output: String?

    @Flag(help: "Print alt text for screen readers.") var alt = false
    @Flag(help: "Draw the picture on the terminal.") var show = false
    @Flag(help: "Open the file that -o names.") var open = false
    static var statuses: [ExitStatus] {
        [.done, .nothing, .usage, .unavailable, .internalError, .inputOutput, .temporary, .notPermitted]
    }

    @OptionGroup(title: GlobalOptions.title) var globals: GlobalOptions

    func validate() throws {
        if [id != nil, text != nil, today].count(where: { $0 }) > 1 {
            throw ValidationError("Of --id, --text and --today there can be one only.")
        }
        if output == "" { throw ValidationError("The name of the file behind -o is empty.") }
        try globals.refuseJSON(besides: ("--show", show), ("--open", open))
        if globals.json, alt {
            throw ValidationError("--json and --alt are both for standard output: leave out one of the two.")
        }
        if output == "-", globals.json || alt || show || open {
            throw ValidationError("-o - is the picture alone: leave out --json, --alt, --show and --open.")
        }
        if alt, show { throw ValidationError("--alt is for those who do not see the picture: leave out --show.") }
        if open, output == nil { throw ValidationError("--open opens the file that -o names: add -o fact.png.") }
        if output == nil, !alt, !show {
            throw ValidationError("Say where the picture is to go: add -o fact.png, --show or --alt.")
        }
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
        let (fact, json, freshness) = try subject(session)
        let drawing = CardDrawing(fact: fact, size: size ?? 1080, showsTags: !leavesOutTags)
        let words = alt ? try drawing.alternativeText(session) : nil
        let picture = output != nil || show ? try drawing.picture(session) : nil
        var report = session.report(json, freshness: freshness, source: "facts") { screen in
            words.map { screen.line($0) }
        }
        if let picture { try deliver(picture, session, &report) }
        return report
    }

    /// The fact, the result it came in, and how fresh that is.
    private typealias Subject = (fact: Fact, json: any JSONEncodable, freshness: Freshness?)

    /// What the card is about: without an option the fact the user was shown last, or where there is none the next one.
    private func subject(_ session: Session) throws(Failure) -> Subject {
        func get(_ id: String) throws(Failure) -> Subject {
            let reply = try session.call(FactGet.self, IDParameters(id: id))
            return (reply.value.fact, reply.json, nil)
        }
        if let id { return try get(id) }
        if let text {
            let fact = try Self.fact(text)
            return (fact, FactGet.Result(fact: fact), nil)
        }
        if today {
            let reply = try session.call(FactToday.self)
            return (reply.value.fact, reply.json, reply.value.freshness)
        }
        do throws(Failure) {
            return try get(session.call(RecentServed.self, RecentServed.Parameters(kind: .fact)).value.id)
        } catch {
            // There is none, it is gone, or an older daemon does not know it.
            guard [.notFound, .unknownMethod].contains(error.response?.code) else { throw error }
        }
        let reply = try session.call(FactRandom.self)
        guard let fact = reply.value.items.first else {
            throw Failure(.nothing, "norrisd has no fact.", hint: "Draw a text of your own: --text \"Ship it.\"")
        }
        return (fact, reply.json, reply.value.freshness)
    }

    /// A text of the user's own.
    private static func fact(_ text: String) throws(Failure) -> Fact {
        let text = sanitizedText(text)
        guard !sanitizedLine(text).isEmpty else {
            throw Failure(.usage, "There is nothing to be seen in the text.", hint: "Give one: --text \"Ship it.\"")
        }
        guard text.unicodeScalars.count <= Fact.maximumLength else {
            let limit = groupedDigits(Fact.maximumLength)
            throw Failure(.usage, "The text is longer than \(limit) characters.", hint: "Leave some of it out.")
        }
        // The same text has the same id, and so the same picture.
        return Fact(id: "text-" + String(stableHash(text), radix: 16), text: text, categories: [], source: "text")
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
