import NorrisText
import Testing

struct SanitizerTests {
    @Test(
        "Text that is safe stays as it is",
        arguments: [
            "", "Chuck Norris\n\tcounts to infinity. Twice.", "Ça, naïve, Ünïcödé, Straße", "e\u{301}", "日本語、한국어",
            "नमस्ते", "สวัสดี", "می\u{200C}خواهم", "👩‍👩‍👧‍👦 ❤️ ☎︎ 1️⃣ 🇨🇭 👍🏽", "\u{A0}\u{3000}", "\u{E000}\u{F8FF}",
        ])
    func keepsSafeText(text: String) { #expect(scalars(sanitizedText(text)) == scalars(text)) }

    @Test("Every control but newline and tab is removed", arguments: Array(0x00...0x1F) + Array(0x7F...0x9F))
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
            0xFFFE,
            0xFFFF, 0x1FFFE, 0x1FFFF, 0xE0000, 0xE0001, 0xE0041, 0xE007F, 0xE0100, 0xE01EF, 0xE0FFF, 0x10FFFE, 0x10FFFF,
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
    func unifiesLineEnds(text: String, expected: String) { #expect(scalars(sanitizedText(text)) == scalars(expected)) }

    @Test func regionalFlagsStayComplete() {
        for name in ["gbeng", "gbsct", "gbwls"] {
            let tags = String(String.UnicodeScalarView(name.unicodeScalars.map { Unicode.Scalar(0xE0000 + $0.value)! }))
            let flag = "🏴" + tags + "\u{E007F}"
            for text in [flag, "a\(flag)b", flag + flag] {
                #expect(Array(sanitizedText(text).utf8) == Array(text.utf8))
            }
            #expect(displayWidth(of: flag) == 2)
            // Without the flag, with another one, and without or with another end.
            #expect(sanitizedText("a" + tags + "\u{E007F}!") == "a!")
            #expect(sanitizedText("🏳" + tags + "\u{E007F}!") == "🏳!")
            #expect(sanitizedText("🏴\u{200B}" + tags + "\u{E007F}!") == "🏴!")
            #expect(sanitizedText("🏴" + tags + "!") == "🏴!")
            #expect(Array(sanitizedText(flag + "\u{E0041}\u{E007F}!").utf8) == Array((flag + "!").utf8))
        }
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

    @Test(
        "A line keeps no newline, no tab and no white space at its ends",
        arguments: [
            ("", ""), ("plain", "plain"), ("two  spaces stay", "two  spaces stay"), ("a\nb", "a b"), ("a\tb", "a b"),
            ("a \n\t\r\n  b", "a b"), ("a\u{2028}\u{2029}b", "a b"), ("  a  ", "a"), ("\n\ta\n", "a"), (" \n\t ", ""),
            ("\u{3000}日本\u{A0}", "日本"), ("a\u{A0}\nb", "a b"), ("a\u{A0}b", "a\u{A0}b"), ("a\u{7}\n\u{1B}b", "a b"),
            ("\u{FEFF} a \u{200B}", "a"), ("\u{1B}[1m\tbold\u{1B}[0m\n", "bold"), ("a  b\n c  d", "a  b c  d"),
        ])
    func makesOneLine(text: String, expected: String) { #expect(scalars(sanitizedLine(text)) == scalars(expected)) }

    // MARK: Escape sequences

    @Test(
        "Complete sequences go as a whole",
        arguments: [
            ("\u{1B}[31mred\u{1B}[0m", "red"), ("\u{1B}[38;2;1;2;3;4:5m!", "!"), ("\u{1B}[2J\u{1B}[H\u{1B}[?25lx", "x"),
            ("\u{1B}[ qx", "x"), ("\u{1B}[>4;1mx\u{1B}[!p", "x"), ("\u{9B}31mred\u{9B}m", "red"),
            ("\u{1B}]0;title\u{7}x", "x"), ("\u{1B}]0;title\u{1B}\\x", "x"), ("\u{9D}0;title\u{9C}x", "x"),
            ("\u{1B}]8;;https://example.org/é\u{1B}\\link\u{1B}]8;;\u{1B}\\", "link"),
            ("\u{1B}P1$r0m\u{1B}\\x", "x"), ("\u{1B}_app\u{9C}x", "x"), ("\u{1B}^pm\u{1B}\\x", "x"),
            ("\u{1B}Xsos\u{1B}\\x", "x"), ("\u{90}q\u{9C}x", "x"), ("bold\u{1B}(B\u{1B}[m", "bold"),
        ])
    func removesCompleteSequences(text: String, expected: String) {
        #expect(scalars(sanitizedText(text)) == scalars(expected))
    }

    @Test(
        "Of incomplete sequences only the controls go",
        arguments: [
            ("\u{1B}", ""), ("\u{1B}[", "["), ("\u{1B}[31", "[31"), ("\u{1B}[3\n1m", "[3\n1m"), ("\u{1B}[31é", "[31é"),
            ("\u{9B}", ""), ("\u{9B}3", "3"), ("\u{1B}]0;title", "]0;title"), ("\u{1B}]0;title\nx\u{7}", "]0;title\nx"),
            ("\u{1B}]0;title\u{1B}", "]0;title"), ("\u{1B}]0;t\u{1B}[1mx", "]0;tx"), ("\u{1B}Pq\u{7}x", "Pqx"),
            ("\u{1B}\u{1B}[1mx", "x"), ("\u{1B}[\u{1B}[1mm", "[m"), ("\u{1B}cx", "cx"), ("\u{1B}\\x", "\\x"),
            ("\u{1B}(", "("), ("\u{1B}(é", "(é"), ("\u{9C}x", "x"), ("(B [31m ]0;x", "(B [31m ]0;x"), ("hBx", "hBx"),
        ])
    func removesOnlyControlsOfIncompleteSequences(text: String, expected: String) {
        #expect(scalars(sanitizedText(text)) == scalars(expected))
    }

    @Test func parametersWithAnInvalidByteAreNotComplete() {
        #expect(sanitizedText(bytes: [0x1B, 0x5B, 0x33, 0xFF, 0x31, 0x6D]) == "[31m")
    }
}
