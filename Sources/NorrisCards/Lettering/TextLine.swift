import CPango

/// A line of a layout, in pixels from the left end of its baseline.
struct TextLine {
    private let line: UnsafeMutablePointer<PangoLayoutLine>

    /// How far the letters reach with the room around them.
    let width: Double
    /// How far ink reaches above the baseline.
    let ascent: Double
    /// How far ink reaches below the baseline.
    let descent: Double

    init(_ line: UnsafeMutablePointer<PangoLayoutLine>) {
        self.line = line
        TextLine.alignBaselines(of: line)
        var ink = PangoRectangle()
        var logical = PangoRectangle()
        pango_layout_line_get_extents(line, &ink, &logical)
        let scale = Double(PANGO_SCALE)
        width = Double(logical.width) / scale
        ascent = Double(-ink.y) / scale
        descent = Double(ink.y + ink.height) / scale
    }

    /// Puts all letters on one baseline. Pango shifts those of other scripts than the first by what their fonts say of
    /// their baselines, and the fonts of different foundries do not agree.
    private static func alignBaselines(of line: UnsafeMutablePointer<PangoLayoutLine>) {
        var next = line.pointee.runs
        while let entry = next {
            // A line is a list of runs (PangoLayoutLine), each of which is one.
            entry.pointee.data!.assumingMemoryBound(to: PangoLayoutRun.self).pointee.y_offset = 0
            next = entry.pointee.next
        }
    }

    var isEmpty: Bool { line.pointee.length == 0 }

    /// - Parameter hasEmoji: whether a picture is among the letters.
    func draw(on canvas: OpaquePointer, x: Double, baseline: Double, hasEmoji: Bool) {
        cairo_move_to(canvas, x, baseline)
        if hasEmoji {
            pango_cairo_show_layout_line(canvas, line)
        } else {
            // Cairo puts glyphs on whole pixels, and small letters would stand unevenly; outlines stand where they are.
            pango_cairo_layout_line_path(canvas, line)
            cairo_fill(canvas)
        }
    }
}
