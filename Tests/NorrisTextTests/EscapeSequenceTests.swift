import NorrisText
import Testing

struct EscapeSequenceTests {
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
