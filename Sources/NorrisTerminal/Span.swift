import NorrisText

/// The style of a part of a line.
package enum Style: Sendable {
    case normal, dim, bold, good, warning, bad
    /// A match of a search, in grep's style.
    case match
    /// Code inside a text.
    case code

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
        case .code: "36"
        }
    }
}

/// A part of a line: text in one style, possibly with a link.
///
/// The text is always sanitized, and a link is only kept if it is safe. Therefore only `Screen` writes escape
/// sequences.
package struct Span: Equatable, Sendable {
    /// Without newlines and tabs; a run of white space that contains one becomes one space.
    package let text: String
    package let style: Style
    /// An http or https address of visible ASCII with at most 2,083 bytes.
    ///
    /// Source: gist.github.com/egmontkob/eb114294efbcd5adb1944c9f3cb5feda, "Encoding" and "Length limits".
    package let link: String?

    package init(_ text: String, _ style: Style = .normal, link: String? = nil) {
        let clean = sanitizedText(text)
        // Spaces at the ends of a line stay, because they indent wrapped text. Several lines are joined.
        self.text = clean.utf8.contains { $0 < 0x20 } ? sanitizedLine(clean) : clean
        self.style = style
        self.link = link.flatMap { $0.utf8.count <= 2_083 && isWebAddress($0) ? $0 : nil }
    }

    /// In columns.
    package var width: Int { displayWidth(of: text) }

    /// The separator between parts of a line.
    static let dot = Span(" · ", .dim)

    static func spaces(_ count: Int) -> Span { Span(String(repeating: " ", count: count)) }
}

/// Whether an address begins with http or https and contains only visible ASCII, so that it can be printed unchanged.
package func isWebAddress(_ address: String) -> Bool {
    guard address.utf8.allSatisfy({ 0x21...0x7E ~= $0 }) else { return false }
    let start = address.prefix(8).lowercased()
    return start.hasPrefix("http://") || start == "https://"
}
