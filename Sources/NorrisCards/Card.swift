import Glibc
package import NorrisProtocol
import NorrisSystem
import NorrisText

/// A fact as a picture.
package struct Card {
    /// The valid widths in pixels.
    package static let sizes = 256...4096

    private let fact: Fact
    private let text: CardText
    let composition: Composition
    let landscape: Landscape

    /// - Parameter size: the width in pixels, one of ``sizes``. The height is equal, or a quarter more for a poster,
    ///   unless the text needs more.
    package init(fact: Fact, size: Int = 1080, style: CardStyle = .scenic, showsTags: Bool = true) throws(CardError) {
        self.fact = fact
        text = try CardText(fact.text)
        composition = try Composition(fact, text: text, size: size, style: style, showsTags: showsTags)
        landscape = Landscape(
            seed: stableHash(fact.id), category: fact.categories.first, width: composition.picture.width,
            height: composition.picture.height, letters: composition.letters)
    }

    /// A description of the picture in words, on one line.
    package var alternativeText: String {
        let headline = composition.headline.map { "the headline \($0.uppercased()) and " } ?? ""
        let kind = headline.isEmpty ? "picture" : "black poster with a picture"
        return "A \(kind) of \(landscape.description), with \(headline)the words: \(text.line)"
    }

    /// Draws the card as a PNG file. The same fact, fonts and libraries give the same bytes.
    package func png() throws(CardError) -> [UInt8] {
        let (width, picture, scrims) = (composition.width, composition.picture, composition.scrims)
        let writer = try PNGWriter(
            width: width, height: composition.height,
            texts: [
                ("Title", text.line),
                ("Source", sanitizedLine(fact.url.flatMap { $0.isEmpty ? nil : $0 } ?? fact.source)),
                ("Description", alternativeText), ("Software", "norrisd \(NorrisVersion.current)"),
            ])
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
                    rows: painted.lowerBound - picture.y..<painted.upperBound - picture.y, scrims: scrims,
                    into: UnsafeMutableBufferPointer(rebasing: pixels[start...]), stride: width)
            }
            try canvas.draw(color: Composition.color) { composition.drawLetters(on: $0, rows: rows) }
            writer.append(UnsafeBufferPointer(pixels))
        }
        return writer.finish()
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
    static let noFont = CardError(
        status: 69, message: "No font is installed; install one, such as Debian's fonts-inter.")

    /// A library failed.
    static func failed(_ reason: String) -> CardError {
        CardError(status: 70, message: "The picture cannot be drawn: \(reason)")
    }
}
