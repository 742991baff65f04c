import NorrisText

extension Screen {
    /// Labels in columns of so many, two spaces apart, and a text behind them, which goes on below itself where it is
    /// longer than the line.
    package mutating func entry(_ labels: [(label: Span, columns: Int)], _ text: Span) {
        var head: [Span] = []
        var indentation = 0
        for (label, columns) in labels {
            head += [label, Span(String(repeating: " ", count: max(0, columns - label.width) + 2))]
            indentation += max(columns, label.width) + 2
        }
        // A text needs some room, even where the labels take all of it.
        let width = layout.width.map { max(10, $0 - indentation) } ?? .max
        for (index, line) in wrapped(text.text, width: width).enumerated() {
            let start = index == 0 ? head : [Span(String(repeating: " ", count: indentation))]
            self.line(start + [Span(line, text.style)])
        }
        if text.text.isEmpty {
            line(head)
        }
    }
}
