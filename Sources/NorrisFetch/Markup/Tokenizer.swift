/// Splits markup into tags and texts as browsers do (https://html.spec.whatwg.org, "Tokenization"), for XML and for
/// HTML. No markup is refused. Every byte is read a constant number of times, whatever the markup is.
struct Tokenizer {
    enum Token {
        /// A start tag. The name is in lower case; an attribute occurs once, its name is in lower case, and its value
        /// has decoded references.
        case start(name: String, attributes: [String: String], isEmpty: Bool)
        case end(name: String)
        /// A text with decoded references; long ones come in parts.
        case text(String)
    }

    enum Language { case xml, html }

    /// A tag keeps its first attributes and the beginning of each value; real ones are shorter.
    private static let maximumAttributes = 100, maximumValue = 16 << 10, maximumName = 100

    let bytes: [UInt8]
    private let language: Language
    /// Whether a script or style without its end tag has no content.
    private let isTitle: Bool
    private var position = 0
    /// The bytes of the last tag.
    private(set) var range = 0..<0
    /// The element whose content is text up to its end tag.
    private var rawText: String?
    /// The elements of which no further end tag exists.
    private var unended: Set<String> = []
    /// The number of faults after which an XML parser would have stopped.
    private(set) var faults = 0
    /// Whether the markup ends inside of a tag, a comment or a section.
    private(set) var isCut = false

    init(_ bytes: [UInt8], _ language: Language, isTitle: Bool = false) {
        (self.bytes, self.language, self.isTitle) = (withoutControls(bytes), language, isTitle)
    }

    /// The next token; nil at the end.
    mutating func next() -> Token? {
        if let raw = rawText {
            rawText = nil
            let start = position
            position = endOfText(in: raw)
            if start < position {
                return raw == "title" || raw == "textarea" ? text(start..<position) : plain(start..<position)
            }
        }
        while position < bytes.count {
            guard bytes[position] == "<" else { return text(from: position) }
            let start = position
            switch byte(at: position + 1) {
            case "!"?: if let token = declaration() { return token }
            // An instruction of XML ends with `?>`, but some end with `>` only.
            case "?"?: skip(past: ">")
            case "/"? where byte(at: position + 2).map(isNameStart) == true:
                if let tag = tag(start) { return tag }
            case "/"? where byte(at: position + 2) != nil && language == .html: skip(past: ">")
            case let first? where isNameStart(first): if let tag = tag(start) { return tag }
            default:
                // A `<` that begins nothing is text.
                faults += 1
                return text(from: position)
            }
        }
        return nil
    }

    private func byte(at index: Int) -> UInt8? { index < bytes.count ? bytes[index] : nil }

    private func isNameStart(_ byte: UInt8) -> Bool {
        isLetter(byte) || language == .xml && (byte == "_" || byte >= 0x80)
    }

    /// A text up to the next `<`; its first byte may be one.
    private mutating func text(from start: Int) -> Token {
        position = start + 1
        while position < bytes.count, bytes[position] != "<" { position += 1 }
        return text(start..<position)
    }

    private mutating func text(_ range: Range<Int>) -> Token {
        .text(decodedReferences(bytes[range], bare: &faults))
    }

    private func plain(_ range: Range<Int>) -> Token { .text(String(decoding: bytes[range], as: UTF8.self)) }

    // MARK: Declarations

    /// Passes a comment, a document type, a section or another declaration; returns the text of a CDATA section.
    private mutating func declaration() -> Token? {
        let rest = bytes[position...]
        if rest.starts(with: "<!--".utf8) {
            // `<!-->` and `<!--->` are whole comments.
            let after = bytes[min(position + 4, bytes.count)...]
            if after.first == ">" {
                position += 5
            } else if after.starts(with: "->".utf8) {
                position += 6
            } else {
                passComment()
            }
        } else if rest.prefix(9).lowercasedASCII.elementsEqual("<![cdata[".utf8), language == .xml {
            let start = position + 9
            let end = find("]]>", from: start)
            isCut = isCut || end == nil
            position = end.map { $0 + 3 } ?? bytes.count
            return plain(start..<(end ?? bytes.count))
        } else if rest.prefix(9).lowercasedASCII.elementsEqual("<!doctype".utf8) {
            passDocumentType()
        } else {
            skip(past: ">")
        }
        return nil
    }

