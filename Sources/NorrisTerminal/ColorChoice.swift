package import NorrisProtocol

/// The values of `--color`.
package enum ColorChoice: String, CaseIterable, Sendable {
    case auto, always, never

    /// Whether escape sequences may be written: the flag decides, then `NO_COLOR` (not empty), then `CLICOLOR_FORCE`
    /// (neither empty nor 0), then whether the output is a terminal, by `TERM` not a dumb one.
    ///
    /// Source: no-color.org and bixense.com/clicolors.
    package func allowsEscapes(environment: Environment, isTerminal: Bool) -> Bool {
        switch self {
        case .always: return true
        case .never: return false
        case .auto: break
        }
        if environment.value(of: "NO_COLOR") != nil {
            return false
        }
        if let force = environment.value(of: "CLICOLOR_FORCE"), force != "0" {
            return true
        }
        return isTerminal && !isDumbTerminal(environment)
    }
}
