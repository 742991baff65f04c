import NorrisTerminal
import Testing

struct ScreenTests {
    @Test(arguments: ["a\nb", "a\r\nb", "a\rb", "a\tb", "a\u{2028}b", "a\u{2029}b", "a\n\n\u{1B}[1m\tb"])
    func keepsASpanOnItsLine(text: String) {
        #expect(screen(80) { $0.line(text) } == "a b\n")
        #expect(screen(nil) { $0.fields([Span(text), Span(text)]) } == "a b\ta b\n")
    }

    @Test func keepsTheIndentationOfALine() {
        #expect(screen(80) { $0.line("  a") } == "  a\n")
    }

    @Test(arguments: [
        (Style.normal, "x"), (.dim, "<2mx<0m"), (.bold, "<1mx<0m"), (.good, "<32mx<0m"), (.warning, "<33mx<0m"),
        (.bad, "<31mx<0m"),
    ])
    func writesEscapesOnlyWhereTheyAreAllowed(style: Style, coloured: String) {
        #expect(visible(screen(80, escapes: true) { $0.line("x", style) }) == coloured + "\n")
        #expect(screen(80) { $0.line("x", style) } == "x\n")
    }

    @Test func writesNoEscapesAroundNothing() {
        #expect(screen(80, escapes: true) { $0.line([Span("", .dim, link: "https://example.org")]) } == "\n")
    }

    @Test func indentsWhereAnEntryGoesOn() {
        let text = screen(20) { $0.entry([(Span("ok"), 4), (Span("a"), 2)], Span("some words to wrap")) }
        #expect(text == """
            ok    a   some words
                      to wrap

            """)
    }

    @Test func printsAnEntryWithoutText() {
        #expect(screen(20) { $0.entry([(Span("ok"), 4)], Span("")) } == "ok    \n")
    }

    @Test func wrapsAParagraphForATerminalOnly() {
        #expect(screen(9) { $0.paragraph("one two three") } == "one two\nthree\n")
        #expect(screen(nil) { $0.paragraph("one two\nthree") } == "one two three\n")
    }
}
