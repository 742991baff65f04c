package import NorrisProtocol
import NorrisText

extension Screen {
    /// Facts for a terminal with an empty line between them; else one a line.
    ///
    /// - Parameter query: of a search, whose matches are highlighted.
    package mutating func facts(_ facts: [Fact], query: String = "") {
        let words = layout.usesEscapes ? searchWords(of: query) : []
        for (index, fact) in facts.enumerated() {
            let tags = fact.categories.map { Span("#\($0)", .dim) }
            if let width = layout.width {
                if index > 0 { line() }
                let text = sanitizedText(fact.text)
                highlighted(words, in: wrapped(text, width: width), of: text).forEach { line($0) }
                flow(tags + [Span(fact.id, .dim, link: fact.url)], width: width)
            } else if layout.usesEscapes {
                // Escapes in a pipe were asked for by name; there is nothing but the tags to use them on.
                let text = sanitizedLine(fact.text)
                line(highlighted(words, in: [text], of: text)[0] + tags.flatMap { [Span(" "), $0] })
            } else {
                line(fact.text)
            }
        }
    }

    /// Names and counts: aligned for a terminal, else with a tab between them.
    package mutating func categories(_ categories: [FactCategories.Category]) {
        guard let width = layout.width else {
            for category in categories {
                fields([Span(category.name), Span("\(category.count)", .dim)])
            }
            return
        }
        let rows = categories.map { (name: Span($0.name), count: Span(groupedDigits($0.count), .dim)) }
        let countColumns = rows.map(\.count.width).max() ?? 0
        // A name that leaves too few columns for a count has a line of its own, and the others are no wider for it.
        let nameColumns = rows.map(\.name.width).filter { $0 + 2 + countColumns <= width }.max() ?? 0
        for (name, count) in rows {
            let fits = name.width <= nameColumns
            if !fits { line([name]) }
            let label = fits ? name : Span("")
            line([label, .spaces(nameColumns + 2 + countColumns - label.width - count.width), count])
        }
    }
}

/// The lines of a text, with what a search found in a style of its own.
private func highlighted(_ words: [String], in lines: [String], of text: String) -> [[Span]] {
    guard !words.isEmpty else { return lines.map { [Span($0)] } }
    // What is wrapped lacks some of the text's white space, and nothing else.
    var rest = Array(zip(text, searchMatches(of: words, in: text)))[...]
    return lines.map { line in
        var spans: [(text: String, isMatch: Bool)] = []
        for character in line {
            let isMatch = rest.firstIndex { $0.0 == character }.map { position in
                defer { rest = rest[rest.index(after: position)...] }
                return rest[position].1
            } ?? false
            if spans.last?.isMatch != isMatch { spans.append(("", isMatch)) }
            spans[spans.count - 1].text.append(character)
        }
        return spans.map { Span($0.text, $0.isMatch ? .match : .normal) }
    }
}