    private mutating func passComment() {
        var index = position + 4
        while let dashes = find("--", from: index) {
            // Also `--!>`.
            let end = byte(at: dashes + 2) == "!" ? dashes + 3 : dashes + 2
            if byte(at: end) == ">" { return position = end + 1 }
            index = dashes + 1
        }
        isCut = true
        position = bytes.count
    }

    /// Passes a document type with its declarations, which are ignored.
    private mutating func passDocumentType() {
        var quote: UInt8?
        var isInternal = false
        while position < bytes.count {
            let byte = bytes[position]
            if isInternal, quote == nil, bytes[position...].starts(with: "<!--".utf8) {
                passComment()
                continue
            }
            position += 1
            if let open = quote {
                if byte == open { quote = nil }
            } else if byte == "\"" || byte == "'" {
                quote = byte
            } else if byte == "[" {
                isInternal = true
            } else if byte == "]" {
                isInternal = false
            } else if byte == ">", !isInternal {
                return
            }
        }
        isCut = true
    }

    private mutating func skip(past end: Unicode.Scalar) {
        while position < bytes.count, bytes[position] != end { position += 1 }
        isCut = isCut || position == bytes.count
        position = min(position + 1, bytes.count)
    }

    // MARK: Tags

    /// The tag at the position; nil if the markup ends in it.
    private mutating func tag(_ start: Int) -> Token? {
        let isEnd = bytes[start + 1] == "/"
        position = start + (isEnd ? 2 : 1)
        let name = name { isWhiteSpace($0) || $0 == "/" || $0 == ">" || $0 == "<" }
        var attributes: [String: String] = [:]
        var isEmpty = false
        while true {
            while position < bytes.count, isWhiteSpace(bytes[position]) || bytes[position] == "/" {
                isEmpty = bytes[position] == "/"
                position += 1
            }
            guard let byte = byte(at: position) else {
                isCut = true
                // `a <b and c`: no attribute has a value.
                let isText = language == .html && !isEnd && attributes.values.allSatisfy(\.isEmpty)
                return isText ? text(from: start) : nil
            }
            if byte == ">" {
                position += 1
                break
            }
            if byte == "<" {
                // A tag without its end; in HTML also `a <b or c <d`, which browsers read as an element.
                faults += 1
                if language == .html, !isEnd { return text(from: start) }
                break
            }
            isEmpty = false
            attribute(&attributes, of: name, isEnd)
        }
        range = start..<position
        if isEnd { return .end(name: name) }
        if language == .html, isEmpty { isEmpty = !hasContent(name) }
        if language == .html, !isEmpty { rawText = Tokenizer.rawTexts.contains(name) ? name : nil }
        return .start(name: name, attributes: attributes, isEmpty: isEmpty)
    }

    /// Whether an element of HTML has content although its tag ends with `/>`: its end tag follows, or a text where an
    /// empty item or cell would leave it outside.
    private func hasContent(_ name: String) -> Bool {
        let next = bytes[position...].firstIndex(of: UInt8(ascii: "<")) ?? bytes.count
        if isEndTag(at: next, of: name) { return true }
        return HTMLKind.kinds[name]?.isItem == true && !bytes[position..<next].allSatisfy(isWhiteSpace)
    }

    private func isEndTag(at start: Int, of name: String) -> Bool {
        let end = start + 2 + name.utf8.count
        return end <= bytes.count && bytes[start] == "<" && bytes[start + 1] == "/"
            && bytes[(start + 2)..<end].lowercasedASCII.elementsEqual(name.utf8)
            && byte(at: end).map { isWhiteSpace($0) || $0 == "/" || $0 == ">" } ?? true
    }

    /// Passes a name up to a byte, in lower case.
    private mutating func name(upTo isEnd: (UInt8) -> Bool) -> String {
        let start = position
        // The first byte belongs to the name, so that each call passes at least one.
        position += 1
        while position < bytes.count, !isEnd(bytes[position]) { position += 1 }
        return String(
            decoding: bytes[start..<min(position, start + Tokenizer.maximumName)].lowercasedASCII, as: UTF8.self)
    }

