import CPango
import NorrisText

/// What lays out text, without regard to the user's settings and locale: Pango with a font map of its own.
final class Typesetter {
    private let context: OpaquePointer
    let language: String

    /// - Parameter language: as `language(of:)` returns it.
    init(language: String) throws(CardError) {
        self.language = language
        // FreeType is what Pango is built with on Linux, so there is such a font map.
        let fonts = pango_cairo_font_map_new_for_font_type(CAIRO_FONT_TYPE_FT)!
        defer { g_object_unref(UnsafeMutableRawPointer(fonts)) }
        // Never nil: GLib ends the process where memory is short, here and below.
        context = pango_font_map_create_context(fonts)!
        pango_context_set_language(context, pango_language_from_string(language))
        pango_context_set_round_glyph_positions(context, 0)
        let options = cairo_font_options_create()
        defer { cairo_font_options_destroy(options) }
        cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY)
        cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE)
        cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF)
        pango_cairo_context_set_font_options(context, options)
        // Pango ends the process when it is to lay out letters without any font.
        let description = pango_font_description_from_string(Face.text.families)
        defer { pango_font_description_free(description) }
        guard let font = pango_context_load_font(context, description) else { throw .noFont }
        g_object_unref(UnsafeMutableRawPointer(font))
    }

    deinit { g_object_unref(UnsafeMutableRawPointer(context)) }

    /// A text to be laid out; nothing in it is markup.
    func layout(_ text: String, face: Face, size: Double) -> TextLayout {
        TextLayout(pango_layout_new(context), text: text, face: face, size: size)
    }
}

/// The fonts that a part of a card is set in.
struct Face {
    /// Names of families as fontconfig has them; what the first does not have is taken from the next, and at last from
    /// any.
    let families: String
    let weight: PangoWeight
    /// Between letters, as a part of their size.
    var spacing = 0.0

    /// For large letters: drawn finer and closer.
    static let display = Face(families: "Inter Display," + text.families, weight: PANGO_WEIGHT_SEMIBOLD)
    /// For tags.
    static let label = Face(families: text.families, weight: PANGO_WEIGHT_SEMIBOLD)
    /// For a text to be read. DejaVu's Arabic and Hebrew are a stopgap, so those of Noto come before it.
    static let text = Face(
        families: "Inter,Noto Sans,Noto Sans Arabic,Noto Sans Hebrew,DejaVu Sans,sans-serif",
        weight: PANGO_WEIGHT_MEDIUM)
    /// For a poster's headline and its caption.
    static let headline = Face(
        families: "Noto Serif Display," + caption.families, weight: PANGO_WEIGHT_MEDIUM, spacing: 0.26)
    static let caption = Face(families: "Noto Serif,DejaVu Serif,serif", weight: PANGO_WEIGHT_NORMAL)
}

/// The language that fonts for a text are chosen by, as a tag of BCP 47 that fontconfig knows.
///
/// It matters where scripts share characters: the same Han character is written differently in Japan, Korea and China.
/// Other scripts need none; Pango finds their fonts.
func language(of text: String) -> String {
    var hasHan = false
    var hasHangul = false
    for scalar in text.unicodeScalars {
        switch scalar.value {
        case 0x3041...0x30FF, 0xFF66...0xFF9D: return "ja"
        case 0x1100...0x11FF, 0x3131...0x318E, 0xAC00...0xD7A3: hasHangul = true
        case 0x3400...0x9FFF, 0xF900...0xFAFF, 0x20000...0x3FFFF: hasHan = true
        default: break
        }
    }
    return hasHangul ? "ko" : hasHan ? "zh-cn" : "en"
}

/// Whether the first letter of a text is of a script that is written from right to left (UAX #9, rule P2).
func isRightToLeft(_ text: String) -> Bool {
    text.unicodeScalars.first(where: \.properties.isAlphabetic).map { containsRightToLeft(String($0)) } ?? false
}
