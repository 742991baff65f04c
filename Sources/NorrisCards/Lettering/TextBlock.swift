/// Lines of letters on a grid, in pixels from the upper left corner of the block: as wide as the measure, as high as
/// the ink.
struct TextBlock {
    enum Alignment { case left, center, right }

    /// Keeps the lines alive.
    private let layout: TextLayout
    let alignment: Alignment
    /// That of the letters.
    var size: Double { layout.size }
    let lines: [TextLine]
    let height: Double
    let firstBaseline: Double
    /// Where the leftmost line begins.
    let left: Double
    /// Where the rightmost line ends.
    let right: Double

    /// - Parameter measure: the width in which the lines are aligned.
    init(_ layout: TextLayout, alignment: Alignment, measure: Double) {
        self.layout = layout
        self.alignment = alignment
        var lines = layout.lines
        let step = TextBlock.step(of: lines, size: layout.size, measure: measure)
        var baseline = lines.first?.ascent ?? 0
        for index in lines.indices {
            // Half a line between paragraphs is enough.
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

    /// The distance of two baselines: that of the type scale, and more where letters or their marks are higher, as in
    /// Devanagari and Thai. Piled-up marks may meet the next line.
    private static func step(of lines: [TextLine], size: Double, measure: Double) -> Double {
        var needed = 0.0
        for (line, next) in zip(lines, lines.dropFirst()) where !line.isEmpty && !next.isEmpty {
            needed = max(needed, line.descent + next.ascent + 0.1 * size)
        }
        return max(TypeScale.lineHeight(size: size / measure) * size, min(needed, 1.9 * size))
    }

    /// Draws the lines that reach into some rows of a canvas, which holds these rows alone.
    ///
    /// - Parameter x: of the block on the card, as is `y`.
    func draw(on canvas: OpaquePointer, x: Double, y: Double, rows: Range<Int>) {
        for line in lines where y + line.top < Double(rows.upperBound) && y + line.bottom > Double(rows.lowerBound) {
            line.draw(on: canvas, x: x, y: y - Double(rows.lowerBound), hasEmoji: layout.hasEmoji)
        }
    }
}

/// Blocks one below the other, in pixels from the upper left corner of the first.
struct TextColumn {
    let blocks: [(block: TextBlock, y: Double)]

    var height: Double { blocks.last.map { $0.y + $0.block.height } ?? 0 }
    var left: Double { blocks.map(\.block.left).min() ?? 0 }
    var right: Double { blocks.map(\.block.right).max() ?? 0 }

    func draw(on canvas: OpaquePointer, x: Double, y: Double, rows: Range<Int>) {
        for (block, offset) in blocks { block.draw(on: canvas, x: x, y: y + offset, rows: rows) }
    }
}
