/// The values of `--color`.
package enum ColorChoice: String, CaseIterable, Sendable {
    case auto, always, never

    /// Whether escape sequences may be written: the flag decides, then `NO_COLOR` (not empty), then `CLICOLOR_FORCE`
    /// (neither empty nor 0), then whether the output is a terminal that is not dumb.
    ///
    /// Source: no-color.org and bixense.com/clicolors.
    package func allowsEscapes(environment: [String: String], isTerminal: Bool) -> Bool {
        switch self {
        case .always: return true
        case .never: return false
        case .auto: break
        }
        if environment["NO_COLOR", default: ""] != "" {
            return false
        }
        if !["", "0"].contains(environment["CLICOLOR_FORCE", default: ""]) {
            return true
        }
        return isTerminal && environment["TERM"] != "dumb"
    }
}
