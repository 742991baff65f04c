import NorrisArguments
import NorrisProtocol
import NorrisSystem
import NorrisTerminal
import NorrisText

struct CardCommand: SessionCommand {
    static let name = "card"
    static let help = CommandHelp(
        "Make a picture of a fact.",
        """
        Without an option that names a fact, the card is of the fact you were shown last, with the name used
        then; with a number, of a fact of your last list in any terminal. A fact has the same picture every time.

        norrisctl card alone draws the card on the terminal, prints the fact, and says how to save the card.
        --show needs chafa, --open xdg-open, --copy wl-copy or xclip. Drawing may take 60s; an explicit --timeout
        covers the whole command.

        The style scenic writes the text on a landscape. A poster is black, with a framed landscape, a headline,
        and the text as its caption. Long texts make a card taller.

        Examples:
          norrisctl card
          norrisctl search light && norrisctl card 2
          norrisctl card --open
          norrisctl card -o fact.png
          norrisctl card --category dev --style poster -o poster.png
          norrisctl card --today --size 2160 -o today.png --open
          norrisctl card --aspect 16:9 --scene lake --size 3840 -o wallpaper.png
          norrisctl card --text "Ship it." --style poster --headline Courage --show
        """)

    /// The largest number of `--another`.
    private static let mostLooks = 1000

    private var number: ItemName?
    private var id: String?, text: String?, name: String?
    private var categories: [String] = []
    private var card = CardArguments()
    /// The number of times that `--another` is given.
    private var look = 0
    /// The file of the picture; `-` is standard output.
    private var output: String?
    private var isToday = false
    private var isText = false, isShown = false, isOpened = false, isCopied = false

    mutating func declare(_ arguments: inout CommandArguments) {
        arguments.positional(
            .number, "The number of a fact in the last list.", takes: "a whole number from 1 to 100", isOptional: true
        ) { word in
            number = Int(word).flatMap { 1...RecentServed.maximumIndex ~= $0 ? .number($0) : nil }
            return number != nil
        }
        arguments.option(&id, "id", .favorite(.fact), "The fact with this id.")
        arguments.option(&text, "text", .text, "A text of your own; needs no daemon.")
        arguments.flag(&isToday, "today", "The fact of the day.")
        arguments.categories(&categories, "A new fact of this category, or of several: dev,science. May be repeated.")
        arguments.option(&name, "name", .name, "Replace Chuck Norris with this name.")
        card.declare(&arguments)
        var isAnother = false
        arguments.flag(
            &isAnother, "another", "Another picture of the same fact; twice for the next, and so on.")
        if isAnother { look += 1 }
        arguments.option(
            &output, "output", short: "o", .file, "Write the picture, a PNG, to this file; - is standard output.")
        arguments.flag(&isText, "alt", "Print alt text for screen readers.")
        arguments.flag(&isShown, "show", "Draw the picture on the terminal.")
        arguments.flag(&isOpened, "open", "Open the picture, from the file of -o if there is one.")
        arguments.flag(&isCopied, "copy", "Copy the picture to the clipboard.")
    }

    func validate(_ settings: Settings) throws(UsageError) {
        if [number != nil, id != nil, text != nil, isToday, !categories.isEmpty].count(where: { $0 }) > 1 {
            throw UsageError("Use only one of a number, --id, --text, --today and --category.")
        }
        if text != nil, name != nil { throw UsageError("--name is for facts: leave it out beside --text.") }
        if card.signature != nil, text == nil {
            throw UsageError("A fact names its source. --by signs a text of your own: add --text.")
        }
        if card.headline != nil, card.style != .poster {
            throw UsageError("--headline is for posters: add --style poster.")
        }
        if look > Self.mostLooks { throw UsageError("--another may be given \(Self.mostLooks) times.") }
        if output == "" { throw UsageError("The name of the file behind -o is empty.") }
        if let output, let kind = Self.otherKind(output) {
            throw UsageError("Cards are PNG files, not \(kind): give -o a name that ends in .png.")
        }
        try settings.refuseJSON(besides: [("--show", isShown), ("--open", isOpened), ("--copy", isCopied)])
        if settings.json, isBare { throw UsageError("--json needs a file: add -o card.png.") }
        if settings.json, isText {
            throw UsageError("--json and --alt are both for standard output: leave out one of the two.")
        }
        if output == "-", settings.json || isText || isShown || isOpened || isCopied {
            throw UsageError("-o - prints only the picture: leave out --json, --alt, --show, --open and --copy.")
        }
        if isText, isShown { throw UsageError("--alt and --show exclude each other.") }
    }

