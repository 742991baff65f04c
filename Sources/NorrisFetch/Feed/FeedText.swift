import NorrisText

/// A text of a feed with its structure, and as its original HTML, which may contain pictures.
struct FeedText {
    var content: PostText
    var html: String?

    /// Whether the text is blank; its HTML may still contain pictures.
    var isBlank: Bool { content.text.allSatisfy(\.isWhitespace) }

    init(plain: String) { content = PostText(plain: trimmed(plain)) }

    init(html: String, at base: HTTPURL) {
        let html = withoutInlineData(html)
        content = PostText(html: html, at: base)
        self.html = html
    }

    /// Detects whether a text without a type, as in RSS, is HTML.
    init(guessing text: String, at base: HTTPURL) {
        if holdsMarkup(text) {
            self.init(html: text, at: base)
        } else {
            self.init(plain: withoutIndentation(text))
        }
    }

    /// Decodes an Atom text or content (RFC 4287, sections 3.1 and 4.1.3); nil for Base64 data and references.
    init?(construct element: XMLElement) {
        switch AtomText(element) {
        case .html(let html): self.init(html: html, at: element.base)
        case .plain(let text): self.init(plain: text)
        case nil: return nil
        }
    }
}

/// A title of a feed without markup. Detects whether a text without a type, as in RSS, is HTML.
func feedTitle(guessing text: String) -> String {
    holdsMarkup(text) ? plainText(fromHTML: text, isCertain: true) : text
}

/// The text of an Atom construct without markup; nil for Base64 data and references.
func feedTitle(construct element: XMLElement) -> String? {
    switch AtomText(element) {
    case .html(let html): plainText(fromHTML: withoutInlineData(html), isCertain: true)
    case .plain(let text): text
    case nil: nil
    }
}

/// An Atom text or content as written.
private enum AtomText {
    case html(String)
    case plain(String)

    init?(_ element: XMLElement) {
        guard element["src", .url] == nil, element["mode", .word]?.lowercased() != "base64" else { return nil }
        switch element["type", .word]?.lowercased() {
        case "html", "text/html": self = .html(element.text(.text))
        case "xhtml", "application/xhtml+xml": self = .html(element.html(.text))
        case nil, "text", "text/plain": self = .plain(element.text(.text))
        default: return nil
        }
    }
}

/// Removes the white space at the beginning of each line, because in a text without a type it indents the XML.
private func withoutIndentation(_ text: String) -> String {
    text.split(separator: "\n" as Character, omittingEmptySubsequences: false)
        .map { $0.drop { $0 == " " || $0 == "\t" } }.joined(separator: "\n")
}

/// Removes Base64 data (`data:image/png;base64,…`), because a tag with such data is too long and would become text.
private func withoutInlineData(_ html: String) -> String {
    guard html.utf8.count > 1024 else { return html }
    let bytes = Array(html.utf8)
    let marker = Array(";base64,".utf8)
    var kept: [UInt8] = []
    var index = 0
    while index < bytes.count {
        kept.append(bytes[index])
        index += 1
        if bytes[index - 1] == ",", kept.suffix(marker.count).elementsEqual(marker) {
            // The data may contain line ends and percent-encoding.
            while index < bytes.count, isLetterOrDigit(bytes[index]) || "+/=%\n\r".utf8.contains(bytes[index]) {
                index += 1
            }
        }
    }
    return kept.count == bytes.count ? html : String(decoding: kept, as: UTF8.self)
}
