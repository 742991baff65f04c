/// HTML as plain text: entities decoded, tags taken out, a new line where a block begins or ends, an empty one between
/// paragraphs, all other white space as one space.
///
/// Only what is HTML is touched: `x < y`, `<3`, `AT&T` and `<unknown>` stay. What an entity gives is text, and may be
/// anything: the result is not sanitised.
///
/// Where the budget runs out it ends, as an unfinished text; so do the others.
func plainText(fromHTML html: String, _ budget: DecodingBudget) -> String {
    var reader = HTMLReader(html, budget)
    return reader.text()
}

/// The same for what is HTML for sure, and no text in which somebody may have written `<unknown>`: all tags go.
func plainText(fromCertainHTML html: String, _ budget: DecodingBudget) -> String {
    var reader = HTMLReader(html, knowsTagsOnly: false, budget)
    return reader.text()
}

/// Whether a text holds a tag, a comment or an entity, so that it was meant as HTML.
func holdsMarkup(_ text: String, _ budget: DecodingBudget) -> Bool {
    guard text.utf8.contains(where: { $0 == UInt8(ascii: "<") || $0 == UInt8(ascii: "&") }) else { return false }
    var reader = HTMLReader(text, budget)
    _ = reader.text(upToMarkup: true)
    return reader.hasSeenMarkup
}

/// One pass over the bytes of a text.
private struct HTMLReader {
    private let bytes: [UInt8]
    private var position = 0
    private var output = HTMLOutput()
    private(set) var hasSeenMarkup = false
    /// What was looked for behind some position and is not there, so that it is not looked for again and again.
    private var absent: Set<String> = []
    /// Whether only what HTML knows is a tag.
    private let knowsTagsOnly: Bool
    private let budget: DecodingBudget
    /// Where the budget is asked again.
    private var nextLook = 0

    init(_ html: String, knowsTagsOnly: Bool = true, _ budget: DecodingBudget) {
        bytes = Array(html.utf8)
        self.knowsTagsOnly = knowsTagsOnly
        self.budget = budget
    }

    mutating func text(upToMarkup: Bool = false) -> String {
        while position < bytes.count, !(upToMarkup && hasSeenMarkup) {
            if position >= nextLook {
                nextLook = position + Self.step
                guard budget.spend(bytes: Swift.min(Self.step, bytes.count - position)) else { break }
            }
            switch bytes[position] {
            case UInt8(ascii: "<") where passTag():
                hasSeenMarkup = true
                guard budget.spend(elements: 1) else { return output.text }
            case UInt8(ascii: "&"):
                if let (text, length) = htmlEntity(bytes[position...]) {
                    hasSeenMarkup = true
                    output.append(text)
                    position += length
                } else {
                    output.append(bytes[position])
                    position += 1
                }
            case let byte:
                output.append(byte)
                position += 1
            }
        }
        return output.text
    }

    /// In bytes.
    private static let step = 4096

    /// Steps over the tag or comment at the position, with all that it hides; false if there is none.
    private mutating func passTag() -> Bool {
        if bytes[position...].starts(with: "<!--".utf8) {
            guard let end = find("-->", from: position + 4) else { return false }
            position = end
            return true
        }
        guard let tag = HTMLTag(bytes[position...], isKnown: knowsTagsOnly) else { return false }
        position += tag.length
        if !tag.isEnd, HTMLTag.hidden.contains(tag.name) {
            if let end = find("</\(tag.name)", from: position) {
                position = end
                // Up to the bracket of the end tag.
                while position < bytes.count, bytes[position] != UInt8(ascii: ">") { position += 1 }
                position = min(position + 1, bytes.count)
            } else if HTMLTag.code.contains(tag.name) {
                position = bytes.count
            }
        }
        if HTMLTag.paragraphs.contains(tag.name) {
            output.breakLine(2)
        } else if tag.name == "br" {
            output.addLine()
        } else if HTMLTag.blocks.contains(tag.name) {
            output.breakLine(1)
        } else if HTMLTag.cells.contains(tag.name) {
            output.append(UInt8(ascii: " "))
        }
        return true
    }

    /// The index behind the next occurrence of small ASCII letters and signs, whatever the case in the text.
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

/// Text under construction: white space is put off until something follows it.
private struct HTMLOutput {
    private var bytes: [UInt8] = []
    private var hasSpace = false
    private var newlines = 0

    var text: String { String(decoding: bytes, as: UTF8.self) }

    mutating func append(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\t"), 0x0C:
            hasSpace = true
        default:
            flush()
            bytes.append(byte)
        }
    }

    /// Text as it is, with its own white space.
    mutating func append(_ text: String) {
        flush()
        bytes += text.utf8
    }

    /// So many line ends before what follows, not counting those that are there.
    mutating func breakLine(_ count: Int) {
        newlines = max(newlines, count)
    }

    /// One more line end.
    mutating func addLine() {
        newlines = min(newlines + 1, 2)
    }

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
