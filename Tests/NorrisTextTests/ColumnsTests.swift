import NorrisText
import Testing

struct ColumnsTests {
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
}
