import CPango
import NorrisText

/// A text laid out in lines by Pango, in pixels.
final class TextLayout {
    private let layout: OpaquePointer
    private let text: [Unicode.Scalar]
    /// The parts of the text in a monospaced face, as indexes of scalars.
    private let code: [Range<Int>]
    private let face: Face
    /// Whether an emoji may be among the letters.
    let hasEmoji: Bool
    /// The size of the letters (em square).
    private(set) var size: Double
    private var breaks: [LineBreak] = []

    /// - Parameter layout: owned by this object.
    init(_ layout: OpaquePointer, text: String, code: [Range<Int>] = [], face: Face, size: Double) {
        self.layout = layout
        self.text = Array(text.unicodeScalars)
        self.code = code
        self.face = face
        hasEmoji = text.unicodeScalars.contains { $0.properties.isEmoji && !$0.isASCII || $0 == "\u{FE0F}" }
        self.size = size
        update()
    }

    deinit { g_object_unref(UnsafeMutableRawPointer(layout)) }

    func set(size: Double, breaks: [LineBreak]? = nil) {
        self.size = size
        if let breaks { self.breaks = breaks }
        update()
    }

    private func update() {
        let description = pango_font_description_new()
        defer { pango_font_description_free(description) }
        pango_font_description_set_family(description, face.families)
        pango_font_description_set_weight(description, face.weight)
        pango_font_description_set_absolute_size(description, size * Double(PANGO_SCALE))
        pango_layout_set_font_description(layout, description)
        let (bytes, codeBytes) = brokenText()
        let attributes = pango_attr_list_new()
        defer { pango_attr_list_unref(attributes) }
        if face.spacing > 0 {
            let spacing = Int32(face.spacing * size * Double(PANGO_SCALE))
            pango_attr_list_insert(attributes, pango_attr_letter_spacing_new(spacing))
        }
        for range in codeBytes {
            // Not nil, because GLib ends the process without memory.
            for attribute in [pango_attr_family_new(Face.codeFamilies)!, pango_attr_scale_new(Face.codeScale)!] {
                attribute.pointee.start_index = UInt32(range.lowerBound)
                attribute.pointee.end_index = UInt32(range.upperBound)
                pango_attr_list_insert(attributes, attribute)
            }
        }
        // A text has at most some ten thousand characters.
        pango_layout_set_text(layout, bytes, Int32(bytes.utf8.count))
        pango_layout_set_attributes(layout, attributes)
    }

    /// The text with a line separator at each break, and the bytes in a monospaced face.
    private func brokenText() -> (text: String, code: [Range<Int>]) {
        var result = String.UnicodeScalarView()
        var offsets: [Int] = []
        offsets.reserveCapacity(text.count + 1)
        var bytes = 0
        func add(_ scalar: Unicode.Scalar) {
            result.append(scalar)
            bytes += UTF8.width(scalar)
        }
        func addText(_ range: Range<Int>) {
            for index in range {
                offsets.append(bytes)
                add(text[index])
            }
        }
        var start = 0
        for next in breaks {
            addText(start..<next.end)
            if next.addsHyphen { add("-") }
            // Unlike a new paragraph, it does not change the direction of writing.
            add("\u{2028}")
            // The spaces at the break are left out.
            offsets += repeatElement(bytes, count: next.next - next.end)
            start = next.next
        }
        addText(start..<text.count)
        offsets.append(bytes)
        return (String(result), code.map { offsets[$0.lowerBound]..<offsets[$0.upperBound] })
    }

    /// The characters with their widths in em, laid out without breaks.
    ///
    /// - Parameter ties: indexes before which no line may begin.
    func characters(ties: Set<Int>) -> [LineBreaker.Character] {
        var result = text.map { LineBreaker.Character(scalar: $0, width: 0) }
        for range in code { for index in range { result[index].isCode = true } }
        var count: Int32 = 0
        let attributes = pango_layout_get_log_attrs_readonly(layout, &count)
        for index in result.indices.prefix(Int(count)) {
            // Not nil, because there are characters.
            let attribute = attributes![index]
            result[index].mayBegin = attribute.is_line_break != 0 && !ties.contains(index)
            result[index].beginsGrapheme = attribute.is_cursor_position != 0
        }
        let unit = size * Double(PANGO_SCALE)
        let string = pango_layout_get_text(layout)
        var indexes: [Int32: Int] = [:]
        var byte: Int32 = 0
        for (index, scalar) in text.enumerated() {
            indexes[byte] = index
            byte += Int32(UTF8.width(scalar))
        }
        for line in lines {
            for run in line.runs {
                // Not nil: a run has an item and glyphs (PangoGlyphItem).
                let item = run.pointee.item!.pointee
                guard let first = indexes[item.offset] else { continue }
                let widths = withUnsafeTemporaryAllocation(of: Int32.self, capacity: Int(item.num_chars)) { widths in
                    pango_glyph_item_get_logical_widths(run, string, widths.baseAddress)
                    return Array(widths)
                }
                for (index, width) in widths.enumerated() where first + index < result.count {
                    result[first + index].width = Double(width) / unit
                }
            }
        }
        return result
    }

