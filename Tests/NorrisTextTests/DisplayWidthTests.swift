import Testing

@testable import NorrisText

struct DisplayWidthTests {
    @Test(
        "Letters of one column",
        arguments: [
            ("", 0), ("plain ASCII ~", 13), ("naïve", 5), ("Ünïcödé", 7), ("Ελληνικά", 8), ("кириллица", 9),
            ("½±×·", 4),
            ("\u{E000}", 1), ("ｶﾀｶﾅ", 4), ("שלום", 4), ("مرحبا", 5), ("…—“”", 4), ("①§°", 3),
        ])
    func narrow(text: String, columns: Int) { #expect(displayWidth(of: text) == columns) }

    @Test(
        "East Asian letters of two columns",
        arguments: [
            ("日本語", 6), ("中文a", 5), ("한국어", 6), ("ＡＢＣ！", 8), ("ひらがな", 8), ("カタカナ", 8), ("「。」", 6), ("\u{3000}", 2),
            ("\u{20000}\u{30000}", 4), ("か\u{3099}", 2), ("ｶﾞ", 2),
        ])
    func wide(text: String, columns: Int) { #expect(displayWidth(of: text) == columns) }

    @Test(
        "Marks add no column, spacing vowel signs add one",
        arguments: [
            ("e\u{301}", 1), ("o\u{308}\u{304}\u{323}", 1), ("a\u{20DD}", 1), ("\u{301}", 0), ("क", 1), ("कि", 2),
            ("नमस्ते", 4), ("सिं", 2), ("สวัสดี", 4), ("ที่นี่", 2), ("กำ", 2), ("ไทย", 3), ("שָׁלוֹם", 4),
            ("a\u{200D}", 1), ("a\u{200B}", 1), ("\u{FEFF}", 0), ("\u{61C}a", 1), ("\u{600}1", 2), ("تَشْكِيل", 5),
        ])
    func combining(text: String, columns: Int) { #expect(displayWidth(of: text) == columns) }

    @Test(
        "Hangul of jamo is as wide as the syllable",
        arguments: [
            ("\u{1112}\u{1161}\u{11AB}", 2), ("\u{1112}\u{1161}", 2), ("\u{1112}", 2), ("\u{1161}", 0), ("한", 2),
        ])
    func jamo(text: String, columns: Int) { #expect(displayWidth(of: text) == columns) }

    @Test(
        "Emoji sequences are one picture of two columns",
        arguments: [
            ("🔥", 2), ("👍🏽", 2), ("👩‍👩‍👧‍👦", 2), ("🤷🏿‍♂️", 2), ("❤️‍🔥", 2), ("❤\u{200D}🔥", 2), ("🏳️‍🌈", 2), ("🏴‍☠️", 2),
            ("🇨🇭", 2), ("🇨🇭🇯🇵", 4), ("🇨", 1), ("🏴\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}", 2), ("☝🏽", 2),
            ("🧑🏻‍❤️‍💋‍🧑🏿", 2), ("\u{1FAE9}", 2), ("\u{1F6D8}", 2), ("🏽", 2), ("ok 👌!", 6),
        ])
    func emoji(text: String, columns: Int) { #expect(displayWidth(of: text) == columns) }

    @Test(
        "Variation selectors choose the width of emoji and of nothing else",
        arguments: [
            ("❤", 1), ("❤\u{FE0F}", 2), ("❤\u{FE0E}", 1), ("☎\u{FE0F}", 2), ("⌚", 2), ("⌚\u{FE0E}", 1),
            ("⌚\u{FE0F}", 2),
            ("©", 1), ("©\u{FE0F}", 2), ("1\u{FE0F}\u{20E3}", 2), ("#\u{FE0F}\u{20E3}", 2), ("1\u{20E3}", 1), ("1", 1),
            ("a\u{FE0F}", 1), ("字\u{FE0E}", 2), ("∩\u{FE00}", 1),
        ])
    func variationSelectors(text: String, columns: Int) { #expect(displayWidth(of: text) == columns) }

    @Test("Controls count nothing", arguments: ["\n", "\t", "\r\n", "\u{0}", "\u{7F}", "\u{85}", "\u{9B}", "\u{2028}"])
    func controls(text: String) {
        #expect(displayWidth(of: text) == 0)
        #expect(displayWidth(of: "a\(text)é") == 2)
    }

    @Test func textIsAsWideAsItsClusters() {
        for text in ["ASCII only", "mixed 日本 👩‍👩‍👧‍👦 e\u{301} नि\n"] {
            #expect(displayWidth(of: text) == text.reduce(0) { $0 + displayWidth(of: $1) })
        }
    }

    @Test(
        "A line is cut to its columns with an ellipsis",
        arguments: [
            ("fits", 4, "fits"), ("fits", 9, "fits"), ("too long", 7, "too lo…"), ("too long", 5, "too…"),
            ("too long", 1, "…"), ("too long", 0, ""), ("too long", -3, ""), ("", 0, ""), ("日本語", 6, "日本語"),
            ("日本語", 5, "日本…"), ("日本語", 4, "日…"), ("日本語", 2, "…"), ("e\u{301}e\u{301}e\u{301}", 2, "e\u{301}…"),
            ("👩‍👩‍👧‍👦👩‍👩‍👧‍👦", 3, "👩‍👩‍👧‍👦…"), ("🇨🇭🇯🇵", 3, "🇨🇭…"), ("a\u{3000}b", 3, "a…"),
        ])
    func truncates(line: String, columns: Int, expected: String) {
        #expect(scalars(truncated(line, toColumns: columns)) == scalars(expected))
    }

    @Test(
        "A line is filled up to its columns",
        arguments: [
            ("ab", 4, "ab  "), ("ab", 2, "ab"), ("abc", 2, "abc"), ("", 2, "  "), ("日本", 5, "日本 "), ("❤️", 3, "❤️ "),
            ("x", -1, "x"),
        ])
    func pads(line: String, columns: Int, expected: String) {
        #expect(scalars(padded(line, toColumns: columns)) == scalars(expected))
    }

    @Test(arguments: ["عربي", "a שלום", "\u{FB1D}", "\u{FE8D}", "\u{10900}", "\u{1E900}"])
    func seesLettersFromRightToLeft(text: String) { #expect(containsRightToLeft(text)) }

    @Test(arguments: ["", "plain", "Žluťoučký кůň", "地球👩‍💻", "…·●", "ՀայԵրեն", "हिन्दी"])
    func passesOverAllOthers(text: String) { #expect(!containsRightToLeft(text)) }
}

/// Compares the generated tables with properties of the standard library.
struct UnicodeTablesTests {
    @Test(arguments: [UnicodeTables.zeroWidth, UnicodeTables.wide, UnicodeTables.emoji])
    func rangesAreSortedAndApart(table: [UInt32]) {
        #expect(table.count > 100 && table.count.isMultiple(of: 2))
        for index in stride(from: 0, to: table.count, by: 2) {
            #expect(table[index] <= table[index + 1])
            #expect(index == 0 || table[index - 1] + 1 < table[index])
        }
    }

    @Test func widthsAgreeWithTheStandardLibrary() {
        var wrong: [Unicode.Scalar] = []
        for value in Array(0xA0...0x323AF) + Array(0xE0000...0xE01FF) as [UInt32] {
            guard let scalar = Unicode.Scalar(value), let age = scalar.properties.age, age.major <= 15 else { continue }
            let width = displayWidth(of: Character(scalar))
            let isRight: Bool? =
                switch scalar.properties.generalCategory {
                case .nonspacingMark, .enclosingMark, .lineSeparator, .paragraphSeparator: width == 0
                case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .decimalNumber: width > 0
                case .privateUse: width == 1
                default:
                    if scalar.properties.isEmojiPresentation {
                        width == ((0x1F1E6...0x1F1FF).contains(value) ? 1 : 2)
                    } else if scalar.properties.isIdeographic {
                        width == 2
                    } else {
                        nil
                    }
                }
            if isRight == false { wrong.append(scalar) }
        }
        #expect(wrong.isEmpty)
    }

    @Test func emojiAgreeWithTheStandardLibrary() {
        var wrong: [Unicode.Scalar] = []
        for value in UInt32(0x20)...0x1FAFF {
            guard let scalar = Unicode.Scalar(value), let age = scalar.properties.age, age.major <= 15 else { continue }
            let isEmoji = scalar.properties.isEmoji && !(0x1F1E6...0x1F1FF).contains(value)
            let alone = displayWidth(of: "\(scalar)")
            if displayWidth(of: "\(scalar)\u{FE0F}") != (isEmoji ? 2 : alone) { wrong.append(scalar) }
        }
        #expect(wrong.isEmpty)
    }
}
