import CPango

/// A text laid out in lines by Pango, in pixels.
final class TextLayout {
    private let layout: OpaquePointer
    private let face: Face

    /// Whether a picture may be among the letters.
    let hasEmoji: Bool

    /// The size of the letters (their em square).
    private(set) var size: Double

    /// - Parameter layout: is this object's from now on.
    init(_ layout: OpaquePointer, text: String, face: Face, size: Double) {
        self.layout = layout
        self.face = face
        hasEmoji = text.unicodeScalars.contains { $0.properties.isEmoji && !$0.isASCII || $0 == "\u{FE0F}" }
        self.size = size
        // Texts are at most some ten thousand characters.
        pango_layout_set_text(layout, text, Int32(text.utf8.count))
        setSize(size)
    }

    deinit {
        g_object_unref(UnsafeMutableRawPointer(layout))
    }

    func setSize(_ size: Double) {
        self.size = size
        let description = pango_font_description_new()
        defer { pango_font_description_free(description) }
        pango_font_description_set_family(description, face.families)
        pango_font_description_set_weight(description, face.weight)
        pango_font_description_set_absolute_size(description, size * Double(PANGO_SCALE))
        pango_layout_set_font_description(layout, description)
    }

    /// Breaks the text into lines.
    ///
    /// - Parameter insideWords: whether a word that is wider than that may be broken anywhere.
    func setWidth(_ width: Double, insideWords: Bool = false) {
        pango_layout_set_wrap(layout, insideWords ? PANGO_WRAP_WORD_CHAR : PANGO_WRAP_WORD)
        pango_layout_set_width(layout, Int32(width * Double(PANGO_SCALE)))
    }

    /// Cuts what is wider, and puts an ellipsis there.
    func cut(toWidth width: Double) {
        pango_layout_set_ellipsize(layout, PANGO_ELLIPSIZE_END)
        pango_layout_set_width(layout, Int32(width * Double(PANGO_SCALE)))
    }

    var lineCount: Int { Int(pango_layout_get_line_count(layout)) }

    /// The lines; they hold until the layout is changed.
    var lines: [TextLine] {
        (0..<pango_layout_get_line_count(layout)).map { index in
            // There is such a line.
            TextLine(pango_layout_get_line(layout, index)!)
        }
    }

    /// The width of the widest line.
    var width: Double {
        lines.reduce(0) { max($0, $1.width) }
    }
}
