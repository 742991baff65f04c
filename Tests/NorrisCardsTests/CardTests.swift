import NorrisProtocol
import Testing

@testable import NorrisCards

/// With the fonts of Debian's fonts-inter, fonts-noto-core, fonts-noto-color-emoji.
struct CardTests {
    private func png(_ fact: Fact, size: Int = 256, showsTags: Bool = true) throws -> [UInt8] {
        try Card(fact: fact, size: size, showsTags: showsTags).png()
    }

    private func picture(_ fact: Fact, size: Int = 256, showsTags: Bool = true) throws -> Picture {
        try #require(Picture(png: png(fact, size: size, showsTags: showsTags)))
    }

    @Test func aShortTextIsSquareAndALongOneHigher() throws {
        let short = try picture(fact("Chuck Norris counted to infinity. Twice."), size: 300)
        #expect(short.width == 300 && short.height == 300)
        let long = try picture(fact(String(repeating: "Once is not enough. ", count: 90)))
        #expect(long.width == 256 && long.height > 384 && long.height < 768)
    }

    @Test func theLongestFactIsDrawn() throws {
        let words = String(repeating: "word ", count: 2_000)
        let card = try Composition(fact(words), text: CardText(words), size: 256, showsTags: true)
        #expect(card.height > 2_000 && card.height < 256 * 16)
    }

    @Test func markupIsDrawnAsItIs() throws {
        for (markup, meaning) in [("<b>x</b>", "x"), ("&amp;", "&")] {
            let other = try picture(fact(meaning))
            #expect(try picture(fact(markup)) != other)
        }
    }

    @Test func tagsAndSourceStandAtTheFootAndNowhereElse() throws {
        let plain = try picture(fact("x", categories: ["dev", "food"], source: "text"), showsTags: false)
        let tagged = try picture(fact("x", categories: ["dev", "food"], source: "text"))
        let sourced = try picture(fact("x", categories: ["dev", "food"], source: "builtin"), showsTags: false)
        let foot = 210 * 256
        for other in [tagged, sourced] {
            #expect(other.pixels[foot...] != plain.pixels[foot...])
        }
        // The tags begin at the left, the source ends at the right.
        func rightHalf(_ picture: Picture) -> [UInt32] {
            (foot..<256 * 256).filter { $0 % 256 >= 128 }.map { picture.pixels[$0] }
        }
        #expect(rightHalf(tagged) != rightHalf(sourced))
        #expect(try picture(fact("x", categories: [], source: "text"), showsTags: true).pixels.count == 256 * 256)
    }

    @Test func moreTagsThanFitAreCutWithinTheMargins() throws {
        let many = (0..<40).map { "category-number-\($0)" }
        let typesetter = try Typesetter(language: "en")
        for names in [many, [String(repeating: "x", count: 40)], Array(repeating: "\u{1B}[31m", count: 9)] {
            for source in ["chucknorris", "fortune:" + String(repeating: "very-long-name-", count: 99)] {
                let foot = try #require(Foot(
                    fact("x", categories: names, source: source), showsTags: true, measure: 830, size: 26,
                    isMirrored: false, typesetter: typesetter
                ))
                let blocks = [foot.tags, foot.source].compactMap { $0 }
                #expect(blocks.reduce(0) { $0 + $1.right - $1.left } < 830)
            }
        }
    }

    @Test func theAlternativeTextIsOneLine() throws {
        let card = try Card(fact: fact("Two\nlines,\u{1B}[31m red"))
        #expect(card.alternativeText.hasPrefix("A picture of mountains above a lake "))
        #expect(card.alternativeText.hasSuffix(", with the words: Two lines, red"))
    }

    @Test func thePictureSaysWhatItShows() throws {
        let bytes = String(decoding: try png(fact("Grüße.")), as: Unicode.ASCII.self)
        #expect(bytes.contains("Description"))
        #expect(bytes.contains("Software\u{0}\u{0}\u{0}\u{0}\u{0}norrisd \(NorrisVersion.current)"))
    }

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
        // "contrast ratio" of WCAG 2.2
        #expect((relativeLuminance(Composition.color) + 0.05) / (brightest + 0.05) >= 4.5)
    }
}
