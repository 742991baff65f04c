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
    var rows: [[Span]] = []

    init(columns: [Column]) {
        self.columns = columns
    }

    /// The columns of the terminal that the table takes.
    var width: Int { widths.reduce(0, +) + 2 * (columns.count - 1) }

    var header: [Span] { aligned(columns.map { Span($0.title, .dim) }, widths) }

    var body: [[Span]] {
        let widths = widths
        return rows.map { aligned($0, widths) }
    }

    private var widths: [Int] {
        columns.indices.map { column in
            rows.reduce(displayWidth(of: columns[column].title)) { max($0, $1[column].width) }
        }
    }

    private func aligned(_ cells: [Span], _ widths: [Int]) -> [Span] {
        var line: [Span] = []
        for (column, cell) in cells.enumerated() {
            let space = Span(String(repeating: " ", count: widths[column] - cell.width))
            let isLast = column == columns.count - 1
            switch (columns[column].isRight, isLast) {
            case (true, _): line += [space, cell]
            case (false, false): line += [cell, space]
            case (false, true): line.append(cell)
            }
            if !isLast {
                line.append(Span("  "))
            }
        }
        return line
    }
}
