import NorrisText

/// A frame of light lines, three rows high, around one line of text; where it is too narrow for a frame, the text
/// alone.
struct Box {
    /// Frame and padding take four columns; fewer than four more show nothing of a text.
    static let minimumWidth = 8

    /// The columns that a note leaves to a text that does not fit beside it; with fewer the text says more alone.
    private static let minimumText = 16

    /// Of all rows, in columns; at least 1.
    let width: Int
    let text: String
    /// On the right, if there is room for it; empty for none.
    var note = ""
    var link: String?

    /// With a frame, lines of as many columns as the box is wide.
    var rows: [[Span]] {
        guard width >= Self.minimumWidth else {
            return [[Span(truncated(text, toColumns: width), link: link)]]
        }
        let bar = String(repeating: "─", count: width - 2)
        let middle = [Span("│ ", .dim)] + content(columns: width - 4) + [Span(" │", .dim)]
        return [[Span("┌\(bar)┐", .dim)], middle, [Span("└\(bar)┘", .dim)]]
    }

    private func content(columns: Int) -> [Span] {
        let note = Span(note, .dim, link: link)
        let room = columns - note.width - 2
        let isNoted = note.width > 0 && room >= min(displayWidth(of: text), Self.minimumText)
        let text = Span(truncated(text, toColumns: isNoted ? room : columns), link: link)
        return isNoted ? filled(text, room + 2) + [note] : filled(text, columns)
    }

    private func filled(_ span: Span, _ columns: Int) -> [Span] {
        let missing = columns - span.width
        return missing > 0 ? [span, Span(String(repeating: " ", count: missing))] : [span]
    }
}

extension Box {
    /// Boxes beside each other, a column apart.
    static func row(_ boxes: [Box]) -> [[Span]] {
        var rows: [[Span]] = []
        for box in boxes {
            let next = box.rows
            rows = rows.isEmpty ? next : zip(rows, next).map { $0 + [Span(" ")] + $1 }
        }
        return rows
    }
}
