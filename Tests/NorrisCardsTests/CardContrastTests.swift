import NorrisProtocol
import Testing

@testable import NorrisCards

/// With the fonts of Debian's fonts-inter.
struct CardContrastTests {
    /// What WCAG 2.2 asks for (success criterion 1.4.3), measured on the painted ground of every pixel that a letter
    /// touches.
    @Test("Letters can be told from the brightest ground under them", arguments: 0..<24)
    func lettersStandOut(seed: Int) throws {
        let categories = ["animal", "dev", "food", "history", "movie", "science", "travel", ""]
        let text = String(repeating: "He looked at it, and it was. ", count: [1, 4, 18][seed % 3])
        let fact = fact(text, id: "seed \(seed)", categories: [categories[seed % 8]])
        let (card, landscape) = try { ($0.composition, $0.landscape) }(Card(fact: fact, size: 256))
        let rows = 0..<card.height
        let ground = try Canvas(width: card.width, rows: card.height)
        landscape.paint(rows: rows, scrims: card.scrims, into: ground.pixels)
        let letters = try Canvas(width: card.width, rows: card.height)
        try letters.draw(color: 0xFFFFFF) { card.drawLetters(on: $0, rows: rows) }

        var brightest: Float = 0
        for (ground, letter) in zip(ground.pixels, letters.pixels) where letter & 0xFF_FFFF != 0 {
            brightest = max(brightest, relativeLuminance(ground))
        }
        #expect(letters.pixels.contains { $0 & 0xFF_FFFF == 0xFF_FFFF })
        #expect(contrast(relativeLuminance(Composition.color), brightest) >= 4.5)
    }
}