    private mutating func attribute(_ attributes: inout [String: String], of tag: String, _ isIgnored: Bool) {
        let name = name { isWhiteSpace($0) || $0 == "/" || $0 == ">" || $0 == "=" || $0 == "<" }
        while position < bytes.count, isWhiteSpace(bytes[position]) { position += 1 }
        var value = 0..<0
        if byte(at: position) == "=" {
            position += 1
            while position < bytes.count, isWhiteSpace(bytes[position]) { position += 1 }
            value = self.value(in: tag)
        } else {
            faults += 1
        }
        guard !isIgnored, attributes.count < Tokenizer.maximumAttributes else { return }
        if attributes[name] != nil { return faults += 1 }
        let written = bytes[value].prefix(Tokenizer.maximumValue)
        attributes[name] = decodedReferences(written, inAttribute: true, bare: &faults)
    }

    private mutating func value(in tag: String) -> Range<Int> {
        guard let first = byte(at: position) else { return position..<position }
        if first == "\"" || first == "'" {
            let start = position + 1
            position = start
            while position < bytes.count, bytes[position] != first { position += 1 }
            if let end = endOfOpenValue(start..<position, in: tag) {
                faults += 1
                position = end
                // A value may end with the other quotation mark.
                let isMark = end > start && (bytes[end - 1] == "\"" || bytes[end - 1] == "'")
                return start..<(isMark ? end - 1 : end)
            }
            isCut = isCut || position == bytes.count
            defer { position = min(position + 1, bytes.count) }
            return start..<position
        }
        faults += 1
        let start = position
        while let byte = byte(at: position), !isWhiteSpace(byte), byte != ">", byte != "<" { position += 1 }
        return start..<position
    }

    /// The first `>` after a quotation mark, if the next such mark does not end the value, which browsers would lose
    /// with the text in it: none follows; or tags do, and the mark begins another value, is directly before a text, or
    /// comes after the end tag of the element. A `>` after a `<` belongs to the value.
    private func endOfOpenValue(_ value: Range<Int>, in tag: String) -> Int? {
        guard let end = bytes[value].firstIndex(of: UInt8(ascii: ">")) else { return nil }
        guard value.upperBound < bytes.count else { return end }
        guard !bytes[value.lowerBound..<end].contains(UInt8(ascii: "<")) else { return nil }
        let tags = (end..<value.upperBound).lazy.filter { bytes[$0] == "<" }
        guard tags.contains(where: { bytes[$0 + 1] == "/" || isNameStart(bytes[$0 + 1]) }) else { return nil }
        let last = bytes[end..<value.upperBound].last { !isWhiteSpace($0) }
        let next = byte(at: value.upperBound + 1) ?? UInt8(ascii: ">")
        let isOpen = last == "=" || !isWhiteSpace(next) && next != "/" && next != ">"
        return isOpen || tags.contains { isEndTag(at: $0, of: tag) } ? end : nil
    }

    // MARK: Elements with text only

    /// The elements of HTML whose content is text.
    private static let rawTexts: Set<String> = [
        "iframe", "noembed", "noframes", "script", "style", "textarea", "title", "xmp",
    ]

    /// The position of the end tag of an element. Without one, only a script or a style has content.
    private mutating func endOfText(in name: String) -> Int {
        let isCode = !isTitle && (name == "script" || name == "style")
        if unended.contains(name) { return isCode ? bytes.count : position }
        var index = position
        while let start = find("</", from: index) {
            if isEndTag(at: start, of: name) { return start }
            index = start + 2
        }
        unended.insert(name)
        return isCode ? bytes.count : position
    }

    private func find(_ text: String, from start: Int) -> Int? {
        guard start <= bytes.count else { return nil }
        let pattern = Array(text.utf8)
        var index = start
        while index + pattern.count <= bytes.count {
            if bytes[index] == pattern[0], bytes[index..<(index + pattern.count)].elementsEqual(pattern) {
                return index
            }
            index += 1
        }
        return nil
    }
}

extension Collection<UInt8> {
    /// The bytes with ASCII letters in lower case.
    var lowercasedASCII: [UInt8] { map { "A"..."Z" ~= $0 ? $0 | 0x20 : $0 } }
}
