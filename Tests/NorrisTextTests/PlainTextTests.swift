import NorrisSystem
import NorrisTestSupport
import NorrisText
import Testing

struct CaseFoldingTests {
    @Test(
        "The folded form is stored, so it must not change",
        arguments: [
            ("Straße", "strasse"), ("ὈΔΥΣΣΕΎΣ", "ὀδυσσεύσ"), ("İ", "i\u{307}"), ("ı", "i"), ("É", "é"),
            ("E\u{301}", "e\u{301}"), ("ﬁn", "fin"), ("日本語 ＡＢＣ 한국어", "日本語 ａｂｃ 한국어"), ("👍🏽", "👍🏽"), ("", ""),
        ])
    func folded(text: String, expected: String) { #expect(scalars(caseFolded(text)) == scalars(expected)) }

    @Test func everyLetterFoldsAsItsOtherCases() {
        var wrong: [Unicode.Scalar] = []
        for value in UInt32(0)...0x1FFFF {
            guard let letter = Unicode.Scalar(value), letter.properties.changesWhenCaseMapped else { continue }
            let folded = scalars(caseFolded(String(letter)))
            let cases = [
                letter.properties.lowercaseMapping, letter.properties.titlecaseMapping,
                letter.properties.uppercaseMapping, String(String.UnicodeScalarView(folded)),
            ]
            if cases.contains(where: { scalars(caseFolded($0)) != folded }) {
                wrong.append(letter)
            }
        }
        #expect(wrong.isEmpty)
    }
}

struct ASCIITextTests {
    @Test(arguments: [
        ("", ""), ("plain\r\n\ttext\u{1B}[2m", "plain\r\n\ttext\u{1B}[2m"),
        ("cut… · 480×229 – ‘a’ “b”", "cut~ - 480x229 - 'a' \"b\""),
        ("┌──┐\n│ä │\n└──┘", "+--+\n|? |\n+--+"), ("● ⠋", "* |"),
        // A separate accent takes no column and is removed. A precomposed letter is one character.
        ("e\u{301}", "e"), ("é", "?"), ("地球", "????"), ("👩‍💻!", "??!"),
        ("1\u{FE0F}\u{20E3}", "1?"), ("a\u{200D}b", "ab"),
        // The second UTF-8 byte of À or of U+2580 + n is a C1 control at an 8-bit terminal.
        ("\u{C0}\u{9B}31m", "?31m"),
    ]) func keepsTheColumns(text: String, ascii: String) {
        #expect(asciiText(text) == ascii)
        #expect(displayWidth(of: asciiText(text)) == displayWidth(of: text))
    }

    @Test func isASCIIWhateverItIsGiven() {
        var generator = SeededRandom(seed: 1)
        for _ in 0..<200 {
            let text = generator.text()
            let ascii = asciiText(text)
            #expect(ascii.utf8.allSatisfy { $0 < 0x80 })
            #expect(displayWidth(of: ascii) == displayWidth(of: text))
        }
    }
}

struct PromptLineTests {
    @Test("Texts that a shell would expand are refused", arguments: ["!", "$", "%", "\\", "`"])
    func shellCharacters(character: String) {
        #expect(promptLine("a\(character)b", columns: 100) == nil)
        // A special character with a combining mark is also found.
        #expect(promptLine("a\(character)\u{301}", columns: 100) == nil)
    }

    @Test("Columns are counted, not characters, and nothing is cut") func columns() {
        #expect(promptLine(String(repeating: "x", count: 100), columns: 100)?.count == 100)
        #expect(promptLine(String(repeating: "x", count: 101), columns: 100) == nil)
        #expect(promptLine(String(repeating: "日", count: 50), columns: 100)?.count == 50)
        #expect(promptLine(String(repeating: "日", count: 51), columns: 100) == nil)
        #expect(promptLine(String(repeating: "e\u{301}", count: 100), columns: 100)?.count == 100)
    }

    @Test(
        "It is one harmless line",
        arguments: [
            (" \n Why?\n\t", "Why?"), ("a\u{1B}[31mb\u{7}\u{9B}1mc", "abc"),
            ("a\u{202E}b\u{2066}", "ab"), ("a\u{1B}]0;title\u{7}b", "ab"), ("a  b.", "a  b."),
        ])
    func sanitized(text: String, expected: String) { #expect(promptLine(text, columns: 100) == expected) }

    @Test(
        "Texts of several lines and drawings are refused",
        arguments: [
            "Q: Why?\n\tA: Because.\n", "a\r\nb", "a\tb", "a\u{2028}b", "a   b", "( o_o )", "/\\_/\\", "---8<---",
        ])
    func severalLines(text: String) {
        #expect(promptLine(text, columns: 100) == nil)
    }

    @Test("Invisible texts are refused", arguments: ["", " \n\t", "\u{1B}[2J", "\u{200D}", "\u{202E}"])
    func empty(text: String) { #expect(promptLine(text, columns: 100) == nil) }

    @Test(
        "Sequences that a shell or a terminal may measure differently are refused",
        arguments: [
            "👨\u{200D}👩\u{200D}👧", "🇨🇭", "🇨", "🏴\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}", "क्\u{200D}ष",
        ])
    func sequences(text: String) {
        #expect(promptLine(text, columns: 100) == nil)
        #expect(promptLine("Facts \(text) and more", columns: 100) == nil)
    }

    @Test(
        "Single emoji, accents, wide characters and all other printable ASCII stay",
        arguments: [
            "👍", "❤️", "é", "日本", "🏴",
            "\"#&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_abcdefghijklmnopqrstuvwxyz{|}~",
        ])
    func singleCharacters(text: String) { #expect(promptLine(text, columns: 100) == text) }
}
