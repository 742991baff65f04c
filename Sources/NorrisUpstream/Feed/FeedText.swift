/// A text of a feed: as it reads, and with the HTML it was made of, in which pictures may stand.
struct FeedText {
    var plain: String
    var html: String?

    /// Whether there is nothing to read in it, though there may be pictures.
    var isBlank: Bool { plain.allSatisfy(\.isWhitespace) }

    init(plain: String) {
        self.plain = plain
    }

    init(html: String) {
        let html = withoutInlineData(html)
        plain = plainText(fromCertainHTML: html)
        self.html = html
    }

    /// For a text of which nobody says what it is, as in RSS.
    init(guessing text: String) {
        if holdsMarkup(text) { self.init(html: text) } else { self.init(plain: text) }
    }

    /// A text construct of Atom, or its content (RFC 4287, sections 3.1 and 4.1.3); nil for what is not text, such as a
    /// file in Base64 or a mere reference.
    init?(construct element: XMLElement) {
        guard element["src"] == nil else { return nil }
        switch element["type"]?.lowercased() {
        case "html", "text/html": self.init(html: element.text)
        case "xhtml", "application/xhtml+xml": self.init(html: element.innerHTML)
        case nil, "text", "text/plain": self.init(plain: element.text)
        default: return nil
        }
    }
}

/// HTML without pictures and the like that stand in it as Base64 (`data:image/png;base64,…`): no reader of tags goes
/// on for so long, so they would end up in the text.
func withoutInlineData(_ html: String) -> String {
    guard html.utf8.count > 1024 else { return html }
    let bytes = Array(html.utf8)
    let marker = Array(";base64,".utf8)
    var kept: [UInt8] = []
    var index = 0
    while index < bytes.count {
        kept.append(bytes[index])
        index += 1
        if bytes[index - 1] == marker[7], kept.suffix(marker.count).elementsEqual(marker) {
            while index < bytes.count, isBase64(bytes[index]) { index += 1 }
        }
    }
    return kept.count == bytes.count ? html : String(decoding: kept, as: UTF8.self)
}

private func isBase64(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="),
        UInt8(ascii: "%"), UInt8(ascii: "\n"), UInt8(ascii: "\r"):
        true
    default:
        false
    }
}
