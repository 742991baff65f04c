import CPango

/// What lays out text, without regard to the user's settings and locale: Pango with a font map of its own.
final class Typesetter {
    private let context: OpaquePointer
    let language: String

    /// - Parameter language: as `language(of:)` gives it.
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
        guard hasFont else { throw .noFont }
    }

    deinit {
        g_object_unref(UnsafeMutableRawPointer(context))
    }

    /// Whether any font can be loaded; Pango ends the process when it is asked for letters without one.
    private var hasFont: Bool {
        let description = pango_font_description_from_string(Face.text.families)
        defer { pango_font_description_free(description) }
        guard let font = pango_context_load_font(context, description) else { return false }
        g_object_unref(UnsafeMutableRawPointer(font))
        return true
    }

    /// A text to be laid out; nothing in it is markup.
    func layout(_ text: String, face: Face, size: Double) -> TextLayout {
        TextLayout(pango_layout_new(context), text: text, face: face, size: size)
    }
}
