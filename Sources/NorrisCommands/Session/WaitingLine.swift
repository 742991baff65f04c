import NorrisTerminal

/// The last line of standard error while the daemon is waited for: says what for, where standard error is a terminal.
///
/// Whoever writes to the terminal erases it first, with ``erase()``.
final class WaitingLine {
    private var spinner: Spinner?
    private let elapsed: () -> Duration
    private let columns: () -> Int
    private let write: (_ text: String) -> Void

    /// - Parameters:
    ///   - isOn: whether standard error is a terminal that can erase a line.
    ///   - columns: of that terminal, at the moment.
    ///   - write: to standard error, at once.
    init(
        isOn: Bool, elapsed: @escaping () -> Duration, columns: @escaping () -> Int,
        write: @escaping (_ text: String) -> Void
    ) {
        self.elapsed = elapsed
        self.columns = columns
        self.write = write
        spinner = isOn ? Spinner(start: elapsed()) : nil
    }

    /// Says from now on that this is waited for.
    func show(_ text: String) {
        spinner?.text = text
    }

    /// Shows nothing until the next ``show(_:)``.
    func hide() {
        erase()
        spinner?.text = nil
    }

    func erase() {
        guard let text = spinner?.erase(), !text.isEmpty else { return }
        write(text)
    }

    /// Draws the line if it is time to, and says when to come back.
    func tick() -> Duration {
        guard let (text, pause) = spinner?.tick(at: elapsed(), columns: columns()) else { return .seconds(3600) }
        if !text.isEmpty { write(text) }
        return pause
    }
}
