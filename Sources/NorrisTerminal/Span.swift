import NorrisText

/// A piece of a line: text in one style, with the address it leads to.
///
/// The text is sanitised when the span is made, whoever wrote it, and the link is kept only if it is safe. So nothing
/// but `Screen` puts an escape sequence into the output.
package struct Span: Equatable, Sendable {
    /// Without newlines and tabs: runs of white space that held one are one space.
    package let text: String
    package let style: Style

    /// An http or https address of visible ASCII.
    package let link: String?

    package init(_ text: String, _ style: Style = .normal, link: String? = nil) {
        let clean = sanitizedText(text)
        // A line keeps the spaces at its ends, which are the indentation of a wrapped text; further lines are joined.
        self.text = clean.utf8.contains { $0 < 0x20 } ? sanitizedLine(clean) : clean
        self.style = style
        self.link = link.flatMap { isSafeLink($0) ? $0 : nil }
    }

    /// In columns.
    package var width: Int { displayWidth(of: text) }
}

/// Whether an address may stand in an OSC 8 sequence: http or https, visible ASCII only, and at most 2,083 bytes.
///
/// Source: gist.github.com/egmontkob/eb114294efbcd5adb1944c9f3cb5feda, "Encoding" and "Length limits".
private func isSafeLink(_ address: String) -> Bool {
    address.utf8.count <= 2_083 && isWebAddress(address)
}

/// Whether an address is one of the web, and can be printed byte for byte: http or https, visible ASCII only.
package func isWebAddress(_ address: String) -> Bool {
    let bytes = address.utf8
    return bytes.allSatisfy { 0x21...0x7E ~= $0 }
        && (begins(bytes, with: "http://") || begins(bytes, with: "https://"))
}

/// Compares without regard to the case of ASCII letters; the prefix has none but small ones.
private func begins(_ bytes: String.UTF8View, with prefix: String) -> Bool {
    bytes.prefix(prefix.utf8.count).map { 0x41...0x5A ~= $0 ? $0 | 0x20 : $0 } == Array(prefix.utf8)
}
