/// A text of a feed as plain text, and as its original HTML, which may contain pictures.
struct FeedText {
    var plain: String
    var html: String?

    /// Whether the text is blank; its HTML may still contain pictures.
    var isBlank: Bool { plain.allSatisfy(\.isWhitespace) }

    init(plain: String) { self.plain = plain }

    init(html: String, _ budget: DecodingBudget) {
        let html = withoutInlineData(html)
        plain = plainText(fromHTML: html, isCertain: true, budget)
        self.html = html
    }

    /// Detects whether a text without a type, as in RSS, is HTML.
    init(guessing text: String, _ budget: DecodingBudget) {
        if holdsMarkup(text, budget) { self.init(html: text, budget) } else { self.init(plain: text) }
    }

    /// Decodes an Atom text or content (RFC 4287, sections 3.1 and 4.1.3); nil for Base64 data and references.
    init?(construct element: XMLElement, _ budget: DecodingBudget) {
        guard element["src", .url] == nil, element["mode", .word]?.lowercased() != "base64" else { return nil }
        switch element["type", .word]?.lowercased() {
        case "html", "text/html": self.init(html: element.text(.text), budget)
        case "xhtml", "application/xhtml+xml": self.init(html: element.html(.text, budget), budget)
        case nil, "text", "text/plain": self.init(plain: element.text(.text))
        default: return nil
        }
    }
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
