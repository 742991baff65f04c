import Testing

@testable import NorrisCards

/// Texts with fonts from the Debian packages fonts-inter, fonts-noto-core, fonts-noto-cjk and fonts-noto-color-emoji.
struct LetteringTests {
    private func block(_ text: String, room: Double = 730) throws -> TextBlock {
        let typesetter = try Typesetter(language: language(of: text))
        return try typesetter.column(CardText(text), measure: 830, room: room, width: 1000).blocks[0].block
    }

    @Test func aLongTextHasFiveLinesInSmallerLettersUnlessThePictureIsHigh() throws {
        let text = """
            Chuck Norris reads a whole library each morning. He does not turn the pages: he opens the window, says \
            his name, and the books come out in the order of their titles, each one with a summary of itself.
            """
        let (square, high) = (try block(text), try block(text, room: 1300))
        #expect(square.lines.count <= 5 && square.alignment == .center)
        #expect(high.lines.count > 5 && high.lines.count <= 7 && high.alignment == .center && high.size > square.size)
    }

    @Test func theLastLineIsNotTwoShortWords() throws {
        let block = try block("Time waits for no one, except for Chuck Norris, who once overtook it.")
        #expect(block.lines.last?.text == "who once overtook it.")
    }

    @Test func linesOfTheWriterAreKept() throws {
        let poem = "Roses are red,\nViolets are blue.\nChuck Norris looked,\nand they turned around too."
        #expect(try block(poem).lines.count == 4)
    }

    @Test func aNameStaysInOneLine() throws {
        for count in 4..<40 {
            let lines = try block(String(repeating: "word ", count: count) + "and Chuck Norris ran.").lines
            #expect(lines.contains { $0.text.contains("Chuck Norris") }, "\(count)")
        }
    }

    @Test func nothingIsWiderThanTheMeasure() throws {
        let texts = [
            String(repeating: "W", count: 300), "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbaugesellschaft",
            String(repeating: "🚀", count: 40), String(repeating: "漢", count: 500), String(repeating: "あ", count: 90),
            String(repeating: "👩\u{200D}", count: 40), "A black-and-white-and-read-all-over paper.",
            "Zalgo ".map { "\($0)\u{300}\u{316}\u{334}\u{489}\u{35F}\u{300}\u{316}" }.joined(),
        ]
        for text in texts {
            let block = try block(text)
            #expect(block.left > -0.01 && block.right < 830.01, "\(text)")
        }
    }
}

struct TiesTests {
    /// Represents each tie as `+`.
    private func tied(_ text: String) -> String {
        let ties = ties(in: text, language: language(of: text))
        var result = String.UnicodeScalarView()
        for (index, scalar) in text.unicodeScalars.enumerated() {
            if ties.contains(index) { result.append("+") }
            result.append(scalar)
        }
        return String(result)
    }

    @Test(
        "The parts of short words stay together",
        arguments: [
            ("He looked at it.", "He looked at it."), ("A three-way handshake", "A three-+way handshake"),
            ("- One", "- One"),
            ("A black-and-white-and-read-all-over paper.", "A black-and-white-and-read-all-over paper."),
            ("Ship it now 🚀", "Ship it now +🚀"), ("Go🚀now", "Go+🚀now"), ("🚀 🚀 🚀 it flies", "🚀 🚀 🚀 it flies"),
            ("He learned C++ overnight.", "He learned C+++ overnight."), ("Word", "Word"), ("", ""),
        ])
    func tiesWords(text: String, expected: String) { #expect(tied(text) == expected) }

    @Test func breaksKoreanAtSpacesAndJapaneseBeforePhrases() {
        #expect(tied("무한대 두 번") == "무+한+대 두 번")
        #expect(tied("無限まで数えた。しかも二回") == "無+限+ま+で数+え+た。し+か+も+二+回")
        #expect(tied("チャック・ノリスは彼をすぐに見た") == "チ+ャ+ッ+ク+・+ノ+リ+ス+は彼+をす+ぐ+に+見+た")
        #expect(tied("10回も跳んだ") == "10+回+も跳+ん+だ")
        #expect(tied("查克数到了无穷大。") == "查克数到了无穷+大+。")
    }

    @Test(
        "No line begins with the second of two particles",
        arguments: [
            ("日本には行く", "日+本+に+は行+く"), ("日本にはたくさん", "日+本+に+はた+く+さ+ん"), ("世界との旅行", "世+界+と+の旅+行"),
            ("彼はとても強い", "彼+はと+て+も強+い"),
        ])
    func tiesParticles(text: String, expected: String) { #expect(tied(text + "。見る。").hasPrefix(expected + "。")) }
}

struct LanguageTests {
    @Test(
        "The script beside Han characters determines their language",
        arguments: [
            ("Chuck", "en"), ("骨", "zh-cn"), ("骨の", "ja"), ("骨 한", "ko"), ("ﾁｬｯｸ", "ja"), ("عدّ", "en"), ("🚀", "en"),
        ])
    func findsTheLanguage(text: String, expected: String) { #expect(language(of: text) == expected) }

    @Test(
        "The first letter decides on the direction",
        arguments: [
            ("Chuck שלום", false), ("שלום Chuck", true), ("123. عدّ", true), ("\"(שלום", true), ("123", false),
            ("🚀", false),
        ])
    func findsTheDirection(text: String, expected: Bool) { #expect(isRightToLeft(text) == expected) }
}
