/// A start or end tag.
struct HTMLTag {
    /// In small letters.
    let name: String
    let isEnd: Bool
    /// In bytes, brackets included.
    let length: Int

    /// A longer tag is taken for text; it bounds what is looked at for each `<`.
    private static let maximumLength = 4096
    /// Longer than any element of HTML; those that other people make up may be longer.
    private static let maximumName = 40

    /// The tag that begins at the first byte, a `<`; nil if none does.
    ///
    /// - Parameter isKnown: whether it must be one that HTML knows.
    init?(_ bytes: ArraySlice<UInt8>, isKnown: Bool = true) {
        var index = bytes.startIndex + 1
        isEnd = index < bytes.endIndex && bytes[index] == UInt8(ascii: "/")
        if isEnd { index += 1 }
        let start = index
        while index < bytes.endIndex, index - start < Self.maximumName, Self.isNameByte(bytes[index]) { index += 1 }
        name = String(decoding: bytes[start..<index], as: UTF8.self).lowercased()
        guard let first = name.first, first.isLetter, !isKnown || Self.isKnown(name) else { return nil }
        // Attributes, in whose quotes anything may stand; a bracket outside of them begins something else.
        var quote: UInt8?
        let limit = min(bytes.endIndex, bytes.startIndex + Self.maximumLength)
        guard index < limit, Self.endsName(bytes[index]) else { return nil }
        while index < limit {
            switch bytes[index] {
            case let byte where byte == quote: quote = nil
            case _ where quote != nil: break
            case UInt8(ascii: "\""), UInt8(ascii: "'"): quote = bytes[index]
            case UInt8(ascii: "<"): return nil
            case UInt8(ascii: ">"):
                length = index + 1 - bytes.startIndex
                return
            default: break
            }
            index += 1
        }
        return nil
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: ":"):
            true
        default:
            false
        }
    }

    private static func endsName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: ">"), UInt8(ascii: "/"), UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\r"),
            UInt8(ascii: "\t"):
            true
        default:
            false
        }
    }

    /// Elements whose content no reader sees.
    static let hidden: Set<String> = ["script", "style", "template", "title"]

    /// Those of them that hide all that follows if they never end: it is for machines.
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

    static func isKnown(_ name: String) -> Bool { known.contains(name) }

    private static let known = hidden.union(paragraphs).union(blocks).union(cells).union(inline)
}
