import Glibc
import NorrisProtocol
package import NorrisSystem

/// What the system says about a terminal, such as standard output.
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
        var size = winsize()
        guard isTerminal, ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 else { return }
        columns = size.ws_col > 0 ? Int(size.ws_col) : nil
        rows = size.ws_row > 0 ? Int(size.ws_row) : nil
    }

    /// The width to wrap to: the flag, else what the driver says, else `COLUMNS`, else 80.
    package func width(flag: Int?, environment: Environment) -> Int {
        let variable = environment["COLUMNS"].flatMap { Int($0) }.flatMap { $0 > 0 ? $0 : nil }
        return flag ?? columns ?? variable ?? 80
    }
}

/// Whether the terminal knows no escape sequences, or nobody says what it is.
package func isDumbTerminal(_ environment: Environment) -> Bool {
    ["dumb", nil].contains(environment.value(of: "TERM"))
}

/// Whether the locale's characters are UTF-8: the first variable of `LC_ALL`, `LC_CTYPE`, `LANG` that is not empty
/// names it. Without any, as in many containers, it is taken to be.
///
/// `C.UTF-8` is; `C`, `POSIX`, and a name without a character set, such as `de_DE`, are not (locale(7)).
package func isUTF8Locale(_ environment: Environment) -> Bool {
    let name = environment.value(of: "LC_ALL") ?? environment.value(of: "LC_CTYPE") ?? environment.value(of: "LANG")
    guard let name = name?.prefix(while: { $0 != "@" }) else { return true }
    guard let dot = name.utf8.firstIndex(of: UInt8(ascii: ".")) else { return false }
    // No array: its metadata would cost a prompt an eighth of its instructions.
    let characters = name[dot...].lowercased()
    return characters == ".utf-8" || characters == ".utf8"
}

/// The values of `--color`.
package enum ColorChoice: String, CaseIterable, Sendable {
    case auto, always, never

    /// Whether escape sequences may be written: the flag decides, then `NO_COLOR` (not empty), then `CLICOLOR_FORCE`
    /// (neither empty nor 0), then whether the output is a terminal, by `TERM` not a dumb one.
    ///
    /// Source: no-color.org and bixense.com/clicolors.
    package func allowsEscapes(environment: Environment, isTerminal: Bool) -> Bool {
        guard self == .auto else { return self == .always }
        if environment.value(of: "NO_COLOR") != nil { return false }
        if let force = environment.value(of: "CLICOLOR_FORCE"), force != "0" { return true }
        return isTerminal && !isDumbTerminal(environment)
    }
}
