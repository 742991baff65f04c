import CPango
import NorrisText

/// Creates text layouts independent of the user's settings and locale: Pango with a separate font map.
final class Typesetter {
    private let context: OpaquePointer
    let language: String

    /// - Parameter language: the result of `language(of:)`.
    init(language: String) throws(CardError) {
        self.language = language
        // Not nil, because Pango on Linux is built with FreeType.
        let fonts = pango_cairo_font_map_new_for_font_type(CAIRO_FONT_TYPE_FT)!
        defer { g_object_unref(UnsafeMutableRawPointer(fonts)) }
        // Not nil, here and below, because GLib ends the process without memory.
        context = pango_font_map_create_context(fonts)!
        pango_context_set_language(context, pango_language_from_string(language))
        pango_context_set_round_glyph_positions(context, 0)
        let options = cairo_font_options_create()
        defer { cairo_font_options_destroy(options) }
        cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY)
        cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE)
        cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF)
        pango_cairo_context_set_font_options(context, options)
        // Pango ends the process if it lays out letters without any font.
        let description = pango_font_description_from_string(Face.text.families)
        defer { pango_font_description_free(description) }
        guard let font = pango_context_load_font(context, description) else { throw .noFont }
        g_object_unref(UnsafeMutableRawPointer(font))
    }

    deinit { g_object_unref(UnsafeMutableRawPointer(context)) }

    /// Creates the layout of a text without markup.
    ///
    /// - Parameter code: the parts in a monospaced face, as indexes of Unicode scalars.
    func layout(_ text: String, code: [Range<Int>] = [], face: Face, size: Double) -> TextLayout {
        TextLayout(pango_layout_new(context), text: text, code: code, face: face, size: size)
    }
}

/// The fonts of a part of a card.
struct Face {
    /// The names of families for fontconfig. A missing character is taken from the next family, and finally from any
    /// font.
    let families: String
    let weight: PangoWeight
    /// The space between letters, as a part of their size.
    var spacing = 0.0

    /// For large letters, with finer lines and less space.
    static let display = Face(families: "Inter Display," + text.families, weight: PANGO_WEIGHT_SEMIBOLD)
    /// For tags.
    static let label = Face(families: text.families, weight: PANGO_WEIGHT_SEMIBOLD)
    /// For the text. The Noto fonts precede DejaVu, whose Arabic and Hebrew letters are worse.
    static let text = Face(
        families: "Inter,Noto Sans,Noto Sans Arabic,Noto Sans Hebrew,DejaVu Sans,sans-serif",
        weight: PANGO_WEIGHT_MEDIUM)
    /// For a poster's headline and its caption.
    static let headline = Face(
        families: "Noto Serif Display," + caption.families, weight: PANGO_WEIGHT_MEDIUM, spacing: 0.26)
    static let caption = Face(families: "Noto Serif,DejaVu Serif,serif", weight: PANGO_WEIGHT_NORMAL)

    /// For code inside a text, and its size relative to the other letters, which look smaller at equal sizes.
    static let codeFamilies = "Noto Sans Mono,DejaVu Sans Mono,monospace"
    static let codeScale = 0.88
}

/// The language for the choice of fonts, as a tag of BCP 47 that fontconfig knows.
///
/// Needed for scripts with shared characters: a Han character differs in Japan, Korea and China. For other scripts
/// Pango finds the fonts without a language.
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

/// Whether the first letter of a text belongs to a right-to-left script (UAX #9, rule P2).
func isRightToLeft(_ text: String) -> Bool {
    text.unicodeScalars.first(where: \.properties.isAlphabetic).map { containsRightToLeft(String($0)) } ?? false
}

/// The Debian package with fonts for a character; nil for a character without a script.
func fontPackage(for scalar: Unicode.Scalar) -> String? {
    switch scalar.properties.generalCategory {
    case .unassigned, .privateUse, .surrogate, .control: return nil
    default: break
    }
    if scalar.properties.isEmoji, scalar.value >= 0x2190 { return "fonts-noto-color-emoji" }
    switch scalar.value {
    case 0x1100..<0x1200, 0x2E80..<0xA000, 0xA960..<0xA980, 0xAC00..<0xD800, 0xF900..<0xFB00, 0xFE30..<0xFE50,
        0xFF00..<0xFFF0, 0x1B000..<0x1B300, 0x20000..<0x40000:
        return "fonts-noto-cjk"
    default: return "fonts-noto-core"
    }
}
