import NorrisText

/// Rows of spans in aligned columns, two spaces apart.
struct Table {
    struct Column {
        let title: String
        let isRight: Bool

        static func left(_ title: String) -> Column { Column(title: title, isRight: false) }
        static func right(_ title: String) -> Column { Column(title: title, isRight: true) }
    }

    let columns: [Column]
    /// Each with one cell a column.
    let rows: [[Span]]

    /// The columns of the terminal that the table takes.
    var width: Int { widths.reduce(0, +) + 2 * (columns.count - 1) }

    /// The header and the rows.
    var lines: [[Span]] {
        let widths = widths
        return ([columns.map { Span($0.title, .dim) }] + rows).map { aligned($0, widths) }
    }

    private var widths: [Int] {
        columns.indices.map { column in
            rows.reduce(displayWidth(of: columns[column].title)) { max($0, $1[column].width) }
        }
    }

    private func aligned(_ cells: [Span], _ widths: [Int]) -> [Span] {
        var line: [Span] = []
        for (column, cell) in cells.enumerated() {
            let isLast = column == columns.count - 1
            let space = Span.spaces(widths[column] - cell.width)
            if columns[column].isRight {
                line += [space, cell]
            } else {
                line += isLast ? [cell] : [cell, space]
            }
            if !isLast { line.append(.spaces(2)) }
        }
        return line
    }
}
