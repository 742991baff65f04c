import Testing

@testable import NorrisCards

/// Texts with fonts from the Debian packages fonts-inter, fonts-noto-core, fonts-noto-cjk and fonts-noto-color-emoji.
struct LetteringTests {
    private func block(_ text: String) throws -> TextBlock {
        let typesetter = try Typesetter(language: language(of: text))
        return try typesetter.column(CardText(text), measure: 830, room: 730, width: 1000).blocks[0].block
    }

    @Test func shortTextsAreBrokenIntoLinesOfAboutTheSameLength() throws {
        let texts = [
            "When Chuck Norris does a push-up, he isn't lifting himself up, he is pushing the Earth down.",
            "Chuck Norris can divide by zero, and the rest of us get the remainder.", "チャック・ノリスは無限まで数えた。しかも二回も数えた。",
        ]
        for text in texts {
            let lines = try block(text).lines.map(\.width)
            let widest = try #require(lines.max())
            #expect(lines.count > 2 && lines.count < 8)
            #expect(widest < 800, "\(text) is not balanced: \(lines)")
            #expect(lines.allSatisfy { $0 > 0.55 * widest }, "\(text): \(lines)")
        }
    }

    @Test func shortTextsAreCenteredAndLongOnesBeginAtOnePlace() throws {
        let short = try block("Chuck Norris counted to infinity. Twice, on a bad day.").lines
        #expect(short.allSatisfy { abs(2 * $0.x + $0.width - 830) < 0.01 })
        let words = String(repeating: "words without an end ", count: 20)
        #expect(try block(words).lines.allSatisfy { $0.x == 0 })
        let hebrew = try block(String(repeating: "מילים בלי סוף ", count: 20)).lines
        #expect(hebrew.count > 7 && hebrew.allSatisfy { abs($0.x + $0.width - 830) < 0.01 })
    }

    @Test func noShortWordStandsAloneOnTheLastLine() throws {
        for count in 12..<30 {
            let text = String(repeating: "some words here and there ", count: count) + "too."
            let last = try #require(block(text).lines.last)
            #expect(last.width > 80)
        }
    }