    /// Returns the picture format of a file name in capitals, or nil for PNG and names without a known format.
    private static func otherKind(_ file: String) -> String? {
        guard let dot = file.lastIndex(of: "."), !file[dot...].contains("/") else { return nil }
        let kind = String(file[dot...].dropFirst()).uppercased()
        let others = ["AVIF", "BMP", "GIF", "HEIC", "JPEG", "JPG", "PDF", "SVG", "TIF", "TIFF", "WEBP"]
        return others.contains(kind) ? kind : nil
    }

    /// Whether the command line names no destination of the card.
    private var isBare: Bool { output == nil && !isText && !isShown && !isOpened && !isCopied }

    func run(in session: Session) throws(Failure) -> Report {
        if let number {
            // The command that saves the card names the id, because the list may change.
            var command = self
            (command.number, command.id) = (nil, try session.item(number, of: .fact).id)
            return try command.run(in: session)
        }
        if isShown { try session.requireTerminalToDraw(otherwise: "-o fact.png writes the picture into a file.") }
        if isBare, session.layout.width == nil {
            throw Failure(
                .usage, "norrisctl card without -o needs a terminal, and no --plain or --format.",
                hint: "-o card.png writes it into a file, and --alt prints it in words.")
        }
        if output == "-", session.system.terminal.isTerminal {
            throw Failure(
                .usage, "A picture cannot be printed on a terminal.",
                hint: "--show draws it there, and -o fact.png writes it into a file.")
        }
        try session.checkFormat(for: FactGet.self)
        let (fact, json, freshness, usedName) = try subject(session)
        let drawing = CardDrawing(
            fact: fact,
            arguments: card.words + optionWords(("--look", look > 0 ? "\(look)" : nil), ("--name", usedName)))
        let words = isText ? try drawing.alternativeText(session) : nil
        guard isBare else {
            let picture = output != nil || isShown || isOpened || isCopied ? try drawing.picture(session) : nil
            var report = session.report(
                json, schema: FactGet.Result.schema, freshness: freshness, source: SourceStatus.facts
            ) {
                screen in words.map { screen.paragraph($0) }
            }
            if let picture { try deliver(picture, session, &report) }
            return report
        }
        // The fact is shown even if its card cannot be drawn.
        var report = session.report(json) { $0.facts([fact]) }
        let picture: CardPicture
        do throws(Failure) {
            picture = try drawing.picture(session)
        } catch {
            report.add(error)
            return report
        }
        do throws(Failure) {
            // The fact below stays on the screen.
            let lines = report.output.count { $0 == UInt8(ascii: "\n") }
            try session.draw(
                picture: picture.bytes, rows: max(session.screenRows - lines - 1, session.screenRows / 2))
        } catch {
            report.add(error)
        }
        if let warning = picture.warning { report.note("\(value: warning)") }
        report.remark("To save it: \(value: savingCommand(session))")
        return report
    }

    /// Returns the command that saves the card just shown. The daemon has stored the fact and the name.
    private func savingCommand(_ session: Session) -> String {
        let options =
            optionWords(("--socket", session.settings.socket), ("--id", id), ("--text", text))
            + flagWords([("--today", isToday)]) + optionWords(("--name", categories.isEmpty ? name : nil))
            + card.words + Array(repeating: "--another", count: look)
        return shellCommand(["norrisctl", "card"] + options + ["-o", "card.png"]) ?? "the same command with -o card.png"
    }

    /// The fact, its result, the freshness of the result, and the name in the text.
    private typealias Subject = (fact: Fact, json: EncodedJSON, freshness: Freshness?, name: String?)

