import Glibc
import NorrisProtocol
package import NorrisSystem

/// The properties of a terminal, such as standard output, from the system.
package struct TerminalFacts: Equatable, Sendable {
    package var isTerminal: Bool
    /// The columns from the terminal's driver; nil if unknown or without a terminal.
    package var columns: Int?
    package var rows: Int?

    package init(isTerminal: Bool, columns: Int? = nil, rows: Int? = nil) {
        self.isTerminal = isTerminal
        self.columns = columns
        self.rows = rows
    }

    /// Reads the properties of an open descriptor.
    package init(descriptor: Int32) {
        isTerminal = isatty(descriptor) == 1
        var size = winsize()
        guard isTerminal, ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 else { return }
        columns = size.ws_col > 0 ? Int(size.ws_col) : nil
        rows = size.ws_row > 0 ? Int(size.ws_row) : nil
    }

    /// The width for wrapping: the flag, else the driver's, else `COLUMNS`, else 80.
    package func width(flag: Int?, environment: Environment) -> Int {
        let variable = environment["COLUMNS"].flatMap { Int($0) }.flatMap { $0 > 0 ? $0 : nil }
        return flag ?? columns ?? variable ?? 80
    }
}

/// Whether the terminal has no escape sequences, or its type is unknown.
package func isDumbTerminal(_ environment: Environment) -> Bool {
    ["dumb", nil].contains(environment.value(of: "TERM"))
}

/// Whether the locale's character set is UTF-8: the first non-empty variable of `LC_ALL`, `LC_CTYPE`, `LANG` names it.
/// Without a variable, as in many containers, UTF-8 is assumed.
///
/// `C.UTF-8` is UTF-8; `C`, `POSIX`, and a name without a character set, such as `de_DE`, are not (locale(7)).
package func isUTF8Locale(_ environment: Environment) -> Bool {
    let name = environment.value(of: "LC_ALL") ?? environment.value(of: "LC_CTYPE") ?? environment.value(of: "LANG")
    guard let name = name?.prefix(while: { $0 != "@" }) else { return true }
    guard let dot = name.utf8.firstIndex(of: UInt8(ascii: ".")) else { return false }
    return [".utf-8", ".utf8"].contains(name[dot...].lowercased())
}

/// The values of `--color`.
package enum ColorChoice: String, CaseIterable, Sendable {
    case auto, always, never

    /// Whether escape sequences may be written. In this order: the flag, `NO_COLOR` (not empty), `CLICOLOR_FORCE`
    /// (neither empty nor 0), and whether the output is a terminal that is not dumb according to `TERM`.
    ///
    /// Source: no-color.org and bixense.com/clicolors.
    package func allowsEscapes(environment: Environment, isTerminal: Bool) -> Bool {
        guard self == .auto else { return self == .always }
        if environment.value(of: "NO_COLOR") != nil { return false }
        if let force = environment.value(of: "CLICOLOR_FORCE"), force != "0" { return true }
        return isTerminal && !isDumbTerminal(environment)
    }
}
