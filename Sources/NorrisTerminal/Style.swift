/// How a piece of a line looks.
package enum Style: Sendable {
    case normal, dim, bold, good, warning, bad

    /// The parameter of SGR (ECMA-48, 8.3.117); nil for plain text.
    var parameter: String? {
        switch self {
        case .normal: nil
        case .dim: "2"
        case .bold: "1"
        case .good: "32"
        case .warning: "33"
        case .bad: "31"
        }
    }
}
