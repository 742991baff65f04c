package import NorrisProtocol

extension Screen {
    /// Facts for a terminal with an empty line between them; else one a line.
    package mutating func facts(_ facts: [Fact]) {
        for (index, fact) in facts.enumerated() {
            if index > 0, layout.width != nil {
                line()
            }
            self.fact(fact)
        }
    }

    private mutating func fact(_ fact: Fact) {
        let tags = fact.categories.map { Span("#\($0)", .dim) }
        if let width = layout.width {
            paragraph(fact.text)
            flow(tags + [Span(fact.id, .dim, link: fact.url)], width: width)
        } else if layout.usesEscapes {
            // Escapes in a pipe were asked for by name; there is nothing but the tags to use them on.
            line([Span(fact.text)] + tags.flatMap { [Span(" "), $0] })
        } else {
            line(fact.text)
        }
    }
}
