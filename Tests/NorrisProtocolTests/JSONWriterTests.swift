import NorrisProtocol
import Testing

struct JSONWriterTests {
    @Test(arguments: [
        ("", #""""#), ("plain", #""plain""#), ("\"\\/", #""\"\\/""#), ("\n\t\r\u{8}\u{C}", #""\n\t\r\b\f""#),
        ("\0\u{1}\u{1B}\u{1F}", #""\u0000\u0001\u001b\u001f""#), ("\u{7F}", #""\u007f""#),
        ("\u{80}\u{9B}\u{9F}\u{A0}", "\"\\u0080\\u009b\\u009f\u{A0}\""),
        ("\u{61B}\u{61C}\u{61D}", "\"\u{61B}\\u061c\u{61D}\""),
        ("\u{200D}\u{200E}\u{200F}\u{2010}", "\"\u{200D}\\u200e\\u200f\u{2010}\""),
        ("\u{2027}\u{2028}\u{2029}\u{202A}\u{202E}\u{202F}", "\"\u{2027}\\u2028\\u2029\\u202a\\u202e\u{202F}\""),
        ("\u{2065}\u{2066}\u{2069}\u{206A}", "\"\u{2065}\\u2066\\u2069\u{206A}\""), ("dé — 日本 😀 ", #""dé — 日本 😀 ""#),
        ("eight by\"te words \\ cross\n", #""eight by\"te words \\ cross\n""#),
    ]) func escapesWhatCouldHarmAndNothingElse(text: String, expected: String) {
        // Compared by bytes, because separators and controls must match exactly.
        #expect(Array(text.jsonText.utf8) == Array(expected.utf8))
    }

    @Test func escapesExactlyTheListedScalarsAtEveryPlaceOfAWord() throws {
        let escaped: [ClosedRange<UInt32>] = [
            0...0x1F, 0x22...0x22, 0x5C...0x5C, 0x7F...0x9F, 0x61C...0x61C, 0x200E...0x200F, 0x2028...0x202E,
            0x2066...0x2069,
        ]
        for value in UInt32(0)...0x30FF {
            let scalar = try #require(Unicode.Scalar(value))
            let text = String(repeating: "x", count: Int(value % 9)) + String(Character(scalar)) + "tail of text"
            let isEscaped = text.jsonText.utf8.contains(UInt8(ascii: "\\"))
            #expect(isEscaped == escaped.contains { $0.contains(value) }, "U+\(String(value, radix: 16))")
            #expect(try JSON.parse(text.jsonText) == .string(text))
        }
    }

    @Test func escapesKeysAsWell() {
        #expect((["a\n\u{202E}": nil] as JSON).jsonText == #"{"a\n\u202e":null}"#)
    }

    @Test(
        arguments: [
            (0.1, "0.1"), (1, "1.0"), (-0.0, "-0.0"), (1e16, "1e+16"), (.leastNonzeroMagnitude, "5e-324"),
            (0.30000000000000004, "0.30000000000000004"), (.greatestFiniteMagnitude, "1.7976931348623157e+308"),
            (.infinity, "null"), (-.infinity, "null"), (.nan, "null"),
        ] as [(Double, String)])
    func writesDoublesShortest(value: Double, expected: String) {
        #expect(JSON.double(value).jsonText == expected)
    }
}
