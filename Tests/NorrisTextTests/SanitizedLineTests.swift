import NorrisText
import Testing

struct SanitizedLineTests {
    @Test(
        "A line keeps no newline, no tab and no white space at its ends",
        arguments: [
            ("", ""), ("plain", "plain"), ("two  spaces stay", "two  spaces stay"), ("a\nb", "a b"), ("a\tb", "a b"),
            ("a \n\t\r\n  b", "a b"), ("a\u{2028}\u{2029}b", "a b"), ("  a  ", "a"), ("\n\ta\n", "a"), (" \n\t ", ""),
            ("\u{3000}日本\u{A0}", "日本"), ("a\u{A0}\nb", "a b"), ("a\u{A0}b", "a\u{A0}b"), ("a\u{7}\n\u{1B}b", "a b"),
            ("\u{FEFF} a \u{200B}", "a"), ("\u{1B}[1m\tbold\u{1B}[0m\n", "bold"), ("a  b\n c  d", "a  b c  d"),
        ])
    func makesOneLine(text: String, expected: String) {
        #expect(scalars(sanitizedLine(text)) == scalars(expected))
    }
}