    /// Returns the fact of the card. The default is the fact last shown to the user, or else the next fact.
    private func subject(_ session: Session) throws(Failure) -> Subject {
        func get(_ id: String, _ name: String?) throws(Failure) -> Subject {
            let reply = try session.call(FactGet.self, FactGet.Parameters(id: id, name: name))
            return (reply.value.fact, reply.json, nil, name)
        }
        if let id { return try get(id, name) }
        if let text {
            let fact = try Self.fact(text)
            return (fact, EncodedJSON(FactGet.Result(fact: fact)), nil, nil)
        }
        if isToday {
            let reply = try session.call(FactToday.self)
            if let name { return try get(reply.value.fact.id, name) }
            return (reply.value.fact, reply.json, reply.value.freshness, nil)
        }
        if categories.isEmpty {
            var served: RecentServed.Result?
            do throws(Failure) {
                served = try session.call(RecentServed.self, RecentServed.Parameters(kind: .fact)).value
            } catch {
                // No fact was shown yet.
                guard error.response?.code == .notFound else { throw error }
            }
            if let served { return try get(served.id, name ?? served.name) }
        }
        let reply = try session.call(
            FactRandom.self, FactRandom.Parameters(categories: categories, name: name))
        guard let fact = reply.value.items.first else {
            if !categories.isEmpty {
                let hint: Advice = "List the categories: norrisctl categories"
                throw Failure(.nothing, "There is no fact of this category.", hint: hint)
            }
            throw Failure(.nothing, "norrisd has no fact.", hint: "Draw a text of your own: --text \"Ship it.\"")
        }
        return (fact, reply.json, reply.value.freshness, name)
    }

    private static func fact(_ text: String) throws(Failure) -> Fact {
        let text = sanitizedText(text)
        guard !sanitizedLine(text).isEmpty else {
            throw Failure(.usage, "The text has no visible characters.", hint: "Give one: --text \"Ship it.\"")
        }
        guard text.unicodeScalars.count <= Fact.maximumLength else {
            let limit = groupedDigits(Fact.maximumLength)
            throw Failure(.usage, "The text is longer than \(limit) characters.", hint: "Shorten it.")
        }
        // Equal texts have the same id, and therefore the same picture.
        return Fact(id: "text-" + String(stableHash(text), radix: 16), text: text, categories: [], source: "text")
    }

    private func deliver(_ picture: CardPicture, _ session: Session, _ report: inout Report) throws(Failure) {
        if output == "-" {
            report.output = picture.bytes
        } else if let output {
            try session.write(picture.bytes, toFile: output)
            report.remark("Wrote \(value: output), \(value: picture.width) × \(value: picture.height).")
        }
        if isCopied {
            report.attempt { () throws(Failure) in try session.copy(picture: picture.bytes) }
        }
        if let warning = picture.warning { report.note("\(value: warning)") }
        // Of a poster, or of the shape that the user has chosen.
        let shape = (card.aspect ?? .portrait).rawValue
        let sides = shape.split(separator: ":").compactMap { Int($0) }
        if output != nil || isCopied, sides[0] * (picture.height - 1) >= sides[1] * picture.width {
            report.note("The text makes the card taller than \(value: shape); some sites crop such pictures.")
        }
        if isShown {
            do throws(Failure) {
                try session.draw(picture: picture.bytes)
            } catch {
                report.add(error)
            }
        }
        if isOpened {
            report.attempt { () throws(Failure) in
                let file = if let output { output } else { try temporaryFile(picture, session) }
                return try session.open(file: file)
            }
        }
    }

    /// Writes the picture into the folder of pages, and returns its path.
    private func temporaryFile(_ picture: CardPicture, _ session: Session) throws(Failure) -> String {
        do throws(Failure) {
            return try PageFolder(session.system.environment).write(as: "png") { _, _ in picture.bytes }
        } catch {
            var failure = error
            failure.hint = "Write it elsewhere: -o fact.png"
            throw failure
        }
    }
}
