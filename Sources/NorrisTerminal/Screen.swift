import NorrisText

/// What goes to standard output, put together line by line.
///
/// Texts come in as spans, which are sanitised, so the only escape sequences are the ones made here.
package struct Screen: Sendable {
    package let layout: Layout
    package private(set) var text = ""

    package init(layout: Layout) {
        self.layout = layout
    }

    package mutating func line(_ spans: [Span]) {
        for span in spans {
            add(span)
        }
        text += "\n"
    }

    package mutating func line(_ text: String = "", _ style: Style = .normal) {
        line([Span(text, style)])
    }

    /// One line of fields with a tab between them, for programs.
    package mutating func fields(_ spans: [Span]) {
        for (index, span) in spans.enumerated() {
            text += index > 0 ? "\t" : ""
            add(span)
        }
        text += "\n"
    }

    /// A text of any length: wrapped for a terminal, else one line.
    package mutating func paragraph(_ text: String, _ style: Style = .normal) {
        guard let width = layout.width else {
            line(text, style)
            return
        }
        for line in wrapped(sanitizedText(text), width: width) {
            self.line(line, style)
        }
    }

    private mutating func add(_ span: Span) {
        guard layout.usesEscapes, !span.text.isEmpty else {
            text += span.text
            return
        }
        let link = layout.width == nil ? nil : span.link
        if let link {
            text += "\u{1B}]8;;\(link)\u{1B}\\"
        }
        if let parameter = span.style.parameter {
            text += "\u{1B}[\(parameter)m\(span.text)\u{1B}[0m"
        } else {
            text += span.text
        }
        if link != nil {
            text += "\u{1B}]8;;\u{1B}\\"
        }
    }
}
