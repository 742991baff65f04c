import NorrisText

/// The last line of a terminal during a long wait: a turning sign, and the reason.
///
/// The line never ends with a newline, does not hide the cursor, and is erased before any other output, so that an
/// interrupted program leaves the terminal in order.
package final class WaitingLine {
    /// The shortest wait that is shown.
    private static let delay: Duration = .milliseconds(300)
    private static let interval: Duration = .milliseconds(100)
    private static let frames = Array("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")
    private let isOn: Bool
    private let elapsed: () -> Duration
    private let columns: () -> Int
    private let write: (_ text: String) -> Void
    /// The reason of the wait; nil without a wait.
    private var text: String?
    private let start: Duration
    private var isDrawn = false
    /// The time of the next drawing.
    private var next: Duration

    /// - Parameters:
    ///   - isOn: whether there is a terminal that can erase a line.
    ///   - elapsed: the time on a monotonic clock.
    ///   - columns: the current columns of the terminal; the last stays free, because some terminals would break the
    ///     line.
    ///   - write: writes to the terminal at once.
    package init(
        isOn: Bool, elapsed: @escaping () -> Duration, columns: @escaping () -> Int,
        write: @escaping (_ text: String) -> Void
    ) {
        (self.isOn, self.elapsed, self.columns, self.write) = (isOn, elapsed, columns, write)
        start = isOn ? elapsed() : .zero
        next = start + Self.delay
    }

    /// Shows a reason from now on.
    package func show(_ text: String) {
        if isOn { self.text = text }
    }

    /// Shows nothing until the next ``show(_:)``.
    package func hide() {
        erase()
        text = nil
    }

    /// Erases the line; the next tick draws it again.
    package func erase() {
        guard isDrawn else { return }
        isDrawn = false
        next = start
        write("\r\u{1B}[K")
    }

    /// Draws the line if its time has come.
    ///
    /// - Returns: the time until the next call.
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
