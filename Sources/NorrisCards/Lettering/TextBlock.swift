/// Lines of letters on a grid, in pixels from the upper left corner of the block: as wide as the measure, as high as
/// the ink.
struct TextBlock {
    enum Alignment { case left, center, right }

    /// Retained, because the lines belong to it.
    private let layout: TextLayout
    let alignment: Alignment
    /// The size of the letters.
    var size: Double { layout.size }
    let lines: [TextLine]
    let height: Double
    let firstBaseline: Double
    /// The left edge of the leftmost line.
    let left: Double
    /// The right edge of the rightmost line.
    let right: Double

    /// - Parameter measure: the width in which the lines are aligned.
    init(_ layout: TextLayout, alignment: Alignment, measure: Double) {
        self.layout = layout
        self.alignment = alignment
        var lines = layout.lines
        let step = TextBlock.step(of: lines, size: layout.size, measure: measure)
        var baseline = lines.first?.ascent ?? 0
        for index in lines.indices {
            // Paragraphs are half a line apart.
            if index > 0 { baseline += lines[index].isEmpty ? step / 2 : step }
            lines[index].baseline = baseline
            let (room, hanging) = (measure - lines[index].width, lines[index].hanging)
            switch alignment {
            case .left: lines[index].x = -hanging.left
            case .center: lines[index].x = (room - hanging.left + hanging.right) / 2
            case .right: lines[index].x = room + hanging.right
            }
        }
        self.lines = lines
        firstBaseline = lines.first?.baseline ?? 0
        height = lines.last.map(\.bottom) ?? 0
        left = lines.map(\.x).min() ?? 0
        right = lines.map { $0.x + $0.width }.max() ?? 0
    }

    /// The distance of two baselines: the distance of the type scale, or more if letters or marks are higher, as in
    /// Devanagari and Thai. Many combining marks may touch the next line.
    private static func step(of lines: [TextLine], size: Double, measure: Double) -> Double {
        var needed = 0.0
        for (line, next) in zip(lines, lines.dropFirst()) where !line.isEmpty && !next.isEmpty {
            needed = max(needed, line.descent + next.ascent + 0.1 * size)
        }
        return max(TypeScale.lineHeight(size: size / measure) * size, min(needed, 1.9 * size))
    }

    /// Draws the lines in some rows of a canvas that has only these rows.
    ///
    /// - Parameter x: the position of the block on the card, as `y`.
    func draw(on canvas: OpaquePointer, x: Double, y: Double, rows: Range<Int>) {
        for line in lines where y + line.top < Double(rows.upperBound) && y + line.bottom > Double(rows.lowerBound) {
            line.draw(on: canvas, x: x, y: y - Double(rows.lowerBound), hasEmoji: layout.hasEmoji)
        }
    }
}

/// Blocks below each other, in pixels from the upper left corner of the first.
struct TextColumn {
    let blocks: [(block: TextBlock, y: Double)]

    var height: Double { blocks.last.map { $0.y + $0.block.height } ?? 0 }
    var left: Double { blocks.map(\.block.left).min() ?? 0 }
    var right: Double { blocks.map(\.block.right).max() ?? 0 }

    func draw(on canvas: OpaquePointer, x: Double, y: Double, rows: Range<Int>) {
        for (block, offset) in blocks { block.draw(on: canvas, x: x, y: y + offset, rows: rows) }
    }
}
