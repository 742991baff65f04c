import NorrisText

extension Screen {
    /// What a label and the space behind it take.
    static let labelColumns = 13

    /// A dim label of at most 11 columns, and beside it parts with dots between them, as many on each line as fit;
    /// below it where the terminal is narrow.
    mutating func labelled(_ label: String, _ parts: [Span], width: Int) {
        let isNarrow = width < 2 * Self.labelColumns
        if isNarrow {
            line(label, .dim)
        }
        let rows = flowed(parts.map { (Span(" · ", .dim), $0) }, width: isNarrow ? width : width - Self.labelColumns)
        for (index, row) in rows.enumerated() {
            let start = Span(padded(index == 0 ? label : "", toColumns: Self.labelColumns), .dim)
            line(isNarrow ? row : [start] + row)
        }
    }
}
