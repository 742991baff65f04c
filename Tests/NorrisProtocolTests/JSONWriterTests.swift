import NorrisProtocol
import Testing

struct JSONWriterTests {
    private func written(_ write: (inout JSONWriter) -> Void) -> String {
        var json = JSONWriter()
        write(&json)
        return String(decoding: json.bytes, as: UTF8.self)
    }

    // MARK: Structure

    @Test func separatesMembersAndElementsByCommas() {
        let text = written { json in
            json.beginObject()
            json.key("a")
            json.beginArray()
            json.integer(1)
            json.beginArray()
            json.endArray()
            json.beginObject()
            json.endObject()
            json.null()
            json.bool(true)
            json.bool(false)
            json.endArray()
            json.key("b" as String)
            json.raw(Array(#"{"x":1}"#.utf8))
            json.member("c", "text")
            json.member("absent", nil as String?)
            json.member("d", [1, 2])
            json.key("e")
            json.value(["z": nil] as JSON)
            json.endObject()
        }
        #expect(text == #"{"a":[1,[],{},null,true,false],"b":{"x":1},"c":"text","d":[1,2],"e":{"z":null}}"#)
    }

    @Test func startsEachLineWithoutComma() {
        let text = written { json in
            json.integer(1)
            json.newline()
            json.beginObject()
            json.endObject()
            json.newline()
        }
        #expect(text == "1\n{}\n")
    }

    @Test func copiesRawBytesFromABuffer() {
        let text = written { json in
            json.beginArray()
            Array("[1]".utf8).withUnsafeBytes { json.raw($0) }
            Array("2".utf8).withUnsafeBytes { json.raw($0) }
            json.endArray()
        }
        #expect(text == "[[1],2]")
    }

    @Test func undoesWhatWasWrittenSinceAMark() {
        let text = written { json in
            json.beginArray()
            let first = json.mark()
            json.integer(1)
            json.rewind(to: first)
            json.integer(2)
            let second = json.mark()
            json.beginObject()
            json.key("half")
            json.rewind(to: second)
            #expect(json.count == 2)
            json.integer(3)
            json.endArray()
        }
        #expect(text == "[2,3]")
    }

    @Test func beginsAnew() {
        var json = JSONWriter(capacity: 8)
        json.string(String(repeating: "x", count: 5000))
        json.removeAll()
        json.integer(1)
        #expect(json.bytes == Array("1".utf8))
    }

    // MARK: Strings

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
        let text = written { json in
            json.beginObject()
            json.key("a\n\u{202E}" as String)
            json.null()
            json.endObject()
        }
        #expect(text == #"{"a\n\u202e":null}"#)
    }

    // MARK: Numbers

    @Test(
        arguments: [
            (0, "0"), (7, "7"), (-1, "-1"), (10, "10"), (-1234567890, "-1234567890"),
            (9_007_199_254_740_992, "9007199254740992"), (-9_007_199_254_740_992, "-9007199254740992"),
        ] as [(Int64, String)])
    func writesIntegers(value: Int64, expected: String) {
        #expect(JSON.integer(value).jsonText == expected)
        #expect(Int(value).jsonText == expected)
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
