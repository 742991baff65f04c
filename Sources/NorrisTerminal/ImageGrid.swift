import NorrisText

/// The rows of a grid of images: one image over the whole width, two side by side; of more, the first over the whole
/// width and the others in rows below.
///
/// A cell has at least 18 columns if the grid has, so on narrow terminals the cells are below each other.
func imageGrid(count: Int, width: Int) -> [[(index: Int, width: Int)]] {
    let (minimumWidth, gap) = (18, 1)
    let lead = count == 2 ? 0 : 1
    let fitting = max(1, (width + gap) / (minimumWidth + gap))
    let rest = Array((0..<count).dropFirst(lead))
    let rows =
        [Array((0..<count).prefix(lead))]
        + stride(from: 0, to: rest.count, by: fitting).map { Array(rest[$0...].prefix(fitting)) }
    return rows.filter { !$0.isEmpty }.map { cells in
        // The first cells have one column more if the width cannot be divided evenly.
        let columns = width - gap * (cells.count - 1)
        return cells.enumerated().map { index, image in
            (image, columns / cells.count + (index < columns % cells.count ? 1 : 0))
        }
    }
}

/// A frame of light lines around lines of text; only the text if there is no space for a frame.
struct Box {
    /// Frame and padding take four columns, and a text needs at least four.
    static let minimumWidth = 8
    /// The width of all rows in columns; at least 1.
    let width: Int
    let lines: [String]
    /// A note on the right of the first line, shown if it fits; empty for none.
    let note: String
    let link: String?

    /// The columns for text in a box of a width.
    static func columns(in width: Int) -> Int { width < minimumWidth ? width : width - 4 }

    /// The rows of a box of at least `height` lines. With a frame, every row has the width of the box.
    func rows(height: Int) -> [[Span]] {
        let columns = Self.columns(in: width)
        guard width >= Self.minimumWidth else {
            return lines.map { [Span(truncated($0, toColumns: columns), link: link)] }
        }
        let bar = String(repeating: "─", count: width - 2)
        let filled = lines + Array(repeating: "", count: max(height - lines.count, 0))
        let middle = filled.enumerated().map { index, text in
            [Span("│ ", .dim)] + content(text, note: index == 0 ? note : "", columns: columns) + [Span(" │", .dim)]
        }
        return [[Span("┌\(bar)┐", .dim)]] + middle + [[Span("└\(bar)┘", .dim)]]
    }

    private func content(_ text: String, note: String, columns: Int) -> [Span] {
        let note = Span(note, .dim, link: link)
        let beside = columns - note.width - 2
        let isNoted = note.width > 0 && beside >= displayWidth(of: text)
        let text = Span(truncated(text, toColumns: isNoted ? beside : columns), link: link)
        let missing = (isNoted ? beside + 2 : columns) - text.width
        return [text] + (missing > 0 ? [.spaces(missing)] : []) + (isNoted ? [note] : [])
    }
}
