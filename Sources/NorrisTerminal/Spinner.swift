import NorrisText

/// A line that says what is waited for, with a sign that turns; seen only by those who wait for long.
///
/// It never ends in a newline, hides no cursor, and is erased before anything else is written, so that a program that
/// is interrupted leaves a terminal as it should be.
package struct Spinner: Equatable, Sendable {
    /// Waits that are shorter than this show nothing.
    private static let delay: Duration = .milliseconds(300)
    private static let interval: Duration = .milliseconds(100)
    private static let frames = Array("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")
    /// What is waited for; nil for nothing.
    package var text: String?
    private let start: Duration
    private var isDrawn = false
    /// When it is drawn again.
    private var next: Duration

    /// - Parameter start: when the waiting began, on the clock of ``tick(at:columns:)``.
    package init(start: Duration) {
        self.start = start
        next = start + Self.delay
    }

    /// What is to be written at a moment, if anything, and after what time it wants to be called again.
    ///
    /// - Parameter columns: of the terminal; the last one stays free, for some terminals would break the line.
    package mutating func tick(
        at moment: Duration, columns: @autoclosure () -> Int
    ) -> (output: String, pause: Duration) {
        guard let text else { return ("", .seconds(3600)) }
        guard moment >= next else { return ("", next - moment) }
        let turns = Int((moment - start) / Self.interval)
        let sign = Self.frames[turns % Self.frames.count]
        let line = truncated("\(sign) \(sanitizedLine(text))…", toColumns: columns() - 1)
        next = start + Self.interval * (turns + 1)
        isDrawn = true
        return ("\r\(line)\u{1B}[K", next - moment)
    }

    /// What erases the line, if it is there; it comes back at the next tick.
    package mutating func erase() -> String {
        guard isDrawn else { return "" }
        isDrawn = false
        next = start
        return "\r\u{1B}[K"
    }
}
