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
        let text = screen(26) { $0.entry([(Span("ok"), 4), (Span("a"), 2)], Span("some words to wrap")) }
        #expect(text == """
            ok    a   some words to
                      wrap

            """)
    }

    @Test func putsTheTextOfAnEntryBelowWhereLittleIsLeft() {
        let labels = [(label: Span("ok"), columns: 4), (label: Span("a"), columns: 2)]
        #expect(screen(25) { $0.entry(labels, Span("some words to wrap, and more")) } == """
            ok  a
              some words to wrap, and
              more

            """)
        #expect(screen(5) { $0.entry(labels, Span("to wrap")) } == "ok  a\n  to\n  wra\n  p\n")
        #expect(screen(1) { $0.entry(labels, Span("b")) } == "ok\na\n  b\n")
        #expect(screen(nil) { $0.entry(labels, Span("some words")) } == "ok    a   some words\n")
    }

    @Test(arguments: [(40, "      "), (12, "  ")])
    func doesNotWrapWhatIsToBeCopied(width: Int, indentation: String) {
        let command = "norrisctl refresh facts --wait --timeout 30m"
        let text = screen(width) { $0.entry([(Span(""), 4)], Span(command), wraps: false) }
        #expect(text == "\(indentation)\(command)\n")
    }

    @Test func printsAnEntryWithoutText() {
        #expect(screen(22) { $0.entry([(Span("ok"), 4)], Span("")) } == "ok    \n")
    }

    @Test func wrapsAParagraphForATerminalOnly() {
        #expect(screen(9) { $0.paragraph("one two three") } == "one two\nthree\n")
        #expect(screen(nil) { $0.paragraph("one two\nthree") } == "one two three\n")
    }

    @Test func linksNothingInAPipe() {
        for width in [nil, 80] {
            let text = screen(width, escapes: true) { $0.line([Span("here", link: "https://example.org/")]) }
            #expect(text.contains("\u{1B}]8;") == (width != nil))
            #expect(text.contains("here"))
        }
    }
}
