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

    @Test func tooManyLinesAreRefused() throws {
        let lines = String(repeating: "a\n", count: 5_000)
        #expect(throws: CardError.tooTall) { try png(fact(lines)) }
    }

    @Test func theSameFactGivesTheSameBytes() throws {
        let fact = fact("He said: שלום, 漢字 🚀.", categories: ["science", "music"])
        let first = try png(fact)
        #expect(try png(fact) == first)
    }

    @Test func anotherFactGivesAnotherLandscape() throws {
        let one = try picture(fact("Same.", id: "one"))
        let other = try picture(fact("Same.", id: "other"))
        let different = zip(one.pixels, other.pixels).count { $0 != $1 }
        #expect(different > one.pixels.count / 2)
    }

    @Test func markupIsDrawnAsItIs() throws {
        for (markup, meaning) in [("<b>x</b>", "x"), ("&amp;", "&")] {
            let other = try picture(fact(meaning))
            #expect(try picture(fact(markup)) != other)
        }
    }

    @Test func controlsAreNotDrawn() throws {
        let clean = try png(fact("abc"))
        #expect(try png(fact("a\u{1B}[31m\u{7}b\u{202E}c\u{0}")) == clean)
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
}
