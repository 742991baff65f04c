import NorrisProtocol
import Testing

@testable import NorrisCards

/// Cards with fonts from the Debian packages fonts-inter, fonts-noto-core and fonts-noto-color-emoji.
struct CardTests {
    private func png(_ fact: Fact, size: Int = 256, showsTags: Bool = true) throws -> [UInt8] {
        try Card(fact: fact, CardOptions(size: size, showsTags: showsTags)).png()
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
        let card = try Composition(fact(words), text: CardText(words), CardOptions(size: 256))
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

    @Test func theAlternativeTextIsOneLine() throws {
        let card = try Card(fact: fact("Two\nlines,\u{1B}[31m red"))
        #expect(card.alternativeText.hasPrefix("A picture of "))
        #expect(card.alternativeText.hasSuffix(", with the words: Two lines, red"))
    }

    @Test func thePictureSaysWhatItShows() throws {
        let bytes = String(decoding: try png(fact("Grüße.")), as: Unicode.ASCII.self)
        #expect(bytes.contains("Description"))
        #expect(bytes.contains("Software\u{0}\u{0}\u{0}\u{0}\u{0}norrisd \(NorrisVersion.current)"))
    }

    // MARK: Posters

    private func poster(_ fact: Fact, _ headline: String? = nil, size: Int = 256) throws -> Picture {
        try #require(Picture(png: Card(fact: fact, CardOptions(size: size, style: .poster(headline: headline))).png()))
    }

    @Test func aPosterIsFourByFiveAndALongTextMakesItHigher() throws {
        let short = try poster(fact("Chuck Norris counted to infinity. Twice."), size: 300)
        #expect(short.width == 300 && short.height == 375)
        let long = try poster(fact(String(repeating: "Once is not enough. ", count: 90)))
        #expect(long.width == 256 && long.height > 320)
    }

    @Test func aPosterHasABlackMatAndARuleAroundThePicture() throws {
        let card = try Card(fact: fact("x"), CardOptions(size: 512, style: .poster(headline: nil)))
        let frame = card.composition.picture
        let pixels = try poster(fact("x"), size: 512).pixels
        func pixel(_ x: Int, _ y: Int) -> Float { relativeLuminance(pixels[y * 512 + x]) }
        let middle = frame.y + frame.height / 2
        #expect(pixels[0] == Composition.mat && pixels[middle * 512 + 5] == Composition.mat)
        #expect(pixels[middle * 512 + frame.x - 2] == Composition.mat)
        let beside = (0..<frame.x).map { pixel($0, middle) }
        #expect(try #require(beside.max()) > 0.3, "there is a rule")
        let inside = (frame.x..<frame.x + frame.width).filter { pixels[middle * 512 + $0] != Composition.mat }
        #expect(inside.count > frame.width * 9 / 10)
        let letters = try Canvas(width: 512, rows: card.composition.height)
        try letters.draw(color: 0xFFFFFF) { card.composition.drawLetters(on: $0, rows: 0..<card.composition.height) }
        let covered = (frame.y..<frame.y + frame.height).contains { row in
            (frame.x..<frame.x + frame.width).contains { letters.pixels[row * 512 + $0] & 0xFF_FFFF != 0 }
        }
        #expect(!covered)
    }

    @Test func aHeadlineIsDrawnAndSaid() throws {
        let plain = try poster(fact("x", categories: ["career"]))
        let word = Headline.word(for: "career", id: fact("x").id)
        #expect(try poster(fact("x", categories: ["career"]), word) == plain)
        #expect(try poster(fact("x", categories: ["career"]), "Courage") != plain)
        #expect(try poster(fact("x", categories: ["career"]), String(repeating: "W", count: 24)) != plain)
        let card = try Card(
            fact: fact("Two\nlines", categories: ["career"]), CardOptions(style: .poster(headline: "Ambition")))
        #expect(card.alternativeText.hasPrefix("A black poster with a picture of "))
        #expect(card.alternativeText.hasSuffix(", with the headline AMBITION and the words: Two lines"))
    }

    @Test(
        "The headline follows from the category and the id; five headlines of a category occur",
        arguments: [
            ("career", 5), ("science", 5), ("linux-cookie", 1), ("", 5), ("\u{1B}[31m", 5),
            (String(repeating: "x", count: 40), 5),
        ])
    func findsHeadlines(category: String, count: Int) {
        let words = (0..<100).map { Headline.word(for: category, id: "\($0)") }
        #expect(Set(words).count == count)
        #expect(words.allSatisfy { Headline.checked($0) == $0 })
        #expect(words[7] == Headline.word(for: category, id: "7"))
        if category == "linux-cookie" { #expect(words[0] == "linux cookie") }
    }

    @Test func headlinesOfOnesOwnAreBounded() {
        #expect(Headline.checked("  Grit \u{1B}[31m ") == "Grit")
        #expect(Headline.checked(String(repeating: "é", count: 24)) != nil)
        for text in ["", " ", "\u{200D}", String(repeating: "x", count: 25)] { #expect(Headline.checked(text) == nil) }
    }

    @Test func noTagStandsTwice() throws {
        let once = try picture(fact("x", categories: ["dev", "food"]))
        #expect(try picture(fact("x", categories: ["dev", "food", "dev", "food"])) == once)
    }
}
