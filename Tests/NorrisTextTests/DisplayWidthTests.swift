import NorrisText
import Testing

struct DisplayWidthTests {
    @Test(arguments: [
        // Letters of one column, and East Asian letters of two.
        ("", 0), ("plain ASCII ~", 13), ("Ünïcödé", 7), ("кириллица", 9), ("½±×·", 4), ("\u{E000}", 1), ("ｶﾀｶﾅ", 4),
        ("مرحبا", 5), ("…—“”", 4), ("中文a", 5), ("한국어", 6), ("ＡＢＣ！", 8), ("「。」", 6), ("\u{3000}", 2),
        ("\u{20000}\u{30000}", 4), ("か\u{3099}", 2), ("ｶﾞ", 2),
        // Marks add no column, and spacing vowel signs add one.
        ("e\u{301}", 1), ("o\u{308}\u{304}\u{323}", 1), ("\u{301}", 0), ("कि", 2), ("नमस्ते", 4),
        ("ที่นี่", 2), ("กำ", 2),
        ("שָׁלוֹם", 4), ("a\u{200D}", 1), ("a\u{200B}", 1), ("\u{FEFF}", 0), ("\u{61C}a", 1), ("\u{600}1", 2),
        // Hangul of jamo is as wide as the syllable.
        ("\u{1112}\u{1161}\u{11AB}", 2), ("\u{1112}", 2), ("\u{1161}", 0),
        // An emoji sequence is one picture of two columns.
        ("🔥", 2), ("👍🏽", 2), ("👩‍👩‍👧‍👦", 2), ("❤\u{200D}🔥", 2), ("🇨🇭🇯🇵", 4), ("🇨", 1), ("☝🏽", 2), ("🏽", 2),
        ("🏴\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}", 2), ("\u{1FAE9}", 2), ("ok 👌!", 6),
        // Variation selectors choose the width of emoji and of nothing else.
        ("❤", 1), ("❤\u{FE0F}", 2), ("❤\u{FE0E}", 1), ("⌚\u{FE0E}", 1), ("1\u{FE0F}\u{20E3}", 2), ("1\u{20E3}", 1),
        ("a\u{FE0F}", 1), ("字\u{FE0E}", 2), ("∩\u{FE00}", 1),
    ]) func columnsOfAText(text: String, columns: Int) { #expect(displayWidth(of: text) == columns) }

    @Test("Controls count nothing", arguments: ["\n", "\t", "\r\n", "\u{0}", "\u{7F}", "\u{85}", "\u{9B}", "\u{2028}"])
    func controls(text: String) {
        #expect(displayWidth(of: text) == 0)
        #expect(displayWidth(of: "a\(text)é") == 2)
    }

    @Test(
        "A line is cut to its columns with an ellipsis",
        arguments: [
            ("fits", 4, "fits"), ("too long", 7, "too lo…"), ("too long", 5, "too…"), ("too long", 1, "…"),
            ("too long", -3, ""), ("日本語", 5, "日本…"), ("日本語", 4, "日…"), ("🇨🇭🇯🇵", 3, "🇨🇭…"),
            ("e\u{301}e\u{301}e\u{301}", 2, "e\u{301}…"), ("a\u{3000}b", 3, "a…"),
        ])
    func truncates(line: String, columns: Int, expected: String) {
        #expect(scalars(truncated(line, toColumns: columns)) == scalars(expected))
    }

    @Test(
        "A line is filled up to its columns",
        arguments: [
            ("ab", 4, "ab  "), ("abc", 2, "abc"), ("日本", 5, "日本 "), ("x", -1, "x"),
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
}
