import Testing

@testable import NorrisCards

struct CardTextTests {
    @Test("White space and controls go, lines and paragraphs stay", arguments: [
        ("  two\t words  ", "two words"),
        ("\n\n\u{3000}first\n\n\n\nsecond \n\t-- third\n\n", "first\n\nsecond\n-- third"),
        ("\u{1B}[31mred\u{1B}[0m\u{0}\u{202E}!", "red!"), ("a\u{2028}b\r\nc", "a\nb\nc"),
        ("<b>&amp;</b>", "<b>&amp;</b>"),
    ])
    func cleans(source: String, expected: String) throws { #expect(try CardText(source).text == expected) }

    @Test("A text that shows nothing is refused", arguments: [
        "", " \n\t", "\u{200D}\u{200C}", "\u{FE0F}", "\u{301}\u{308}", "\u{200B}\u{FEFF}", "\u{3164}\u{115F}",
        "\u{2800}\u{3000}", "\u{7}\u{1B}[31m",
    ])
    func refusesNothing(source: String) { #expect(throws: CardError.nothingToDraw) { try CardText(source) } }

    @Test("Whatever shows something is drawn", arguments: [".", "🇩🇪", "\u{10FFFD}", "e\u{301}", "\u{600}", "#"])
    func takesAnythingElse(source: String) throws { #expect(try CardText(source).text == source) }

    @Test func takesTheLongestFactAndNoLongerOne() throws {
        #expect(try CardText(String(repeating: "x", count: 10_000)).lineCount == 1)
        #expect(throws: CardError.tooLong) { try CardText(String(repeating: "x", count: 10_001)) }
    }

    @Test func joinsWhatWasBrokenForATerminal() throws {
        let fortune = """
            Q:\tWhat did he do with the line that was too long for the terminal
            \tof somebody who had but one?
            A:\tHe broke it.
            \t\t-- A Book
            """
        let expected = """
            Q: What did he do with the line that was too long for the terminal of somebody who had but one?
            A: He broke it.
            -- A Book
            """
        #expect(try CardText(fortune).text == expected)
    }

    @Test func knowsEmoji() throws {
        for emoji in ["👨‍👩‍👧‍👦", "🇩🇪 👍🏽", "❤️\n❤️"] {
            #expect(try CardText(emoji).isEmoji)
        }
        for text in ["1", "#", "❤️ you", "©"] {
            #expect(try !CardText(text).isEmoji)
        }
    }
}
