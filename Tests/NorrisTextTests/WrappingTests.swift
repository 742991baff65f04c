import NorrisSystem
import NorrisTestSupport
import NorrisText
import Testing

struct WrappingTests {
    @Test(
        "Lines break at spaces",
        arguments: [
            ("", 10, []), ("one two three", 7, ["one two", "three"]), ("one two three", 13, ["one two three"]),
            ("a  b  c", 4, ["a  b", "c"]), ("    ", 2, [""]), ("10\u{A0}km away", 7, ["10\u{A0}km", "away"]),
            ("a\u{2003}b", 2, ["a", "b"]), ("ends here ", 9, ["ends here"]), ("ab", -5, ["a", "b"]),
        ] as [(String, Int, [String])])
    func breaksAtSpaces(text: String, width: Int, lines: [String]) { #expect(wrapped(text, width: width) == lines) }

    @Test(
        "Newlines of the text are kept",
        arguments: [
            ("a\n\nb", ["a", "", "b"]), ("a\n", ["a"]), ("\na", ["", "a"]), ("a\r\nb", ["a", "b"]),
            ("a  \n  \nb", ["a", "", "b"]),
        ])
    func keepsNewlines(text: String, lines: [String]) { #expect(wrapped(text, width: 20) == lines) }

    @Test(
        "Indentation is repeated, and reduced if it leaves too little space",
        arguments: [
            ("  one two three", 9, ["  one two", "  three"]), ("      two words", 9, ["    two", "    words"]),
            ("\tfar out", 12, ["      far", "      out"]), ("  日本", 3, [" 日", " 本"]), ("  ab", 1, ["a", "b"]),
            ("\u{3000}段落です", 6, ["\u{3000}段落", "です"]), ("  a\nb c", 3, ["  a", "b c"]),
        ] as [(String, Int, [String])])
    func keepsIndentation(text: String, width: Int, lines: [String]) { #expect(wrapped(text, width: width) == lines) }

    @Test(
        "Tabs fill to the next multiple of eight",
        arguments: [
            ("1234567\tb", 20, ["1234567 b"]), ("12345678\tb", 20, ["12345678        b"]),
            ("日本\tb", 20, ["日本    b"]), ("a\tb", 8, ["a", "b"]), (" \tx", 20, ["        x"]),
        ] as [(String, Int, [String])])
    func expandsTabs(text: String, width: Int, lines: [String]) { #expect(wrapped(text, width: width) == lines) }

    @Test(
        "Words wider than the line are cut between clusters",
        arguments: [
            ("x abcd e", 3, ["x", "abc", "d e"]), ("e\u{301}e\u{301}e\u{301}", 2, ["e\u{301}e\u{301}", "e\u{301}"]),
            ("👩‍👩‍👧‍👦👍🏽🇨🇭", 2, ["👩‍👩‍👧‍👦", "👍🏽", "🇨🇭"]), ("👩‍👩‍👧‍👦a", 1, ["👩‍👩‍👧‍👦", "a"]), ("日a本", 1, ["日", "a", "本"]),
            ("สวัสดีครับ", 4, ["สวัสดี", "ครับ"]), ("नमस्ते", 2, ["नम", "स्ते"]),
        ] as [(String, Int, [String])])
    func cutsLongWords(text: String, width: Int, lines: [String]) {
        #expect(wrapped(text, width: width).map(scalars) == lines.map(scalars))
    }

    @Test(
        "Wide characters part without spaces, but not from their punctuation",
        arguments: [
            ("日本語文章", 4, ["日本", "語文", "章"]), ("日本語文章", 5, ["日本", "語文", "章"]), ("日本語。", 6, ["日本", "語。"]),
            ("日「本」", 4, ["日", "「本", "」"]), ("日「本」", 6, ["日", "「本」"]), ("キャット", 4, ["キャ", "ット"]),
            ("word日本", 6, ["word日", "本"]), ("日本word", 5, ["日本", "word"]), ("(日本)", 4, ["(日", "本)"]),
        ] as [(String, Int, [String])])
    func breaksBetweenWideCharacters(text: String, width: Int, lines: [String]) {
        #expect(wrapped(text, width: width) == lines)
    }
}
