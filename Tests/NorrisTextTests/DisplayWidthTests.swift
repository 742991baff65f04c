import NorrisText
import Testing

struct DisplayWidthTests {
    @Test(
        "Letters of one column",
        arguments: [
            ("", 0), ("plain ASCII ~", 13), ("naïve", 5), ("Ünïcödé", 7), ("Ελληνικά", 8), ("кириллица", 9),
            ("½±×·", 4),
            ("\u{E000}", 1), ("ｶﾀｶﾅ", 4), ("שלום", 4), ("مرحبا", 5), ("…—“”", 4), ("①§°", 3),
        ])
    func narrow(text: String, columns: Int) {
        #expect(displayWidth(of: text) == columns)
    }

    @Test(
        "East Asian letters of two columns",
        arguments: [
            ("日本語", 6), ("中文a", 5), ("한국어", 6), ("ＡＢＣ！", 8), ("ひらがな", 8), ("カタカナ", 8), ("「。」", 6), ("\u{3000}", 2),
            ("\u{20000}\u{30000}", 4), ("か\u{3099}", 2), ("ｶﾞ", 2),
        ])
    func wide(text: String, columns: Int) {
        #expect(displayWidth(of: text) == columns)
    }

    @Test(
        "Marks add nothing, vowel signs with a place of their own add one",
        arguments: [
            ("e\u{301}", 1), ("o\u{308}\u{304}\u{323}", 1), ("a\u{20DD}", 1), ("\u{301}", 0), ("क", 1), ("कि", 2),
            ("नमस्ते", 4),
            ("सिं", 2), ("สวัสดี", 4), ("ที่นี่", 2), ("กำ", 2), ("ไทย", 3), ("שָׁלוֹם", 4), ("a\u{200D}", 1),
            ("a\u{200B}", 1),
            ("\u{FEFF}", 0), ("\u{61C}a", 1), ("\u{600}1", 2), ("تَشْكِيل", 5),
        ])
    func combining(text: String, columns: Int) {
        #expect(displayWidth(of: text) == columns)
    }

    @Test(
        "Hangul of jamo is as wide as the syllable",
        arguments: [
            ("\u{1112}\u{1161}\u{11AB}", 2), ("\u{1112}\u{1161}", 2), ("\u{1112}", 2), ("\u{1161}", 0), ("한", 2),
        ])
    func jamo(text: String, columns: Int) {
        #expect(displayWidth(of: text) == columns)
    }

    @Test(
        "Emoji sequences are one picture of two columns",
        arguments: [
            ("🔥", 2), ("👍🏽", 2), ("👩‍👩‍👧‍👦", 2), ("🤷🏿‍♂️", 2), ("❤️‍🔥", 2), ("❤\u{200D}🔥", 2), ("🏳️‍🌈", 2),
            ("🏴‍☠️", 2), ("🇨🇭", 2),
            ("🇨🇭🇯🇵", 4), ("🇨", 1), ("🏴\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}", 2), ("☝🏽", 2),
            ("🧑🏻‍❤️‍💋‍🧑🏿", 2),
            ("\u{1FAE9}", 2), ("\u{1F6D8}", 2), ("🏽", 2), ("ok 👌!", 6),
        ])
    func emoji(text: String, columns: Int) {
        #expect(displayWidth(of: text) == columns)
    }

    @Test(
        "Variation selectors choose the width of emoji and of nothing else",
        arguments: [
            ("❤", 1), ("❤\u{FE0F}", 2), ("❤\u{FE0E}", 1), ("☎\u{FE0F}", 2), ("⌚", 2), ("⌚\u{FE0E}", 1),
            ("⌚\u{FE0F}", 2),
            ("©", 1), ("©\u{FE0F}", 2), ("1\u{FE0F}\u{20E3}", 2), ("#\u{FE0F}\u{20E3}", 2), ("1\u{20E3}", 1), ("1", 1),
            ("a\u{FE0F}", 1), ("字\u{FE0E}", 2), ("∩\u{FE00}", 1),
        ])
    func variationSelectors(text: String, columns: Int) {
        #expect(displayWidth(of: text) == columns)
    }

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
}
