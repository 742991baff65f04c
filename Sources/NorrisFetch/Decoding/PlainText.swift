/// Converts HTML to plain text without structure: decodes entities, removes tags, and collapses
/// white space. Blocks begin and end with a newline, paragraphs with an empty line. Other text stays unchanged, such as
/// `x < y`, `<3`, `AT&T` and, without `isCertain`, `<unknown>`. The result is not sanitized: entities decode to any
/// character.
func plainText(fromHTML html: String, isCertain: Bool = false) -> String {
    var reader = HTMLReader(html, knowsTagsOnly: !isCertain, FlatOutput())
    reader.read()
    return reader.output.text
}

/// Whether a text contains a tag, a comment or an entity, and is therefore HTML.
func holdsMarkup(_ text: String) -> Bool {
    guard text.utf8.contains(where: { $0 == "<" || $0 == "&" }) else { return false }
    var reader = HTMLReader(text, knowsTagsOnly: true, FlatOutput())
    reader.read(upToMarkup: true)
    return reader.hasSeenMarkup
}

/// A text under construction from the parts of HTML.
protocol HTMLOutput {
    mutating func append(_ byte: UInt8)
    /// Appends the character of a reference.
    mutating func append(_ entity: String)
    /// - Parameter attributes: the part of the tag after its name.
    mutating func pass(_ tag: HTMLTag, _ attributes: ArraySlice<UInt8>)
    /// Whether the text has its maximum length, so that reading ends.
    var isFull: Bool { get }
}

/// Reads HTML once from its beginning to its end, and passes texts and tags to the output.
struct HTMLReader<Output: HTMLOutput> {
    private let bytes: [UInt8]
    private var position = 0
    var output: Output
    private(set) var hasSeenMarkup = false
    /// Strings that the rest of the text does not contain, so that a search is not repeated.
    private var absent: Set<String> = []
    /// Whether only elements of HTML count as tags.
    private let knowsTagsOnly: Bool

    init(_ html: String, knowsTagsOnly: Bool, _ output: Output) {
        bytes = Array(html.utf8)
        self.knowsTagsOnly = knowsTagsOnly
        self.output = output
    }

    mutating func read(upToMarkup: Bool = false) {
        while position < bytes.count, !(upToMarkup && hasSeenMarkup), !output.isFull {
            let byte = bytes[position]
            if byte == "<", passTag() {
                hasSeenMarkup = true
            } else if byte == "&", let (text, length) = htmlEntity(bytes[position...]) {
                hasSeenMarkup = true
                output.append(text)
                position += length
            } else {
                output.append(byte)
                position += 1
            }
        }
    }

    /// Passes the tag or comment at the position, including hidden content. Returns false if there is none.
    private mutating func passTag() -> Bool {
        if bytes[position...].starts(with: "<!--".utf8) {
            guard let end = find("-->", from: position + 4) else { return false }
            position = end
            return true
        }
        guard let tag = HTMLTag(bytes[position...], isKnown: knowsTagsOnly) else { return passLongTag() }
        let end = position + tag.length
        let attributes = bytes[(position + tag.name.utf8.count + (tag.isEnd ? 2 : 1))..<(end - 1)]
        position = end
        if !tag.isEnd, HTMLTag.hidden.contains(tag.name) {
            if let end = find("</\(tag.name)", from: position) {
                let bracket = bytes[end...].firstIndex(of: UInt8(ascii: ">"))
                position = bracket.map { $0 + 1 } ?? bytes.count
            } else if HTMLTag.code.contains(tag.name) {
                position = bytes.count
            }
        }
        output.pass(tag, attributes)
        return true
    }

    /// Passes a tag of HTML that is longer than ``HTMLTag`` reads, such as a link with an address of 1 MB, without its
    /// attributes. The rest of the text is passed if the tag has no end. Returns false if there is no such tag.
    private mutating func passLongTag() -> Bool {
        guard !knowsTagsOnly, HTMLTag.isLong(bytes[position...]) else { return false }
        position = find(">", from: position + HTMLTag.maximumLength) ?? bytes.count
        return true
    }

    /// The index after the next occurrence of a text in lower-case ASCII, ignoring case.
    private mutating func find(_ text: String, from start: Int) -> Int? {
        guard !absent.contains(text) else { return nil }
        let wanted = Array(text.utf8)
        var index = start
        while index + wanted.count <= bytes.count {
            if bytes[index..<index + wanted.count].elementsEqual(wanted, by: { $0 == $1 || $0 | 0x20 == $1 }) {
                return index + wanted.count
            }
            index += 1
        }
        absent.insert(text)
        return nil
    }
}

/// Text without structure under construction. White space is written only before further text.
private struct FlatOutput: HTMLOutput {
    private var bytes: [UInt8] = []
    private var hasSpace = false
    private var newlines = 0

    var text: String { String(decoding: bytes, as: UTF8.self) }

    var isFull: Bool { false }

    mutating func pass(_ tag: HTMLTag, _ attributes: ArraySlice<UInt8>) {
        if HTMLTag.paragraphs.contains(tag.name) {
            breakLine(2)
        } else if tag.name == "br" {
            addLine()
        } else if HTMLTag.blocks.contains(tag.name) {
            breakLine(1)
        } else if HTMLTag.cells.contains(tag.name) {
            append(UInt8(ascii: " "))
        }
    }

    mutating func append(_ byte: UInt8) {
        if isWhiteSpace(byte) || byte == 0x0C {
            hasSpace = true
        } else {
            flush()
            bytes.append(byte)
        }
    }

    mutating func append(_ text: String) {
        flush()
        bytes += text.utf8
    }

    /// Writes at least `count` newlines before the next text.
    private mutating func breakLine(_ count: Int) { newlines = max(newlines, count) }

    /// Writes one more newline before the next text, at most two in all.
    private mutating func addLine() { newlines = min(newlines + 1, 2) }

    private mutating func flush() {
        if !bytes.isEmpty {
            if newlines > 0 {
                bytes += repeatElement(UInt8(ascii: "\n"), count: newlines)
            } else if hasSpace {
                bytes.append(UInt8(ascii: " "))
            }
        }
        newlines = 0
        hasSpace = false
    }
}
