import Glibc

/// What the system says about standard output.
package struct TerminalFacts: Equatable, Sendable {
    package var isTerminal: Bool

    /// What the terminal's driver says; nil where it does not know, or there is no terminal.
    package var columns: Int?

    package init(isTerminal: Bool, columns: Int? = nil) {
        self.isTerminal = isTerminal
        self.columns = columns
    }

    /// Asks about an open descriptor.
    package init(descriptor: Int32) {
        isTerminal = isatty(descriptor) == 1
        guard isTerminal else { return }
        var size = winsize()
        if ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 {
            columns = Int(size.ws_col)
        }
    }

    /// The width to wrap to: the flag, else what the driver says, else `COLUMNS`, else 80.
    package func width(flag: Int?, environment: [String: String]) -> Int {
        let variable = environment["COLUMNS"].flatMap { Int($0) }.flatMap { $0 > 0 ? $0 : nil }
        return flag ?? columns ?? variable ?? 80
    }
}
