/// Cuts a document into tags, comments and what stands between them, well-formed or not: in one pass, in linear time.
struct XMLTokens: Sequence, IteratorProtocol {
    enum Kind {
        /// Also a `<` that begins nothing.
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
        /// What begins as one of the others, and never ends.
        case cut
    }

    typealias Token = (kind: Kind, range: Range<Int>)

    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    mutating func next() -> Token? {
        guard position < bytes.count else { return nil }
        let start = position
        let (kind, end) = bytes[start] == UInt8(ascii: "<") ? markup(start) : (.text, textEnd(start))
        position = end
        return (kind, start..<end)
    }

    /// The next `<`, or the end.
    private func textEnd(_ start: Int) -> Int {
        var index = start
        while index < bytes.count, bytes[index] != UInt8(ascii: "<") { index += 1 }
        return index
    }

    private func markup(_ start: Int) -> (Kind, Int) {
        guard start + 1 < bytes.count else { return (.cut, bytes.count) }
        switch bytes[start + 1] {
        case UInt8(ascii: "!"):
            if begins("<!--", start) { return ends("-->", start + 4, .comment) }
            if begins("<![CDATA[", start) { return ends("]]>", start + 9, .section) }
            // One of which only a part is there.
            let rest = bytes[start...].prefix(9)
            if rest.count < 9, "<![CDATA[".utf8.starts(with: rest) || "<!--".utf8.starts(with: rest) {
                return (.cut, bytes.count)
            }
            return tag(start, .declaration)
        case UInt8(ascii: "?"): return ends("?>", start + 2, .instruction)
        case UInt8(ascii: "/"): return tag(start, .endTag)
        case let byte where Self.beginsName(byte): return tag(start, .startTag)
        default: return (.text, start + 1)
        }
    }

    /// Up to the bracket that stands in no quotes; a `<` before it shows that this is no tag.
    private func tag(_ start: Int, _ kind: Kind) -> (Kind, Int) {
        var quote: UInt8 = 0
        var index = start + 1
        while index < bytes.count {
            let byte = bytes[index]
            if quote != 0 {
                if byte == quote { quote = 0 }
            } else if byte == UInt8(ascii: ">") {
                let isEmpty = kind == .startTag && bytes[index - 1] == UInt8(ascii: "/")
                return (isEmpty ? .emptyTag : kind, index + 1)
            } else if byte == UInt8(ascii: "<") {
                return (.text, start + 1)
            } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                quote = byte
            }
            index += 1
        }
        return (.cut, bytes.count)
    }

    private func ends(_ mark: StaticString, _ start: Int, _ kind: Kind) -> (Kind, Int) {
        let mark = UnsafeBufferPointer(start: mark.utf8Start, count: mark.utf8CodeUnitCount)
        var index = start
        while index + mark.count <= bytes.count {
            if bytes[index] == mark[0], bytes[index..<index + mark.count].elementsEqual(mark) {
                return (kind, index + mark.count)
            }
            index += 1
        }
        return (.cut, bytes.count)
    }

    private func begins(_ mark: StaticString, _ start: Int) -> Bool {
        // The mark is in the program and lives as long.
        bytes[start...].starts(with: UnsafeBufferPointer(start: mark.utf8Start, count: mark.utf8CodeUnitCount))
    }

    private static func beginsName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"),
            UInt8(ascii: ":"), 0x80...:
            true
        default:
            false
        }
    }
}
