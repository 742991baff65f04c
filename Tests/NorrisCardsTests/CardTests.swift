import NorrisArguments
import NorrisProtocol
import Testing

@testable import NorrisCards

/// Cards with fonts from the Debian packages fonts-inter, fonts-noto-core and fonts-noto-color-emoji.
struct CardTests {
    private func png(_ fact: Fact, size: Int = 256, showsTags: Bool = true) throws -> [UInt8] {
        try Card(fact: fact, options(["--size", "\(size)"] + (showsTags ? [] : ["--no-tags"]))).png()
    }

    private func picture(_ fact: Fact, size: Int = 256, showsTags: Bool = true) throws -> Picture {
        try #require(Picture(png: png(fact, size: size, showsTags: showsTags)))
    }

    @Test func aShortTextIsSquareAndALongOneHigher() throws {
        let short = try picture(fact("Chuck Norris counted to infinity. Twice."), size: 300)
        #expect(short.width == 300 && short.height == 300)
        let long = try picture(fact(String(repeating: "Once is not enough. ", count: 90)))
        #expect(long.width == 256 && long.height > 384 && long.height < 768)
        let story = try Card(fact: fact("x"), options(["--size", "270", "--aspect", "9:16"])).png()
        #expect(Picture(png: story)?.height == 480)
    }

    /// The contrast of WCAG 2.2 (success criterion 1.4.3) on the brightest pixel below the letters.
    @Test(arguments: 0..<24) func lettersStandOut(seed: Int) throws {
        let categories = ["animal", "dev", "food", "history", "movie", "science", "travel", ""]
        let text = String(repeating: "He looked at it, and it was. ", count: [1, 4, 18][seed % 3])
        let card = try Card(
            fact: fact(text, id: "seed \(seed)", categories: [categories[seed % 8]]), options(["--size", "256"]))
        let (composition, rows) = (card.composition, 0..<card.composition.height)
        let ink = try Canvas(width: composition.width, rows: rows.count)
        try ink.draw(color: 0xFFFFFF) { composition.drawLetters(on: $0, rows: rows) }
        let ground = try Canvas(width: composition.width, rows: rows.count)
        card.landscape.paint(rows: rows, shade: composition.shade, into: ground.pixels)
        let below = zip(ink.pixels, ground.pixels).filter { $0.0 & 0xFF > 0 }.map { relativeLuminance($0.1) }
        #expect((relativeLuminance(Composition.color) + 0.05) / (try #require(below.max()) + 0.05) >= 4.5)
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
        for other in [tagged, sourced] { #expect(other.pixels[foot...] != plain.pixels[foot...]) }
        // The tags begin at the left margin, and the source ends at the right margin.
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
                let foot = try #require(
                    Foot(
                        fact("x", categories: names, source: source), showsTags: true, measure: 830, size: 26,
                        isMirrored: false, typesetter: typesetter))
                let blocks = [foot.tags, foot.source].compactMap { $0 }
                #expect(blocks.reduce(0) { $0 + $1.right - $1.left } < 830)
            }
        }
    }

    @Test func aSignatureReplacesTheSource() throws {
        func foot(_ source: String, _ words: [String] = []) throws -> ArraySlice<UInt32> {
            let card = try Card(fact: fact("x", categories: [], source: source), options(["--size", "256"] + words))
            return try #require(Picture(png: card.png())).pixels[(210 * 256)...]
        }
        #expect(try foot("builtin", ["--by", "Nora"]) == foot("text", ["--by", "Nora"]))
        #expect(try foot("text", ["--by", "Nora"]) != foot("text"))
    }

    @Test("A character without a font is reported with its package") func reportsMissingFonts() throws {
        #expect(try Card(fact: fact("Ship it. 🚀 骨")).warning == nil)
        let card = try Card(fact: fact("x \u{10FFFD}"), options(["--size", "256"]))
        #expect(card.warning == "Some characters have no font.")
        #expect(try String(decoding: card.png(), as: UTF8.self).contains("Comment\0\0\0\0\0Some characters have"))
        let packages = ["🚀", "㊗", "骨", "ハ", "한", "ب", "\u{10FFFD}"].map { fontPackage(for: $0) }
        #expect(
            packages == ["color-emoji", "color-emoji", "cjk", "cjk", "cjk", "core"].map { "fonts-noto-\($0)" } + [nil])
    }

    @Test func theAlternativeTextIsOneLine() throws {
        let card = try Card(fact: fact("Two\nlines,\u{1B}[31m red"))
        #expect(card.alternativeText.hasPrefix("A picture of "))
        #expect(card.alternativeText.hasSuffix(", with the words: Two lines, red"))
    }

    // MARK: Posters

    private func poster(_ fact: Fact, _ headline: String? = nil, size: Int = 256) throws -> Picture {
        let words = ["--size", "\(size)", "--style", "poster"] + (headline.map { ["--headline", $0] } ?? [])
        return try #require(Picture(png: Card(fact: fact, options(words)).png()))
    }

    @Test func aHeadlineIsDrawnAndSaid() throws {
        let plain = try poster(fact("x", categories: ["career"]))
        let word = Headline.word(for: "career", id: fact("x").id)
        #expect(try poster(fact("x", categories: ["career"]), word) == plain)
        #expect(try poster(fact("x", categories: ["career"]), "Courage") != plain)
        #expect(try poster(fact("x", categories: ["career"]), String(repeating: "W", count: 24)) != plain)
        let card = try Card(
            fact: fact("Two\nlines", categories: ["career"]), options(["--style", "poster", "--headline", "Ambition"]))
        #expect(card.alternativeText.hasPrefix("A black poster with a picture of "))
        #expect(card.alternativeText.hasSuffix(", with the headline AMBITION and the words: Two lines"))
    }

    @Test(
        "The headline follows from the category and the id; five headlines of a category occur",
        arguments: [("career", 5), ("linux-cookie", 1), ("\u{1B}[31m", 5), (String(repeating: "x", count: 40), 5)])
    func findsHeadlines(category: String, count: Int) {
        let words = (0..<100).map { Headline.word(for: category, id: "\($0)") }
        #expect(Set(words).count == count)
        #expect(words.allSatisfy { CardArguments.headline($0) == $0 })
        #expect(words[7] == Headline.word(for: category, id: "7"))
        if category == "linux-cookie" { #expect(words[0] == "linux cookie") }
    }

    @Test func headlinesOfOnesOwnAreBounded() {
        #expect(CardArguments.headline("  Grit \u{1B}[31m ") == "Grit")
        #expect(CardArguments.headline(String(repeating: "é", count: 24)) != nil)
        for text in ["", " ", "\u{200D}", String(repeating: "x", count: 25)] {
            #expect(CardArguments.headline(text) == nil)
        }
    }
}
