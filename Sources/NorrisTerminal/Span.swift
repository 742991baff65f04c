import NorrisText

/// How a piece of a line looks.
package enum Style: Sendable {
    case normal, dim, bold, good, warning, bad
    /// What a search found, as grep has it.
    case match

    /// The parameter of SGR (ECMA-48, 8.3.117); nil for plain text.
    var parameter: String? {
        switch self {
        case .normal: nil
        case .dim: "2"
        case .bold: "1"
        case .good: "32"
        case .warning: "33"
        case .bad: "31"
        case .match: "1;31"
        }
    }
}

/// A piece of a line: text in one style, with the address it leads to.
///
/// The text is sanitized when the span is made, whoever wrote it, and the link is there only if it is safe. So nothing
/// but `Screen` puts an escape sequence into the output.
package struct Span: Equatable, Sendable {
    /// Without newlines and tabs: runs of white space that held one are one space.
    package let text: String
    package let style: Style
    /// An http or https address of visible ASCII, of at most 2,083 bytes.
    ///
    /// Source: gist.github.com/egmontkob/eb114294efbcd5adb1944c9f3cb5feda, "Encoding" and "Length limits".
    package let link: String?

    package init(_ text: String, _ style: Style = .normal, link: String? = nil) {
        let clean = sanitizedText(text)
        // The spaces at the ends of a line stay: they are the indentation of a wrapped text. Further lines are joined.
        self.text = clean.utf8.contains { $0 < 0x20 } ? sanitizedLine(clean) : clean
        self.style = style
        self.link = link.flatMap { $0.utf8.count <= 2_083 && isWebAddress($0) ? $0 : nil }
    }

    /// In columns.
    package var width: Int { displayWidth(of: text) }

    /// What stands between parts of a line.
    static let dot = Span(" · ", .dim)

    static func spaces(_ count: Int) -> Span { Span(String(repeating: " ", count: count)) }
}

/// Whether an address is one of the web, and can be printed byte for byte: http or https, visible ASCII only.
package func isWebAddress(_ address: String) -> Bool {
    guard address.utf8.allSatisfy({ 0x21...0x7E ~= $0 }) else { return false }
    let start = address.prefix(8).lowercased()
    return start.hasPrefix("http://") || start == "https://"
}
