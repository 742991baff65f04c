import NorrisText
import Testing

struct ASCIITextTests {
    @Test(arguments: [
        ("", ""), ("plain\r\n\ttext\u{1B}[2m", "plain\r\n\ttext\u{1B}[2m"),
        ("cut… · 480×229 – ‘a’ “b”", "cut~ - 480x229 - 'a' \"b\""),
        ("┌──┐\n│ä │\n└──┘", "+--+\n|? |\n+--+"), ("██░░ ▁▂▃▄▅▆▇█", "##.. _.-=+*%#"), ("● ⠋", "* |"),
        // An accent apart from its letter takes no column, and goes; one of its own is a part of the letter.
        ("e\u{301}", "e"), ("é", "?"),
        ("地球", "????"), ("👩‍💻!", "??!"), ("1\u{FE0F}\u{20E3}", "1?"), ("a\u{200D}b", "ab"),
        // The second byte of U+2580 + n, or of a capital A with tilde, is a C1 control to a terminal of 8 bits.
        ("\u{C0}\u{9B}31m", "?31m"),
    ])
    func keepsTheColumns(text: String, ascii: String) {
        #expect(asciiText(text) == ascii)
        #expect(displayWidth(of: asciiText(text)) == displayWidth(of: text))
    }

    @Test func isASCIIWhateverItIsGiven() {
        var generator = SeededGenerator(seed: 1)
        for _ in 0..<200 {
            let text = generator.text()
            let ascii = asciiText(text)
            #expect(ascii.utf8.allSatisfy { $0 < 0x80 })
            #expect(displayWidth(of: ascii) == displayWidth(of: text))
        }
    }
}
