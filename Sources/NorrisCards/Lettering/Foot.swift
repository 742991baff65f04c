import NorrisProtocol
import NorrisText

/// The line at the foot of a card: tags at the left edge of the text, the source at the right edge.
struct Foot {
    let tags: TextBlock?
    let source: TextBlock?

    /// - Parameters:
    ///   - signature: replaces the source.
    ///   - measure: the maximum width.
    init?(
        _ fact: Fact, signature: String? = nil, showsTags: Bool, measure: Double, size: Double, isMirrored: Bool,
        typesetter: Typesetter
    ) {
        func block(_ text: String, _ face: Face, room: Double, _ alignment: TextBlock.Alignment) -> TextBlock? {
            guard !text.isEmpty else { return nil }
            let layout = typesetter.layout(text, face: face, size: size)
            layout.cut(toWidth: room)
            return TextBlock(layout, alignment: alignment, measure: measure)
        }
        source = block(
            signature ?? Foot.name(ofSource: fact.source), .text, room: measure / 2, isMirrored ? .left : .right)
        let room = measure - (source.map { $0.right - $0.left + 2 * size } ?? 0)
        var shown: Set<String> = []
        let names = showsTags ? fact.categories.filter { Fact.isCategoryName($0) && shown.insert($0).inserted } : []
        let line = Foot.line(tags: names) { typesetter.layout($0, face: .label, size: size).width <= room }
        tags = block(line, .label, room: room, isMirrored ? .right : .left)
        if tags == nil && source == nil { return nil }
    }

    /// As many tags as fit, at least one, and the number of the others.
    private static func line(tags: [String], fits: (String) -> Bool) -> String {
        // More than a dozen never fit.
        for count in stride(from: min(tags.count, 12), to: 0, by: -1) {
            let rest = tags.count - count
            let words = tags.prefix(count).map { "#\($0)" } + (rest > 0 ? ["+\(rest)"] : [])
            let line = words.joined(separator: "\u{2002}")
            if count == 1 || fits(line) { return line }
        }
        return ""
    }

    /// Empty for a text of the user.
    private static func name(ofSource source: String) -> String {
        let fortune = "fortune:"
        switch source {
        case "builtin": return "norrisd"
        case "chucknorris": return "api.chucknorris.io"
        case "text": return ""
        default:
            let name = source.dropFirst(source.hasPrefix(fortune) ? fortune.count : 0)
            return sanitizedLine(String(name.prefix(80)))
        }
    }

    /// - Parameter baseline: the row of the baseline on the card.
    func draw(on canvas: OpaquePointer, x: Double, baseline: Double, rows: Range<Int>) {
        for case let block? in [tags, source] {
            block.draw(on: canvas, x: x, y: baseline - block.firstBaseline, rows: rows)
        }
    }
}
