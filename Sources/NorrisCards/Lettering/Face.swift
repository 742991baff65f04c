import CPango

/// The letters that a part of a card is set in.
struct Face {
    /// Names of families as fontconfig has them; what the first has not is taken from the next, and at last from any.
    let families: String
    let weight: PangoWeight

    /// For large letters: drawn finer and closer.
    static let display = Face(families: "Inter Display," + text.families, weight: PANGO_WEIGHT_SEMIBOLD)
    /// For small words that are signs.
    static let label = Face(families: text.families, weight: PANGO_WEIGHT_SEMIBOLD)
    /// For a text to be read.
    static let text = Face(
        // DejaVu's Arabic and Hebrew are a stopgap, so those of Noto come before it.
        families: "Inter,Noto Sans,Noto Sans Arabic,Noto Sans Hebrew,DejaVu Sans,sans-serif",
        weight: PANGO_WEIGHT_MEDIUM
    )
}
