import NorrisText
import Testing

struct PromptLineTests {
    @Test("What a shell would expand is left out", arguments: ["!", "$", "%", "\\", "`"])
    func shellCharacters(character: String) {
        #expect(promptLine("a\(character)b", columns: 100) == nil)
        #expect(promptLine(character, columns: 100) == nil)
        // A character that begins with one of the five is found too.
        #expect(promptLine("a\(character)\u{301}", columns: 100) == nil)
    }

    @Test("All other printable ASCII stays as it is")
    func otherCharacters() {
        let text = String(String.UnicodeScalarView((0x21...0x7E).map { Unicode.Scalar(UInt8($0)) }))
            .filter { !"!$%\\`".contains($0) }
        #expect(text.count == 89)
        #expect(promptLine(text, columns: 100) == text)
    }

    @Test("Columns are counted, not characters, and nothing is cut")
    func columns() {
        #expect(promptLine(String(repeating: "x", count: 100), columns: 100)?.count == 100)
        #expect(promptLine(String(repeating: "x", count: 101), columns: 100) == nil)
        #expect(promptLine(String(repeating: "日", count: 50), columns: 100)?.count == 50)
        #expect(promptLine(String(repeating: "日", count: 51), columns: 100) == nil)
        #expect(promptLine(String(repeating: "e\u{301}", count: 100), columns: 100)?.count == 100)
    }

    @Test(
        "It is one harmless line",
        arguments: [
            ("Q: Why?\n\tA: Because.\n", "Q: Why? A: Because."), ("a\u{1B}[31mb\u{7}\u{9B}1mc", "abc"),
            ("a\u{202E}b\u{2066}", "ab"), ("a\u{1B}]0;title\u{7}b", "ab"), ("a\r\nb", "a b"),
        ])
    func sanitised(text: String, expected: String) {
        #expect(promptLine(text, columns: 100) == expected)
    }

    @Test("What shows nothing is no line", arguments: ["", " \n\t", "\u{1B}[2J", "\u{200D}", "\u{202E}"])
    func empty(text: String) {
        #expect(promptLine(text, columns: 100) == nil)
    }

    @Test("Where no other text can take its place, the characters are left out")
    func withoutSpecialCharacters() {
        #expect(promptText("100% of `ls` cost $5 \\ he said!\n") == "100 of ls cost 5  he said")
        #expect(promptText("plain") == "plain")
        #expect(promptText("\u{1B}[2J$") == "")
    }
}
