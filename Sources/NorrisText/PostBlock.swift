/// A block of a post.
package enum PostBlock: Equatable, Sendable {
    case paragraph([PostSpan])
    /// The level is 1 to 6.
    case heading(level: Int, [PostSpan])
    /// The language consists of ASCII letters, digits and `+#._-`, and can be empty.
    case code(String, language: String)
    case quotation([PostBlock])
    /// The number of the first item, at most 999,999,999; nil in a list without numbers.
    case list(start: Int?, items: [[PostBlock]])
    /// All rows have the same number of cells. The first row is the header; without one, its cells are empty.
    case table([[[PostSpan]]])
    case rule

    /// Whether items of a list have no empty lines in and between them, because all are single paragraphs, and lists
    /// that can follow a paragraph without an empty line.
    package static func isTight(_ items: [[PostBlock]]) -> Bool {
        items.allSatisfy { item in
            item.enumerated().allSatisfy { index, block in
                switch block {
                case .paragraph: index == 0
                case .list(let start, let items): start ?? 1 == 1 && isTight(items)
                default: false
                }
            }
        }
    }

    /// The text in lines, without marks and pictures.
    package var lines: [Substring] {
        switch self {
        case .paragraph(let spans), .heading(_, let spans): Self.lines(of: Self.text(of: spans))
        case .code(let text, _): Self.lines(of: text)
        case .quotation(let blocks): blocks.flatMap(\.lines)
        case .list(_, let items): items.joined().flatMap(\.lines)
        case .table(let rows): rows.map { $0.map(Self.text).joined(separator: " | ")[...] }
        case .rule: []
        }
    }

    private static func lines(of text: String) -> [Substring] {
        text.utf8.split(separator: UInt8(ascii: "\n")).map(Substring.init)
    }

    private static func text(of spans: [PostSpan]) -> String {
        spans.reduce(into: "") { if $1.picture == nil { $0 += $1.text } }
    }

    /// The beginning of a text for an excerpt: the first paragraph, and the next one if the first one is short. Of a
    /// list, the first item without its marker. Empty for a text without a paragraph.
    package static func beginning(of blocks: [PostBlock]) -> [PostBlock] {
        for (index, block) in blocks.enumerated() {
            switch block {
            case .paragraph(let spans) where spans.contains(where: { $0.picture == nil }):
                let isShort = text(of: spans).unicodeScalars.count < 40
                if isShort, index + 1 < blocks.count, case .paragraph = blocks[index + 1] {
                    return Array(blocks[index...(index + 1)])
                }
                return [block]
            case .quotation(let inner):
                let start = beginning(of: inner)
                if !start.isEmpty { return [.quotation(start)] }
            case .list(_, let items):
                let start = beginning(of: items.first ?? [])
                if !start.isEmpty { return start }
            case .paragraph, .heading, .code, .table, .rule: continue
            }
        }
        return []
    }

    /// The spans in the block and in those in it.
    package var spans: [PostSpan] {
        switch self {
        case .paragraph(let spans), .heading(_, let spans): spans
        case .quotation(let blocks): blocks.flatMap(\.spans)
        case .list(_, let items): items.joined().flatMap(\.spans)
        case .table(let rows): Array(rows.joined().joined())
        case .code, .rule: []
        }
    }
}

/// A part of a block in one style. Its text is sanitized.
package struct PostSpan: Equatable, Sendable {
    package struct Marks: OptionSet, Sendable {
        package let rawValue: UInt8
        package init(rawValue: UInt8) { self.rawValue = rawValue }
        package static let strong = Marks(rawValue: 1), emphasis = Marks(rawValue: 2)
        package static let deleted = Marks(rawValue: 4), code = Marks(rawValue: 8)
    }

    /// A newline is a line break.
    package var text: String
    package var marks: Marks
    /// The http or https address to which the text leads.
    package var link: String?
    /// The http or https address of a picture, whose description is the text.
    package var picture: String?

    package init(_ text: String = "", marks: Marks = [], link: String? = nil, picture: String? = nil) {
        (self.text, self.marks, self.link, self.picture) = (text, marks, link, picture)
    }
}

/// The beginning of a longer text, which ends in `…` without another mark before it.
package func ellipsized(_ text: some StringProtocol) -> String {
    text.prefix(through: text.lastIndex { !" .:,;…".contains($0) } ?? text.startIndex) + "…"
}

/// The title of a post in one line, unless it is empty or the text begins with it, because many feeds use the first
/// words as a title.
package func visibleTitle(_ title: String, above text: String?) -> String? {
    let title = sanitizedLine(title)
    // Only the beginning of a long text is compared.
    let beginning = text.map { String($0.unicodeScalars.prefix(2 * title.unicodeScalars.count + 100)) }
    guard !title.isEmpty, let words = beginning.map(sanitizedLine), !words.isEmpty else {
        return title.isEmpty ? nil : title
    }
    let isCut = title.hasSuffix("…")
    let start = isCut ? title.dropLast() : title[...]
    guard words.utf8.starts(with: start.utf8) else { return title }
    let next = words.unicodeScalars[words.utf8.index(words.startIndex, offsetBy: start.utf8.count)...].first
    // For example, the title Go stays above a text that begins with Google.
    let endsInWord = next.map { $0.properties.isAlphabetic || $0.properties.numericType != nil } ?? false
    return endsInWord && !isCut ? title : nil
}
