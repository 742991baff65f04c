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

    /// - Parameter size: the width in pixels, one of ``sizes``, and the height unless the text wants more.
    package init(fact: Fact, size: Int = 1080, showsTags: Bool = true) throws(CardError) {
        self.fact = fact
        text = try CardText(fact.text)
        composition = try Composition(fact, text: text, size: size, showsTags: showsTags)
        landscape = Landscape(
            seed: stableHash(fact.id), category: fact.categories.first, width: size, height: composition.height,
            letters: composition.letters
        )
    }

    /// What is to be seen, in words, on one line.
    package var alternativeText: String {
        "A picture of \(landscape.description), with the words: \(sanitizedLine(text.text))"
    }

    /// Draws the card as a PNG file. The same fact gives the same bytes where fonts and libraries are the same.
    package func png() throws(CardError) -> [UInt8] {
        let (width, scrims) = (composition.width, composition.scrims)
        let texts = [
            ("Title", sanitizedLine(text.text)),
            ("Source", sanitizedLine(fact.url.flatMap { $0.isEmpty ? nil : $0 } ?? fact.source)),
            ("Description", alternativeText),
            ("Software", "norrisd \(NorrisVersion.current)"),
        ]
        let writer = try PNGWriter(width: width, height: composition.height, texts: texts)
        // In bands, so that high cards take little memory and Cairo's limit of 32,767 rows is not met.
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
