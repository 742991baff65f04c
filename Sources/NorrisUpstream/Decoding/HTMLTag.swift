/// A start or end tag.
struct HTMLTag {
    /// In small letters.
    let name: String
    let isEnd: Bool
    /// In bytes, brackets included.
    let length: Int

    /// A longer tag is taken for text; it bounds what is read for each `<`.
    private static let maximumLength = 4096
    /// Longer than any element of HTML; those that other people invent may be longer.
    private static let maximumName = 40

    /// The tag that begins at the first byte, a `<`; nil if none does, or none that HTML knows where it must be one.
    init?(_ bytes: ArraySlice<UInt8>, isKnown: Bool = true, _ budget: DecodingBudget) {
        var index = bytes.startIndex + 1
        isEnd = index < bytes.endIndex && bytes[index] == "/"
        if isEnd { index += 1 }
        let letters = bytes[index...].prefix(Self.maximumName).prefix { isLetterOrDigit($0) || $0 == "-" || $0 == ":" }
        name = String(decoding: letters, as: UTF8.self).lowercased()
        guard letters.first.map(isLetter) == true, !isKnown || Self.isKnown(name) else { return nil }
        index = letters.endIndex
        // Attributes, in whose quotes anything may stand; a `<` outside of them begins something else.
        var quote: UInt8?
        let limit = min(bytes.endIndex, bytes.startIndex + Self.maximumLength)
        guard index < limit, isWhiteSpace(bytes[index]) || bytes[index] == "/" || bytes[index] == ">" else {
            return nil
        }
        // Quotes may hide the brackets of many tags from one another, so that the same bytes are read for each.
        defer { budget.read(bytes: index - bytes.startIndex) }
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

    /// Elements whose content no reader sees.
    static let hidden: Set<String> = ["script", "style", "template", "title"]

    /// Those of them that hide everything after them if they never end: it is for machines.
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

/// The attributes of the start tags of one element in a piece of HTML, in the order of the tags: names in small
/// letters, values with entities decoded; the first of a name counts. No value is longer than a tag.
///
/// - Parameter count: the number of tags after which the reader stops.
func htmlTags(_ element: String, in html: [UInt8], upTo count: Int, _ budget: DecodingBudget) -> [[String: String]] {
    var tags: [[String: String]] = []
    var index = 0
    while tags.count < count, let start = html[index...].firstIndex(of: UInt8(ascii: "<")) {
        guard budget.read(bytes: start + 1 - index) else { break }
        index = start + 1
        guard let tag = HTMLTag(html[start...], budget) else { continue }
        guard budget.spend(elements: 1) else { break }
        index = start + tag.length
        if tag.name == element, !tag.isEnd {
            tags.append(htmlAttributes(html[(start + 1 + element.utf8.count)..<(index - 1)], budget))
        }
    }
    return tags
}

private func htmlAttributes(_ bytes: ArraySlice<UInt8>, _ budget: DecodingBudget) -> [String: String] {
    var attributes: [String: String] = [:]
    for (name, value) in tagAttributes(bytes) {
        let key = String(decoding: name, as: UTF8.self).lowercased()
        if attributes[key] == nil {
            attributes[key] = plainText(fromHTML: String(decoding: value, as: UTF8.self), budget)
        }
    }
    return attributes
}

/// The attributes in the part of a tag after its name, as they are written; values are without their quotes.
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
