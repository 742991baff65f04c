/// Splits a document, well-formed or not, into tags, comments and texts, in linear time.
struct XMLTokens: Sequence, IteratorProtocol {
    enum Kind {
        /// Text, or a `<` that begins nothing.
        case text
        case startTag
        /// `<x/>`
        case emptyTag
        case endTag
        case comment
        /// `<![CDATA[…]]>`
        case section
        case instruction
        /// `<!…>`
        case declaration
        /// An unfinished token at the end of the document.
        case cut
    }

    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    mutating func next() -> (kind: Kind, range: Range<Int>)? {
        guard position < bytes.count else { return nil }
        let start = position
        let kind: Kind
        (kind, position) = bytes[start] == "<" ? markup(start) : (.text, textEnd(start))
        return (kind, start..<position)
    }

    private func textEnd(_ start: Int) -> Int {
        var index = start
        while index < bytes.count, bytes[index] != "<" { index += 1 }
        return index
    }

    private func markup(_ start: Int) -> (Kind, Int) {
        guard start + 1 < bytes.count else { return (.cut, bytes.count) }
        switch bytes[start + 1] {
        case "!":
            let head = bytes[start...].prefix(9)
            if head.starts(with: "<!--".utf8) { return ends("-->", start + 4, .comment) }
            if head.elementsEqual("<![CDATA[".utf8) { return ends("]]>", start + 9, .section) }
            // The beginning of an unfinished comment or section.
            if head.count < 9, "<![CDATA[".utf8.starts(with: head) || "<!--".utf8.starts(with: head) {
                return (.cut, bytes.count)
            }
            return tag(start, .declaration)
        case "?": return ends("?>", start + 2, .instruction)
        case "/": return tag(start, .endTag)
        case let byte where isLetter(byte) || byte == "_" || byte == ":" || byte >= 0x80: return tag(start, .startTag)
        default: return (.text, start + 1)
        }
    }

    /// Ends at the first `>` outside quotes. A `<` before that `>` means that no tag begins here.
    private func tag(_ start: Int, _ kind: Kind) -> (Kind, Int) {
        var quote: UInt8 = 0
        var index = start + 1
        while index < bytes.count {
            let byte = bytes[index]
            if quote != 0 {
                if byte == quote { quote = 0 }
            } else if byte == ">" {
                let isEmpty = kind == .startTag && bytes[index - 1] == "/"
                return (isEmpty ? .emptyTag : kind, index + 1)
            } else if byte == "<" {
                return (.text, start + 1)
            } else if byte == "\"" || byte == "'" {
                quote = byte
            }
            index += 1
        }
        return (.cut, bytes.count)
    }

    private func ends(_ mark: String, _ start: Int, _ kind: Kind) -> (Kind, Int) {
        let mark = Array(mark.utf8)
        var index = start
        while index + mark.count <= bytes.count {
            if bytes[index] == mark[0], bytes[index..<index + mark.count].elementsEqual(mark) {
                return (kind, index + mark.count)
            }
            index += 1
        }
        return (.cut, bytes.count)
    }
}
