import NorrisText

extension Screen {
    /// What a text needs beside labels, in columns.
    private static let leastTextColumns = 16

    /// Labels in columns of so many, two spaces apart, and a text behind them, which goes on below itself where it is
    /// longer than the line; below the labels where they leave too little of a narrow terminal.
    ///
    /// - Parameter wraps: whether the text is wrapped; not where it is to be copied.
    package mutating func entry(_ labels: [(label: Span, columns: Int)], _ text: Span, wraps: Bool = true) {
        let width = layout.width ?? .max
        var head: [Span] = []
        var indentation = 0
        for (label, columns) in labels {
            head += [label, Span(String(repeating: " ", count: max(0, columns - label.width) + 2))]
            indentation += max(columns, label.width) + 2
        }
        if width - indentation < Self.leastTextColumns {
            flow(labels.map(\.label), width: width)
            indentation = 2
            head = [Span("  ")]
        }
        let lines = wraps ? wrapped(text.text, width: max(1, width - indentation)) : [text.text]
        for (index, line) in lines.enumerated() {
            let start = index == 0 ? head : [Span(String(repeating: " ", count: indentation))]
            self.line(start + [Span(line, text.style)])
        }
        if lines.isEmpty {
            line(head)
        }
    }
}
