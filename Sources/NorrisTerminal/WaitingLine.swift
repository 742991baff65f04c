import NorrisText

/// The last line of a terminal while something is waited for: a sign that turns, and what for; seen only by those who
/// wait for long.
///
/// It never ends in a newline, hides no cursor, and is erased before anything else is written, so that a program that
/// is interrupted leaves a terminal as it should be.
package final class WaitingLine {
    /// Waits that are shorter than this show nothing.
    private static let delay: Duration = .milliseconds(300)
    private static let interval: Duration = .milliseconds(100)
    private static let frames = Array("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")
    private let isOn: Bool
    private let elapsed: () -> Duration
    private let columns: () -> Int
    private let write: (_ text: String) -> Void
    /// What is waited for; nil for nothing.
    private var text: String?
    private let start: Duration
    private var isDrawn = false
    /// When it is drawn again.
    private var next: Duration

    /// - Parameters:
    ///   - isOn: whether there is a terminal that can erase a line.
    ///   - elapsed: the time on a clock that never jumps.
    ///   - columns: of the terminal, at the moment; the last one stays free, for some terminals would break the line.
    ///   - write: to the terminal, at once.
    package init(
        isOn: Bool, elapsed: @escaping () -> Duration, columns: @escaping () -> Int,
        write: @escaping (_ text: String) -> Void
    ) {
        (self.isOn, self.elapsed, self.columns, self.write) = (isOn, elapsed, columns, write)
        start = isOn ? elapsed() : .zero
        next = start + Self.delay
    }

    /// Says from now on that this is waited for.
    package func show(_ text: String) {
        if isOn { self.text = text }
    }

    /// Shows nothing until the next ``show(_:)``.
    package func hide() {
        erase()
        text = nil
    }

    /// Erases the line, if it is there; it comes back at the next tick.
    package func erase() {
        guard isDrawn else { return }
        isDrawn = false
        next = start
        write("\r\u{1B}[K")
    }

    /// Draws the line if it is time to.
    ///
    /// - Returns: after what time it wants to be called again.
    package func tick() -> Duration {
        guard let text else { return .seconds(3600) }
        let moment = elapsed()
        guard moment >= next else { return next - moment }
        let turns = Int((moment - start) / Self.interval)
        let sign = Self.frames[turns % Self.frames.count]
        let line = truncated("\(sign) \(sanitizedLine(text))…", toColumns: columns() - 1)
        next = start + Self.interval * (turns + 1)
        isDrawn = true
        write("\r\(line)\u{1B}[K")
        return next - moment
    }
}
