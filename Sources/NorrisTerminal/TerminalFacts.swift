import Glibc
package import NorrisProtocol

/// What the system says about standard output.
package struct TerminalFacts: Equatable, Sendable {
    package var isTerminal: Bool

    /// What the terminal's driver says; nil where it does not know, or there is no terminal.
    package var columns: Int?
    package var rows: Int?

    package init(isTerminal: Bool, columns: Int? = nil, rows: Int? = nil) {
        self.isTerminal = isTerminal
        self.columns = columns
        self.rows = rows
    }

    /// Asks about an open descriptor.
    package init(descriptor: Int32) {
        isTerminal = isatty(descriptor) == 1
        guard isTerminal else { return }
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 else { return }
        columns = size.ws_col > 0 ? Int(size.ws_col) : nil
        rows = size.ws_row > 0 ? Int(size.ws_row) : nil
    }

    /// The width to wrap to: the flag, else what the driver says, else `COLUMNS`, else 80.
    package func width(flag: Int?, environment: Environment) -> Int {
        let variable = environment["COLUMNS"].flatMap { Int($0) }.flatMap { $0 > 0 ? $0 : nil }
        return flag ?? columns ?? variable ?? 80
    }
}
