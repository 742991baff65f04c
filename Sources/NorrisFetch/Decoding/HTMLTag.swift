struct HTMLTag {
    /// The name in lower case.
    let name: String
    let isEnd: Bool
    /// The length in bytes, including the brackets.
    let length: Int

    /// The longest tag, in bytes. A longer one is text, which limits the bytes read for each `<`.
    static let maximumLength = 4096
    /// The longest name read, in bytes. No HTML element has a longer name; custom elements may.
    private static let maximumName = 40

    /// Parses a tag. Returns nil if the bytes begin with no tag, or, with `isKnown`, with an element unknown to HTML.
    init?(_ bytes: ArraySlice<UInt8>, isKnown: Bool = true) {
        var index = bytes.startIndex + 1
        isEnd = index < bytes.endIndex && bytes[index] == "/"
        if isEnd { index += 1 }
        let letters = bytes[index...].prefix(Self.maximumName).prefix { isLetterOrDigit($0) || $0 == "-" || $0 == ":" }
        name = String(decoding: letters, as: UTF8.self).lowercased()
        guard letters.first.map(isLetter) == true, !isKnown || Self.isKnown(name) else { return nil }
        index = letters.endIndex
        // Quoted values of attributes may contain any byte; a `<` outside quotes begins something else.
        var quote: UInt8?
        let limit = min(bytes.endIndex, bytes.startIndex + Self.maximumLength)
        guard index < limit, isWhiteSpace(bytes[index]) || bytes[index] == "/" || bytes[index] == ">" else {
            return nil
        }
        while index < limit {
            switch bytes[index] {
            case let byte where byte == quote: quote = nil
            case _ where quote != nil: break
            case "\"", "'": quote = bytes[index]
            case "<": return nil
            case ">":
                length = index + 1 - bytes.startIndex
                return
            default: break
            }
            index += 1
        }
        return nil
    }

    /// Whether the bytes begin a known tag that is longer than ``maximumLength``. A tag with an open quote does not
    /// count, because a later `<` shows that text follows.
    static func isLong(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard bytes.count > maximumLength else { return false }
        let start = bytes.prefix(maximumLength).dropFirst()
        let name = start.drop { $0 == "/" }.prefix(maximumName).prefix(while: isLetterOrDigit)
        guard isKnown(String(decoding: name, as: UTF8.self).lowercased()), isWhiteSpace(bytes[name.endIndex]) else {
            return false
        }
        let bracket = start.firstIndex { $0 == "<" }
        return bracket == nil
    }

    /// Elements whose content a browser does not display as text.
    static let hidden: Set<String> = ["script", "style", "template", "title"]

    /// Hidden elements that, without an end tag, hide the rest of the document, because their content is code.
    static let code: Set<String> = ["script", "style"]

    static let paragraphs: Set<String> = [
        "blockquote", "dl", "figure", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "ol", "p", "pre", "table", "ul",
    ]

    static let blocks: Set<String> = [
        "address", "article", "aside", "body", "dd", "details", "div", "dt", "figcaption", "footer", "form", "head",
        "header", "html", "li", "main", "nav", "section", "summary", "tbody", "tfoot", "thead", "tr",
    ]

    static let cells: Set<String> = ["td", "th"]

    private static let inline: Set<String> = [
        "a", "abbr", "audio", "b", "big", "br", "center", "cite", "code", "del", "dfn", "em", "embed", "font", "i",
        "iframe", "img", "input", "ins", "kbd", "label", "link", "mark", "meta", "noscript", "object", "picture", "q",
        "s", "samp", "small", "source", "span", "strike", "strong", "sub", "sup", "svg", "time", "tt", "u", "var",
        "video", "wbr",
    ]

    private static let known = hidden.union(paragraphs).union(blocks).union(cells).union(inline)

    static func isKnown(_ name: String) -> Bool { known.contains(name) }
}

/// The attributes of the first `count` start tags of an element in HTML. Names are in lower case, values have decoded
/// entities, and the first attribute of a name wins. No value is longer than a tag.
func htmlTags(_ element: String, in html: [UInt8], upTo count: Int) -> [[String: String]] {
    var tags: [[String: String]] = []
    var index = 0
    while tags.count < count, let start = html[index...].firstIndex(of: UInt8(ascii: "<")) {
        index = start + 1
        guard let tag = HTMLTag(html[start...]) else { continue }
        index = start + tag.length
        if tag.name == element, !tag.isEnd {
            tags.append(htmlAttributes(html[(start + 1 + element.utf8.count)..<(index - 1)]))
        }
    }
    return tags
}

private func htmlAttributes(_ bytes: ArraySlice<UInt8>) -> [String: String] {
    var attributes: [String: String] = [:]
    for (name, value) in tagAttributes(bytes) {
        let key = String(decoding: name, as: UTF8.self).lowercased()
        if attributes[key] == nil {
            attributes[key] = plainText(fromHTML: String(decoding: value, as: UTF8.self))
        }
    }
    return attributes
}

/// The attributes in the part of a tag after its name, as written; values are without their quotes.
func tagAttributes(_ bytes: ArraySlice<UInt8>) -> [(name: ArraySlice<UInt8>, value: ArraySlice<UInt8>)] {
    let isGap = { (byte: UInt8) in isWhiteSpace(byte) || byte == "/" }
    var attributes: [(name: ArraySlice<UInt8>, value: ArraySlice<UInt8>)] = []
    var rest = bytes.drop(while: isGap)
    while !rest.isEmpty {
        let name = rest.prefix { !isGap($0) && $0 != "=" }
        rest = rest[name.endIndex...].drop(while: isWhiteSpace)
        var value = rest.prefix(0)
        if rest.first == "=" {
            rest = rest.dropFirst().drop(while: isWhiteSpace)
            if let quote = rest.first, quote == "\"" || quote == "'" {
                value = rest.dropFirst().prefix { $0 != quote }
                rest = rest[value.endIndex...].dropFirst()
            } else {
                value = rest.prefix { !isWhiteSpace($0) }
                rest = rest[value.endIndex...]
            }
        }
        attributes.append((name, value))
        rest = rest.drop(while: isGap)
    }
    return attributes
}
