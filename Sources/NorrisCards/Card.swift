import Glibc
package import NorrisProtocol
import NorrisText

/// A fact as a picture.
package struct Card {
    /// In pixels.
    package static let sizes = 256...4096

    private let fact: Fact
    private let text: CardText
    let composition: Composition
    let landscape: Landscape

    /// - Parameter size: the width in pixels, one of ``sizes``, and the height unless the text needs more.
    package init(fact: Fact, size: Int = 1080, showsTags: Bool = true) throws(CardError) {
        self.fact = fact
        text = try CardText(fact.text)
        composition = try Composition(fact, text: text, size: size, showsTags: showsTags)
        landscape = Landscape(
            seed: stableHash(fact.id), category: fact.categories.first, width: size, height: composition.height,
            letters: composition.letters)
    }

    /// What the picture shows, in words, on one line.
    package var alternativeText: String {
        "A picture of \(landscape.description), with the words: \(sanitizedLine(text.text))"
    }

    /// Draws the card as a PNG file. The same fact gives the same bytes where fonts and libraries are the same.
    package func png() throws(CardError) -> [UInt8] {
        let (width, scrims) = (composition.width, composition.scrims)
        let writer = try PNGWriter(
            width: width, height: composition.height,
            texts: [
                ("Title", sanitizedLine(text.text)),
                ("Source", sanitizedLine(fact.url.flatMap { $0.isEmpty ? nil : $0 } ?? fact.source)),
                ("Description", alternativeText),
                ("Software", "norrisd \(NorrisVersion.current)"),
            ])
        // In bands, so that high cards take little memory and stay below Cairo's limit of 32,767 rows.
        let bandHeight = min(composition.height, 256)
        let canvas = try Canvas(width: width, rows: bandHeight)
        for top in stride(from: 0, to: composition.height, by: bandHeight) {
            let rows = top..<min(top + bandHeight, composition.height)
            let pixels = UnsafeMutableBufferPointer(rebasing: canvas.pixels[..<(rows.count * width)])
            landscape.paint(rows: rows, scrims: scrims, into: pixels)
            try canvas.draw(color: Composition.color) { composition.drawLetters(on: $0, rows: rows) }
            writer.append(UnsafeBufferPointer(pixels))
        }
        return writer.finish()
    }
}

/// Why there is no card.
package enum CardError: Error, Equatable {
    /// The sentence says what is wrong with the command line.
    case usage(String)
    case input(errno: Int32)
    case output(errno: Int32)
    /// The input is no fact; the text says why.
    case noFact(String)
    /// The text has nothing that can be seen.
    case nothingToDraw
    /// The text has more characters than any fact.
    case tooLong
    /// The text has more lines than a picture can be high.
    case tooTall
    case noFont
    /// A library failed; the text says which and why.
    case failed(String)

    /// The exit status, one of sysexits.h.
    var status: Int32 {
        switch self {
        case .usage: 64
        case .noFact, .nothingToDraw, .tooLong, .tooTall: 65
        case .noFont: 69
        case .failed: 70
        // The reader has seen enough.
        case .output(EPIPE): 0
        case .input, .output: 74
        }
    }

    /// One sentence that names the thing and what fixes it; nil where there is nothing to say.
    package var message: String? {
        switch self {
        case .usage(let sentence): sentence
        case .input(let errno): "Standard input cannot be read: \(String(cString: strerror(errno)))."
        case .output(EPIPE): nil
        case .output(let errno): "Standard output cannot be written: \(String(cString: strerror(errno)))."
        case .noFact(let reason): "Standard input is no fact: \(reason)"
        case .nothingToDraw: "The fact's text shows nothing; give one with letters."
        case .tooLong: "The fact's text is longer than \(Fact.maximumLength) characters; shorten it."
        case .tooTall: "The fact's text has too many lines for one picture; shorten it."
        case .noFont: "No font is installed; install one, such as Debian's fonts-inter."
        case .failed(let reason): "The picture cannot be drawn: \(reason)"
        }
    }
}
