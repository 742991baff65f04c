import NorrisProtocol
import NorrisTerminal
import Testing

struct ScreenTests {
    @Test(arguments: ["a\nb", "a\r\nb", "a\rb", "a\tb", "a\u{2028}b", "a\u{2029}b", "a\n\n\u{1B}[1m\tb"])
    func keepsASpanOnItsLine(text: String) {
        #expect(screen(80) { $0.line(text) } == "a b\n")
        #expect(screen(nil) { $0.fields([Span(text), Span(text)]) } == "a b\ta b\n")
    }

    @Test(arguments: [
        (Style.normal, "x"), (.dim, "<2mx<0m"), (.bold, "<1mx<0m"), (.good, "<32mx<0m"), (.warning, "<33mx<0m"),
        (.bad, "<31mx<0m"),
    ]) func writesEscapesOnlyWhereTheyAreAllowed(style: Style, colored: String) {
        #expect(visible(screen(80, escapes: true) { $0.line("x", style) }) == colored + "\n")
        #expect(screen(80) { $0.line("x", style) } == "x\n")
    }

    private func list(_ width: Int?, from first: Int?, _ texts: [String]) -> String {
        screen(width) { $0.items(texts, numberedFrom: first) { screen, text, _ in screen.paragraph(text) } }
    }

    @Test func alignsTheNumbersOfItemsAndIndentsTheirOtherLines() {
        #expect(list(8, from: 9, ["ab cde", "f"]) == " 9  ab\n    cde\n\n10  f\n")
        #expect(list(8, from: nil, ["ab cde", "f"]) == "ab cde\n\nf\n")
        #expect(list(nil, from: 9, ["ab cde", "f"]) == "ab cde\nf\n")
        #expect(list(1, from: 1, ["ab"]).hasPrefix("1  a\n"))
    }

    /// The daemon stores the ids of 100 items.
    @Test func givesNoNumberToTheItemsAfterTheHundredth() {
        #expect(list(20, from: 100, ["a", "b"]) == "100  a\n\n     b\n")
        #expect(list(20, from: 101, ["a"]) == "     a\n")
    }

    @Test func putsTheTextOfAnEntryBelowWhereLittleIsLeft() {
        let labels = [(label: Span("ok"), columns: 4), (label: Span("a"), columns: 2)]
        #expect(
            screen(25) { $0.entry(labels, Span("some words to wrap, and more")) } == """
                ok  a
                  some words to wrap, and
                  more

                """)
        #expect(screen(5) { $0.entry(labels, Span("to wrap")) } == "ok  a\n  to\n  wra\n  p\n")
        #expect(screen(1) { $0.entry(labels, Span("b")) } == "ok\na\n  b\n")
        #expect(screen(nil) { $0.entry(labels, Span("some words")) } == "ok    a   some words\n")
    }

    @Test func doesNotWrapWhatIsToBeCopied() {
        let command = "norrisctl refresh facts --wait --timeout 30m"
        #expect(screen(12) { $0.entry([(Span(""), 4)], Span(command), wraps: false) } == "  \(command)\n")
    }
}

struct WaitingLineTests {
    /// A line at a terminal that begins at seven seconds, with the time and the width that the line sees.
    private final class Terminal {
        var now = Duration.seconds(7)
        var columns = 80
        private(set) var output = ""
        private(set) lazy var line = WaitingLine(
            isOn: true, elapsed: { self.now }, columns: { self.columns }, write: { self.output += $0 })

        init(_ text: String? = "asking Giphy", columns: Int = 80) {
            self.columns = columns
            text.map(line.show)
        }

        /// Returns the output of a tick and the time until the next tick.
        func tick(_ milliseconds: Int) -> (output: String, pause: Duration) {
            (now, output) = (.milliseconds(milliseconds), "")
            let pause = line.tick()
            return (output, pause)
        }

        func erase() -> String {
            output = ""
            line.erase()
            return output
        }
    }

    @Test func turnsTenTimesASecondAfterThreeTenths() {
        let terminal = Terminal()
        #expect(terminal.tick(7_000) == ("", .milliseconds(300)))
        #expect(terminal.tick(7_299) == ("", .milliseconds(1)))
        #expect(terminal.erase() == "")
        #expect(terminal.tick(7_300) == ("\r⠸ asking Giphy…\u{1B}[K", .milliseconds(100)))
        // A wake-up before the next tick.
        #expect(terminal.tick(7_350) == ("", .milliseconds(50)))
        #expect(terminal.tick(7_420) == ("\r⠼ asking Giphy…\u{1B}[K", .milliseconds(80)))
        let turns = (0..<10).map { terminal.tick(8_000 + 100 * $0).output }
        #expect(Set(turns).count == 10)
    }

    @Test func comesBackAfterItWasErased() {
        let terminal = Terminal()
        _ = terminal.tick(7_300)
        #expect([terminal.erase(), terminal.erase()] == ["\r\u{1B}[K", ""])
        terminal.line.show("fetching")
        #expect(terminal.tick(7_350).output == "\r⠸ fetching…\u{1B}[K")
        terminal.line.hide()
        #expect(terminal.tick(9_000) == ("", .seconds(3600)))
    }

    @Test(arguments: [(0, ""), (1, ""), (2, "…"), (5, "⠸ a…"), (16, "⠸ asking Giphy…"), (2_000, "⠸ asking Giphy…")])
    func leavesTheLastColumnFree(columns: Int, line: String) {
        #expect(Terminal(columns: columns).tick(7_300).output == "\r\(line)\u{1B}[K")
    }

    @Test func letsNoControlCharacterThrough() {
        let line = Terminal(hostile).tick(8_000).output
        #expect(forbidden(in: String(line.dropFirst().dropLast(3))) == [])
    }
}
