import NorrisText

/// Spans one behind the other, as many on each line as fit, each but a line's first with its gap before it.
///
/// None is divided, so one that is wider than the line sticks out. Empty ones are left out. One that is written from
/// right to left has nothing but signs beside it, for terminals would move what else stands there.
func flowed(_ spans: [(gap: Span, span: Span)], width: Int) -> [[Span]] {
    var lines: [[Span]] = []
    var row: [Span] = []
    var column = 0
    for (gap, span) in spans where !span.text.isEmpty {
        let isApart = row.contains { containsRightToLeft($0.text) }
            || containsRightToLeft(span.text) && row.contains { $0.text.contains { $0.isLetter || $0.isNumber } }
        if !row.isEmpty, isApart || column + gap.width + span.width > width {
            lines.append(row)
            (row, column) = ([], 0)
        }
        if !row.isEmpty {
            row.append(gap)
            column += gap.width
        }
        row.append(span)
        column += span.width
    }
    return row.isEmpty ? lines : lines + [row]
}

extension Screen {
    /// Spans with two spaces or another separator between them, as many on each line as fit.
    mutating func flow(_ spans: [Span], separator: Span = Span("  "), width: Int) {
        for row in flowed(spans.map { (separator, $0) }, width: width) {
            line(row)
        }
    }
}
