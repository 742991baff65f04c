import Glibc
import NorrisArguments
package import NorrisProtocol
import NorrisSystem
import NorrisText

/// A fact as a picture.
package struct Card {
    private let fact: Fact
    private let text: CardText
    private let leavesOutText: Bool
    let composition: Composition
    let landscape: Landscape

    package init(fact: Fact, _ options: CardOptions = CardOptions()) throws(CardError) {
        self.fact = fact
        text = try CardText(fact.text, name: options.name)
        composition = try Composition(fact, text: text, options)
        leavesOutText = options.leavesOutText
        let look = options.look ?? 0
        landscape = Landscape(
            seed: stableHash(look == 0 ? fact.id : "\(fact.id) \(look)"), category: fact.categories.first,
            scene: options.shared.scene ?? Scene(seed: stableHash(fact.id), look: look),
            width: composition.picture.width,
            height: composition.picture.height, letters: leavesOutText ? nil : composition.letters)
    }

    /// A description of the picture in words, on one line.
    package var alternativeText: String {
        guard !leavesOutText else { return "A picture of \(landscape.description)" }
        let headline = composition.headline.map { "the headline \($0.uppercased()) and " } ?? ""
        let kind = headline.isEmpty ? "picture" : "black poster with a picture"
        return "A \(kind) of \(landscape.description), with \(headline)the words: \(text.line)"
    }

    /// A sentence about characters that no installed font has, with the packages of fonts for them.
    var warning: String? {
        let unknown = leavesOutText ? [] : composition.unknown
        if unknown.isEmpty { return nil }
        let packages = Set(unknown.compactMap(fontPackage)).sorted().joined(separator: " ")
        return "Some characters have no font\(packages.isEmpty ? "." : ": sudo apt install \(packages)")"
    }

    /// Draws the card as a PNG file. The same fact, fonts and libraries give the same bytes.
    package func png() throws(CardError) -> [UInt8] {
        let (width, picture) = (composition.width, composition.picture)
        let shade = leavesOutText ? nil : composition.shade
        var texts = [
            ("Title", text.line),
            ("Source", sanitizedLine(fact.url.flatMap { $0.isEmpty ? nil : $0 } ?? fact.source)),
            ("Description", alternativeText), ("Software", "norrisd \(NorrisVersion.current)"),
        ]
        // norrisctl shows the comment.
        if let warning { texts.append(("Comment", warning)) }
        let writer = try PNGWriter(width: width, height: composition.height, texts: texts)
        // In bands, so that high cards take little memory and stay below Cairo's limit of 32,767 rows.
        let bandHeight = min(composition.height, 256)
        let canvas = try Canvas(width: width, rows: bandHeight)
        for top in stride(from: 0, to: composition.height, by: bandHeight) {
            let rows = top..<min(top + bandHeight, composition.height)
            let pixels = UnsafeMutableBufferPointer(rebasing: canvas.pixels[..<(rows.count * width)])
            let painted = rows.clamped(to: picture.y..<picture.y + picture.height)
            if picture.width < width { pixels.update(repeating: Composition.mat) }
            if !painted.isEmpty {
                let start = (painted.lowerBound - top) * width + picture.x
                landscape.paint(
                    rows: painted.lowerBound - picture.y..<painted.upperBound - picture.y, shade: shade,
                    into: UnsafeMutableBufferPointer(rebasing: pixels[start...]), stride: width)
            }
            if !leavesOutText {
                try canvas.draw(color: Composition.color) { composition.drawLetters(on: $0, rows: rows) }
            }
            writer.append(UnsafeBufferPointer(pixels))
        }
        return writer.finish()
    }
}

/// The options of `norris-card`.
package struct CardOptions: Equatable, Sendable {
    /// The options that are also options of `norrisctl card`.
    private(set) var shared = CardArguments()
    /// The number of the landscape among the landscapes of the fact; 0 is the usual one.
    private(set) var look: Int?
    /// The name in the text that replaces Chuck Norris.
    private(set) var name: String?
    private(set) var leavesOutText = false
    /// Whether to write the alternative text instead of the picture.
    private(set) var isText = false

    package init() {}

    mutating func declare(_ arguments: inout CommandArguments) {
        shared.declare(&arguments)
        arguments.option(
            &look, "look", in: 0...1_000_000, "The number of another landscape for the fact. (default: 0)")
        arguments.option(
            &name, "name", ValueKind("name"),
            "The name in the text, which no line break divides. (default: Chuck Norris)")
        arguments.flag(&leavesOutText, "no-text", "Leave out all letters.")
        arguments.flag(&isText, "alt", "Write the alternative text instead of the picture.")
        arguments.common()
    }

    /// Refuses invalid combinations of options.
    func check() throws(CardError) {
        guard isPoster || shared.headline == nil else {
            throw .usage("--headline is for posters; add --style poster.")
        }
        guard !isPoster || !leavesOutText else {
            throw .usage("--no-text is for scenic cards; leave out --style poster.")
        }
    }

    /// The width in pixels.
    var size: Int { shared.size ?? (shared.aspect == .wide ? 1920 : 1080) }
    /// Whether the card is a motivational poster: a black mat with a framed landscape, a headline, and the text as its
    /// caption. Otherwise the text is on the landscape.
    var isPoster: Bool { shared.style == .poster }
}

extension CardArguments.Aspect {
    /// The height of a width, rounded to a pixel.
    func height(width: Int) -> Int {
        switch self {
        case .square: width
        case .portrait: (width * 5 + 2) / 4
        case .story: (width * 16 + 4) / 9
        case .wide: (width * 9 + 8) / 16
        }
    }
}

/// The reason why there is no card.
package struct CardError: Error, Equatable {
    /// The exit status, one of sysexits.h.
    let status: Int32
    /// One sentence with the fault and its correction; nil for no message.
    package let message: String?

    static func usage(_ sentence: String) -> CardError { CardError(status: 64, message: sentence) }

    static func noFact(_ reason: String) -> CardError {
        CardError(status: 65, message: "Standard input is not a fact: \(reason)")
    }

    static let nothingToDraw = CardError(
        status: 65, message: "The fact's text has no visible characters; use a text with letters.")
    static let tooLong = CardError(
        status: 65, message: "The fact's text is longer than \(Fact.maximumLength) characters; shorten it.")
    static let tooTall = CardError(
        status: 65, message: "The fact's text has too many lines for one picture; shorten it.")

    /// With a separate status, because norrisctl names the option.
    static func tooLong(for aspect: CardArguments.Aspect) -> CardError {
        CardError(
            status: 66,
            message: "The fact's text needs more room than --aspect \(aspect.rawValue) has; leave the option out.")
    }

    static let noFont = CardError(
        status: 69, message: "No font is installed; install one, such as Debian's fonts-inter.")

    /// A library failed.
    static func failed(_ reason: String) -> CardError {
        CardError(status: 70, message: "The picture cannot be drawn: \(reason)")
    }
}
