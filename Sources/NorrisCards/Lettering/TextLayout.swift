import CPango
import NorrisText

/// A text laid out in lines by Pango, in pixels.
final class TextLayout {
    private let layout: OpaquePointer
    private let face: Face
    /// Whether an emoji may be among the letters.
    let hasEmoji: Bool
    /// The size of the letters (em square).
    private(set) var size: Double

    /// - Parameter layout: owned by this object.
    init(_ layout: OpaquePointer, text: String, face: Face, size: Double) {
        self.layout = layout
        self.face = face
        hasEmoji = text.unicodeScalars.contains { $0.properties.isEmoji && !$0.isASCII || $0 == "\u{FE0F}" }
        self.size = size
        // A text has at most some ten thousand characters.
        pango_layout_set_text(layout, text, Int32(text.utf8.count))
        setSize(size)
    }

    deinit { g_object_unref(UnsafeMutableRawPointer(layout)) }

    func setSize(_ size: Double) {
        self.size = size
        let description = pango_font_description_new()
        defer { pango_font_description_free(description) }
        pango_font_description_set_family(description, face.families)
        pango_font_description_set_weight(description, face.weight)
        pango_font_description_set_absolute_size(description, size * Double(PANGO_SCALE))
        pango_layout_set_font_description(layout, description)
        guard face.spacing > 0 else { return }
        let attributes = pango_attr_list_new()
        defer { pango_attr_list_unref(attributes) }
        let spacing = Int32(face.spacing * size * Double(PANGO_SCALE))
        pango_attr_list_insert(attributes, pango_attr_letter_spacing_new(spacing))
        pango_layout_set_attributes(layout, attributes)
    }

    /// Makes letters smaller, if the widest line then fits into the measure.
    func shrink(to measure: Double, smallest: Double) {
        let smaller = size * measure / width
        // Widths are proportional to the size, except for rounding.
        if smaller < size && smaller >= smallest { setSize(0.999 * smaller) }
    }

    /// Breaks the text into lines, and on request also words that are wider than a line.
    func setWidth(_ width: Double, insideWords: Bool = false) {
        pango_layout_set_wrap(layout, insideWords ? PANGO_WRAP_WORD_CHAR : PANGO_WRAP_WORD)
        pango_layout_set_width(layout, Int32(width * Double(PANGO_SCALE)))
    }

    /// Truncates wider lines with an ellipsis.
    func cut(toWidth width: Double) {
        pango_layout_set_ellipsize(layout, PANGO_ELLIPSIZE_END)
        pango_layout_set_width(layout, Int32(width * Double(PANGO_SCALE)))
    }

    var lineCount: Int { Int(pango_layout_get_line_count(layout)) }

    /// The lines, valid until the layout changes.
    var lines: [TextLine] {
        // The index is below the number of lines.
        (0..<pango_layout_get_line_count(layout)).map { TextLine(pango_layout_get_line(layout, $0)!) }
    }

    /// The width of the widest line.
    var width: Double { lines.reduce(0) { max($0, $1.width) } }
}

/// A line of a layout, in pixels.
struct TextLine {
    private let line: UnsafeMutablePointer<PangoLayoutLine>
    /// The left end of the baseline in its ``TextBlock``.
    var x = 0.0
    var baseline = 0.0
    /// The width of the letters with the space around them.
    let width: Double
    /// The height of the ink above the baseline.
    let ascent: Double
    /// The depth of the ink below the baseline.
    let descent: Double
    /// The widths of quotes at the start, and of quotes and ideographic punctuation at the end, which hang beyond the
    /// edge of the other letters.
    let hanging: (left: Double, right: Double)

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
        let (left, right) = TextLine.hangingBytes(of: line)
        func x(_ index: Int32) -> Double {
            var x: Int32 = 0
            pango_layout_line_index_to_x(line, line.pointee.start_index + index, 0, &x)
            return Double(x) / scale
        }
        let end = right > 0 ? max(width - x(line.pointee.length - right), 0) : 0
        hanging = (left > 0 ? x(left) : 0, end)
    }

    /// The number of hanging bytes at the start and at the end of a line; zero for a line with only such characters.
    private static func hangingBytes(of line: UnsafeMutablePointer<PangoLayoutLine>) -> (Int32, Int32) {
        let bytes = pango_layout_get_text(line.pointee.layout) + Int(line.pointee.start_index)
        let length = Int(line.pointee.length)
        let text = bytes.withMemoryRebound(to: UInt8.self, capacity: length) {
            String(decoding: UnsafeBufferPointer(start: $0, count: length), as: UTF8.self)
        }
        let start = text.prefix { "“‘「『（".contains($0) }
        // Includes the space at the line break.
        guard let last = text.lastIndex(where: { !"”’」』）。、，． ".contains($0) }), start.endIndex <= last,
            !containsRightToLeft(text)
        else { return (0, 0) }
        let end = text[last...].dropFirst()
        return (Int32(start.utf8.count), Int32(end.utf8.count))
    }

    /// Moves all letters to one baseline. Pango shifts other scripts than the first by the baselines in their fonts,
    /// and the fonts of different foundries do not agree.
    private static func alignBaselines(of line: UnsafeMutablePointer<PangoLayoutLine>) {
        var next = line.pointee.runs
        while let entry = next {
            // Not nil: a line is a list of runs (PangoLayoutLine).
            entry.pointee.data!.assumingMemoryBound(to: PangoLayoutRun.self).pointee.y_offset = 0
            next = entry.pointee.next
        }
    }

    var isEmpty: Bool { line.pointee.length == 0 }
    var top: Double { baseline - ascent }
    var bottom: Double { baseline + descent }

    /// - Parameter x: the position of the block on the canvas, as `y`.
    func draw(on canvas: OpaquePointer, x: Double, y: Double, hasEmoji: Bool) {
        cairo_move_to(canvas, x + self.x, y + baseline)
        if hasEmoji {
            pango_cairo_show_layout_line(canvas, line)
        } else {
            // Cairo moves glyphs to whole pixels, which makes small letters uneven, but does not move outlines.
            pango_cairo_layout_line_path(canvas, line)
            cairo_fill(canvas)
        }
    }
}
