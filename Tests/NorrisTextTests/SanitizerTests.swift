import NorrisText
import Testing

struct SanitizerTests {
    @Test(
        "Text that is safe stays as it is",
        arguments: [
            "", "Chuck Norris\n\tcounts to infinity. Twice.", "Ça, naïve, Ünïcödé, Straße", "e\u{301}", "日本語、한국어",
            "नमस्ते", "สวัสดี", "می\u{200C}خواهم", "👩‍👩‍👧‍👦 ❤️ ☎︎ 1️⃣ 🇨🇭 👍🏽", "\u{A0}\u{3000}", "\u{E000}\u{F8FF}",
        ])
    func keepsSafeText(text: String) {
        #expect(scalars(sanitizedText(text)) == scalars(text))
    }

    @Test(
        "Every control but newline and tab is removed",
        arguments: Array(0x00...0x1F) + Array(0x7F...0x9F))
    func removesControls(value: UInt32) throws {
        let control = try #require(Unicode.Scalar(value))
        let expected =
            switch control {
            case "\n", "\t": "a\(control)é"
            case "\r": "a\né"
            default: "aé"
            }
        #expect(scalars(sanitizedText("a\(control)é")) == scalars(expected))
    }

    @Test(
        "Invisible characters that order, hide or mark text are removed",
        arguments: [
            0xAD, 0x61C, 0x200B, 0x200E, 0x200F, 0x202A, 0x202B, 0x202C, 0x202D, 0x202E, 0x2060, 0x2064, 0x2065, 0x2066,
            0x2067, 0x2068, 0x2069, 0x206A, 0x206F, 0xFDD0, 0xFDEF, 0xFEFF, 0xFFF0, 0xFFF9, 0xFFFB, 0xFFFC, 0xFFFD,
            0xFFFE, 0xFFFF, 0x1FFFE, 0x1FFFF, 0xE0000, 0xE0001, 0xE0041, 0xE007F, 0xE0100, 0xE01EF, 0xE0FFF, 0x10FFFE,
            0x10FFFF,
        ])
    func removesHiddenCharacters(value: UInt32) throws {
        let scalar = try #require(Unicode.Scalar(value))
        #expect(scalars(sanitizedText("\(scalar)a\(scalar)b\(scalar)")) == scalars("ab"))
    }

    @Test(
        "Every kind of line end becomes one newline",
        arguments: [
            ("a\r\nb", "a\nb"), ("a\rb", "a\nb"), ("a\r\r\nb\r", "a\n\nb\n"), ("a\u{2028}b\u{2029}c", "a\nb\nc"),
            ("\r\n\r\n", "\n\n"), ("\r", "\n"),
        ])
    func unifiesLineEnds(text: String, expected: String) {
        #expect(scalars(sanitizedText(text)) == scalars(expected))
    }

    @Test func regionalFlagsLoseTheirTags() {
        #expect(sanitizedText("🏴\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}!") == "🏴!")
    }

    @Test func unsafeScalarInsideAClusterGoesAlone() {
        #expect(scalars(sanitizedText("e\u{202E}\u{301}👩\u{FEFF}\u{200D}👧")) == scalars("e\u{301}👩\u{200D}👧"))
    }

    @Test(
        "Of invalid UTF-8 nothing is left",
        arguments: [
            ("overlong slash", [0xC0, 0xAF]), ("overlong newline", [0xC1, 0x8A]), ("overlong NUL", [0xE0, 0x80, 0x80]),
            ("surrogate", [0xED, 0xA0, 0x80]), ("pair of surrogates", [0xED, 0xA0, 0xBD, 0xED, 0xB8, 0x80]),
            ("truncated to two bytes", [0xE2, 0x82]), ("truncated to three bytes", [0xF0, 0x9F, 0x98]),
            ("lone continuation", [0x80, 0xBF]), ("past U+10FFFF", [0xF4, 0x90, 0x80, 0x80]),
            ("never valid", [0xFE, 0xFF, 0xF8]), ("raw C1", [0x9B]), ("C1 in UTF-8", [0xC2, 0x85]),
            ("U+FFFD itself", [0xEF, 0xBF, 0xBD]), ("byte order mark", [0xEF, 0xBB, 0xBF]),
        ])
    func removesInvalidBytes(name: String, bytes: [UInt8]) {
        let text = [UInt8(ascii: "a")] + bytes + [UInt8(ascii: "b")] + bytes
        #expect(scalars(sanitizedText(bytes: text)) == scalars("ab"), "\(name)")
    }

    @Test func readsBytesOfAnyBuffer() {
        let bytes: [UInt8] = Array("Züri\u{7} 東京\r\n".utf8)
        #expect(bytes.withUnsafeBytes { sanitizedText(bytes: $0) } == "Züri 東京\n")
        #expect(sanitizedText(bytes: []) == "")
    }
}