    @Test func linesOfTheWriterAreKept() throws {
        let poem = "Roses are red,\nViolets are blue.\nChuck Norris looked,\nand they turned around too."
        #expect(try block(poem).lines.count == 4)
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

    @Test func anAttributionIsSmallerAndBelow() throws {
        let typesetter = try Typesetter(language: "en")
        for text in ["Be brave.\n-- Ada", String(repeating: "Be brave. ", count: 60) + "\n-- Ada"] {
            let column = try typesetter.column(CardText(text), measure: 830, room: 730, width: 1000)
            let (words, name) = (column.blocks[0], column.blocks[1])
            #expect(column.blocks.count == 2 && name.block.size < words.block.size)
            #expect(name.y > words.block.height && column.height == name.y + name.block.height)
        }
    }

    @Test func anAttributionIsNotWiderThanTheMeasure() throws {
        let typesetter = try Typesetter(language: "en")
        let family = String(repeating: "👩\u{200D}", count: 40)
        let text = try CardText("Be brave.\n-- Ada \(family)")
        let blocks = typesetter.column(text, measure: 830, room: 730, width: 1000).blocks
        #expect(blocks.count == 2)
        #expect(blocks[1].block.left > -0.01 && blocks[1].block.right < 830.01)
    }

    @Test func punctuationHangs() throws {
        for line in try block("「はい。」").lines + block("“Yes.”\n“No.”").lines {
            #expect(line.hanging.left > 0 && line.hanging.right > 0)
            let (left, right) = (line.x + line.hanging.left, line.x + line.width - line.hanging.right)
            #expect(abs(left + right - 830) < 0.01)
        }
        let long = try block(String(repeating: "“So be it,” he said.\n", count: 9)).lines
        #expect(long.allSatisfy { abs($0.x + $0.hanging.left) < 0.01 && $0.x < 0 })
        #expect(try block("。」").lines[0].hanging.right == 0, "there is nothing else")
    }

    @Test func linesDoNotTouch() throws {
        let texts = [
            "ชัค นอร์ริสนับถึงอนันต์สองครั้ง แล้วเขาก็ยิ้มที่นี่", "चक नॉरिस ने अनंत तक गिनती की। दो बार। फिर हँसा।",
            "ÄÖÜ gjpqy ÄÖÜ gjpqy ÄÖÜ gjpqy",
        ]
        for text in texts {
            let lines = try block(text).lines
            #expect(lines.count > 1)
            #expect(zip(lines, lines.dropFirst()).allSatisfy { $0.bottom < $1.top }, "\(text)")
        }
    }

    @Test func emojiAloneAreLarge() throws { #expect(try block("🚀").height > 1.5 * block("Rockets").height) }

    @Test func theSameBreaksAtEverySize() throws {
        let text = try CardText("When Chuck Norris does a push-up, he isn't lifting himself up, he is pushing.")
        let typesetter = try Typesetter(language: "en")
        let small = typesetter.column(text, measure: 0.83 * 256, room: 0.73 * 256, width: 256).blocks[0].block
        let large = typesetter.column(text, measure: 0.83 * 4096, room: 0.73 * 4096, width: 4096).blocks[0].block
        #expect(small.lines.count == large.lines.count)
        #expect(abs(small.height * 16 - large.height) < 0.01 * large.height)
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

    @Test func leavesAWayOutOfLongWords() {
        let kana = String(repeating: "あ", count: 30)
        #expect(tied(kana).filter { $0 == "+" }.count < 29)
    }
}

struct LineBreakerTests {
    /// Lines of letters with equal widths of 1.
    private func lines(_ text: String, _ measure: Double, isBalanced: Bool = true) -> [String] {
        let scalars = Array(text.unicodeScalars)
        let characters = scalars.indices.map { index in
            LineBreaker.Character(
                scalar: scalars[index], width: 1,
                mayBegin: index > 0 && scalars[index] != " " && (scalars[index - 1] == " " || scalars[index - 1] == "-")
            )
        }
        let breaker = LineBreaker(characters, hyphen: 1, names: ["Chuck Norris", "Ada Byron King"])
        var start = 0
        var result: [String] = []
        for line in breaker.breaks(measure: measure, isBalanced: isBalanced).breaks {
            result.append(String(String.UnicodeScalarView(scalars[start..<line.end])) + (line.addsHyphen ? "‐" : ""))
            start = line.next
        }
        return result + [String(String.UnicodeScalarView(scalars[start...]))]
    }

    @Test(arguments: [
        ("A bee stung Chuck Norris in 1974 and ran.", 20.0, ["A bee stung", "Chuck Norris", "in 1974 and ran."]),
        ("They called Ada Byron King for help.", 16, ["They called", "Ada Byron King", "for help."]),
        ("He counted to infinity. Twice.", 24, ["He counted", "to infinity.", "Twice."]),
        ("It took him 20 minutes to read all.", 15, ["It took him", "20 minutes", "to read all."]),
        ("One", 10, ["One"]),
    ])
    func keepsTogetherWhatBelongsTogether(text: String, measure: Double, expected: [String]) {
        #expect(lines(text, measure) == expected)
    }

    @Test func dividesOnlyWordsThatAreWiderThanALine() {
        #expect(lines("a/long_path/to_some.file", 10) == ["a/long_", "path/to_", "some.file"])
        #expect(lines("aaaaaaaaaaaaaaa", 10).allSatisfy { $0.count <= 10 })
        #expect(lines("aaaaaaaaaaaaaaa", 10).first?.hasSuffix("‐") == true)
        #expect(lines("short words only", 10).allSatisfy { !$0.contains("‐") })
    }

    @Test func noLineIsWiderThanTheMeasure() {
        let texts = [
            String(repeating: "some words and others ", count: 40), String(repeating: "x", count: 400),
            "Ada Byron King " + String(repeating: "1", count: 99),
        ]
        for text in texts {
            for isBalanced in [true, false] {
                let lines = lines(text.trimmingSuffix { $0 == " " }, 12, isBalanced: isBalanced)
                #expect(lines.allSatisfy { $0.count <= 12 && !$0.isEmpty })
                let all = lines.joined().filter { $0 != " " && $0 != "‐" }
                #expect(all == text.filter { $0 != " " })
            }
        }
    }
}

extension String {
    fileprivate func trimmingSuffix(_ isTrimmed: (Character) -> Bool) -> String {
        var text = self
        while text.last.map(isTrimmed) == true { text.removeLast() }
        return text
    }
}

struct TypeScaleTests {
    @Test func lettersGetSmallerWithoutSteps() {
        var before = TypeScale.size(columns: 0)
        for columns in 1...20_000 {
            let size = TypeScale.size(columns: columns)
            #expect(size <= before && size >= TypeScale.smallest)
            // A step of 4 % between two lengths is not visible.
            #expect(columns < 20 || size > 0.96 * before)
            before = size
        }
        #expect(before == TypeScale.smallest)
        #expect(TypeScale.size(columns: 80) > 2 * TypeScale.smallest)
    }

    @Test func smallLettersStandWiderApart() {
        #expect(TypeScale.lineHeight(size: TypeScale.smallest) > 1.4)
        #expect(TypeScale.lineHeight(size: 0.1) < 1.25)
        #expect(TypeScale.lineHeight(size: 0.5) > 1.1)
    }
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
