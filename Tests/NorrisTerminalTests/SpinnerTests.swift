import NorrisTerminal
import Testing

struct SpinnerTests {
    private let erased = "\r\u{1B}[K"

    private struct Tick: Equatable {
        var output = ""
        let pause: Duration
    }

    private func tick(_ spinner: inout Spinner, at milliseconds: Int, columns: Int = 80) -> Tick {
        let (output, pause) = spinner.tick(at: .milliseconds(milliseconds), columns: columns)
        return Tick(output: output, pause: pause)
    }

    private func spinner(_ text: String = "asking Giphy") -> Spinner {
        var spinner = Spinner(start: .seconds(7))
        spinner.text = text
        return spinner
    }

    @Test func isSilentForThreeTenthsOfASecond() {
        var spinner = spinner()
        #expect(tick(&spinner, at: 7_000) == Tick(pause: .milliseconds(300)))
        #expect(tick(&spinner, at: 7_299) == Tick(pause: .milliseconds(1)))
        #expect(spinner.erase() == "")
    }

    @Test func turnsTenTimesASecond() {
        var spinner = spinner()
        #expect(tick(&spinner, at: 7_300) == Tick(output: "\r⠸ asking Giphy…\u{1B}[K", pause: .milliseconds(100)))
        // It was woken up for something else.
        #expect(tick(&spinner, at: 7_350) == Tick(pause: .milliseconds(50)))
        #expect(tick(&spinner, at: 7_420) == Tick(output: "\r⠼ asking Giphy…\u{1B}[K", pause: .milliseconds(80)))
        let turns = (0..<10).map { tick(&spinner, at: 8_000 + 100 * $0).output }
        #expect(Set(turns).count == 10)
    }

    @Test func comesBackAfterItWasErased() {
        var spinner = spinner()
        _ = tick(&spinner, at: 7_300)
        #expect(spinner.erase() == erased)
        #expect(spinner.erase() == "")
        spinner.text = "fetching"
        #expect(tick(&spinner, at: 7_350).output == "\r⠸ fetching…\u{1B}[K")
    }

    @Test func waitsForNothingWithoutAText() {
        var spinner = Spinner(start: .zero)
        #expect(tick(&spinner, at: 9_000) == Tick(pause: .seconds(3600)))
        #expect(spinner.erase() == "")
    }

    @Test(arguments: [(0, ""), (1, ""), (2, "…"), (5, "⠸ a…"), (16, "⠸ asking Giphy…"), (2_000, "⠸ asking Giphy…")])
    func leavesTheLastColumnFree(columns: Int, line: String) {
        var spinner = spinner()
        #expect(tick(&spinner, at: 7_300, columns: columns).output == "\r\(line)\u{1B}[K")
    }

    @Test func letsNoControlCharacterThrough() {
        var spinner = spinner(hostile)
        let line = tick(&spinner, at: 8_000).output
        #expect(forbidden(in: String(line.dropFirst().dropLast(3))) == [])
    }
}
