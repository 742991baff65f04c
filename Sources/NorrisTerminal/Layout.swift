/// How content is laid out for whoever reads it.
package struct Layout: Equatable, Sendable {
    /// The columns of the terminal; nil for a pipe, which gets one item a line and nothing wrapped.
    package var width: Int?

    /// Whether escape sequences may be written: colours, dim text, links.
    package var usesEscapes: Bool

    package init(width: Int?, usesEscapes: Bool) {
        self.width = width
        self.usesEscapes = usesEscapes
    }
}