    /// Makes letters smaller, if the widest line then fits into the measure.
    func shrink(to measure: Double, smallest: Double) {
        let smaller = size * measure / width
        // Widths are proportional to the size, except for rounding.
        if smaller < size && smaller >= smallest { set(size: 0.999 * smaller) }
    }

    /// Truncates a wider line with an ellipsis.
    func cut(toWidth width: Double) {
        pango_layout_set_ellipsize(layout, PANGO_ELLIPSIZE_END)
        pango_layout_set_width(layout, Int32(width * Double(PANGO_SCALE)))
    }

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
    /// The characters, with the separator at the line break.
    let text: String
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
        let bytes = pango_layout_get_text(line.pointee.layout) + Int(line.pointee.start_index)
        let length = Int(line.pointee.length)
        text = bytes.withMemoryRebound(to: UInt8.self, capacity: length) {
            String(decoding: UnsafeBufferPointer(start: $0, count: length), as: UTF8.self)
        }
        // Pango shifts other scripts than the first by the baselines in their fonts, and the fonts of different
        // foundries do not agree.
        for run in TextLine.runs(of: line) { run.pointee.y_offset = 0 }
        var ink = PangoRectangle()
        var logical = PangoRectangle()
        pango_layout_line_get_extents(line, &ink, &logical)
        let scale = Double(PANGO_SCALE)
        width = Double(logical.width) / scale
        ascent = Double(-ink.y) / scale
        descent = Double(ink.y + ink.height) / scale
        let (left, right) = TextLine.hangingBytes(of: text)
        func x(_ index: Int32) -> Double {
            var x: Int32 = 0
            pango_layout_line_index_to_x(line, line.pointee.start_index + index, 0, &x)
            return Double(x) / scale
        }
        let end = right > 0 ? max(width - x(line.pointee.length - right), 0) : 0
        hanging = (left > 0 ? x(left) : 0, end)
    }

    /// The number of hanging bytes at the start and at the end of a line; zero for a line with only such characters.
    private static func hangingBytes(of text: String) -> (Int32, Int32) {
        let start = text.prefix { "“‘「『（".contains($0) }
        // Includes the separator at the line break.
        guard let last = text.lastIndex(where: { !"”’」』）。、，．\u{2028}".contains($0) }), start.endIndex <= last,
            !containsRightToLeft(text)
        else { return (0, 0) }
        let end = text[last...].dropFirst()
        return (Int32(start.utf8.count), Int32(end.utf8.count))
    }

    /// The parts of the line with one font and one direction.
    var runs: [UnsafeMutablePointer<PangoLayoutRun>] { TextLine.runs(of: line) }

    private static func runs(
        of line: UnsafeMutablePointer<PangoLayoutLine>
    ) -> [UnsafeMutablePointer<PangoLayoutRun>] {
        var result: [UnsafeMutablePointer<PangoLayoutRun>] = []
        var next = line.pointee.runs
        while let entry = next {
            // Not nil: a line is a list of runs (PangoLayoutLine).
            result.append(entry.pointee.data!.assumingMemoryBound(to: PangoLayoutRun.self))
            next = entry.pointee.next
        }
        return result
    }

    /// The characters that no font has.
    var unknown: [Unicode.Scalar] {
        runs.flatMap { run -> [Unicode.Scalar] in
            // Not nil: a run has glyphs (PangoGlyphItem).
            let glyphs = run.pointee.glyphs!.pointee
            return (0..<Int(glyphs.num_glyphs)).compactMap { index in
                // PANGO_GLYPH_UNKNOWN_FLAG, in place of a glyph with the character.
                let glyph = glyphs.glyphs[index].glyph
                return glyph & 0x1000_0000 != 0 ? Unicode.Scalar(glyph & 0xFFF_FFFF) : nil
            }
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
