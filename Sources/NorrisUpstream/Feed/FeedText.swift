/// A text of a feed: as it reads, and with the HTML it was made of, in which pictures may stand.
struct FeedText {
    var plain: String
    var html: String?

    /// Whether there is nothing to read in it, though there may be pictures.
    var isBlank: Bool { plain.allSatisfy(\.isWhitespace) }

    init(plain: String) {
        self.plain = plain
    }

    init(html: String, _ budget: DecodingBudget) {
        let html = withoutInlineData(html)
        plain = plainText(fromCertainHTML: html, budget)
        self.html = html
    }

    /// For a text of which nobody says what it is, as in RSS.
    init(guessing text: String, _ budget: DecodingBudget) {
        if holdsMarkup(text, budget) { self.init(html: text, budget) } else { self.init(plain: text) }
    }

    /// A text construct of Atom, or its content (RFC 4287, sections 3.1 and 4.1.3); nil for what is not text, such as a
    /// file in Base64 or a mere reference. Version 0.3 may have a text in Base64 as well, and says so by `mode`.
    init?(construct element: XMLElement, _ budget: DecodingBudget) {
        guard element["src"] == nil else { return nil }
        let type = element["type"]?.lowercased()
        if element["mode"]?.lowercased() == "base64" {
            guard let text = base64Text(element.text) else { return nil }
            budget.spend(bytes: text.utf8.count)
            switch type {
            case "html", "text/html", "xhtml", "application/xhtml+xml": self.init(html: text, budget)
            case nil: self.init(guessing: text, budget)
            case "text", "text/plain": self.init(plain: text)
            default: return nil
            }
            return
        }
        switch type {
        case "html", "text/html": self.init(html: element.text, budget)
        case "xhtml", "application/xhtml+xml": self.init(html: element.innerHTML(budget), budget)
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

/// A text from Base64 (RFC 4648, section 4) with white space in it; nil for what is none, or no UTF-8.
private func base64Text(_ text: String) -> String? {
    var bytes: [UInt8] = []
    var bits: UInt32 = 0
    var count = 0
    for byte in text.utf8 where !isWhiteSpace(byte) && byte != UInt8(ascii: "=") {
        let value: UInt8
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): value = byte - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): value = byte - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): value = byte - UInt8(ascii: "0") + 52
        case UInt8(ascii: "+"): value = 62
        case UInt8(ascii: "/"): value = 63
        default: return nil
        }
        bits = bits << 6 | UInt32(value)
        count += 1
        if count == 4 {
            bytes += [UInt8(bits >> 16 & 0xFF), UInt8(bits >> 8 & 0xFF), UInt8(bits & 0xFF)]
            (bits, count) = (0, 0)
        }
    }
    switch count {
    case 2: bytes.append(UInt8(bits >> 4 & 0xFF))
    case 3: bytes += [UInt8(bits >> 10 & 0xFF), UInt8(bits >> 2 & 0xFF)]
    default: break
    }
    return String(validating: bytes, as: UTF8.self)
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
