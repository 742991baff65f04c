package import NorrisProtocol
import NorrisText

extension Screen {
    /// Facts, separated by empty lines on a terminal, else one a line.
    ///
    /// - Parameters:
    ///   - query: a search query, whose matches are highlighted.
    ///   - first: the number of the first fact; nil for no numbers.
    package mutating func facts(_ facts: [Fact], query: String = "", numberedFrom first: Int? = nil) {
        let words = layout.usesEscapes ? searchWords(of: query) : []
        items(facts, numberedFrom: first) { screen, fact, number in
            if let width = screen.layout.width {
                highlighted(words, in: wrapped(sanitizedText(fact.text), width: width)).forEach { screen.line($0) }
                let tags = fact.categories.map { Span("#\($0)", .dim) }
                let id = number == nil ? [Span(fact.id, .dim, link: fact.url)] : []
                screen.flow(tags + id, width: width)
            } else if screen.layout.usesEscapes {
                // In a pipe escapes are used only on request, and never change the text.
                screen.line(highlighted(words, in: [sanitizedLine(fact.text)])[0])
            } else {
                screen.line(fact.text)
            }
        }
    }

    /// Names and counts, aligned on a terminal, else separated by tabs.
    package mutating func categories(_ categories: [FactCategories.Category]) {
        guard let width = layout.width else {
            for category in categories { fields([Span(category.name), Span("\(category.count)", .dim)]) }
            return
        }
        let rows = categories.map { (name: Span($0.name), count: Span(groupedDigits($0.count), .dim)) }
        let countColumns = rows.map(\.count.width).max() ?? 0
        // A name that leaves too few columns for a count is on a separate line, and does not widen the others.
        let nameColumns = rows.map(\.name.width).filter { $0 + 2 + countColumns <= width }.max() ?? 0
        for (name, count) in rows {
            let fits = name.width <= nameColumns
            if !fits { line([name]) }
            let label = fits ? name : Span("")
            line([label, .spaces(nameColumns + 2 + countColumns - label.width - count.width), count])
        }
    }
}

/// Lines with the matches of a search and the code between backquotes in separate styles.
private func highlighted(_ words: [String], in lines: [String]) -> [[Span]] {
    // Lines are wrapped at spaces, so code may continue on the next line.
    let hasCode = lines.contains { $0.utf8.contains(UInt8(ascii: "`")) }
    var code = hasCode ? codeSpans(in: lines.joined(separator: " "))[...] : []
    guard !words.isEmpty || !code.isEmpty else { return lines.map { [Span($0)] } }
    var matches = words.isEmpty ? [] : searchMatches(of: words, in: lines.joined(separator: "\n"))[...]
    var index = 0
    return lines.map { line in
        var spans: [(text: String, style: Style)] = []
        for character in line {
            if let span = code.first, span.upperBound <= index { code.removeFirst() }
            let isCode = code.first?.contains(index) == true
            let style: Style = matches.popFirst() ?? false ? .match : isCode ? .code : .normal
            if spans.last?.style != style { spans.append(("", style)) }
            spans[spans.count - 1].text.append(character)
            index += 1
        }
        // The end of the line.
        matches = matches.dropFirst()
        index += 1
        return spans.map { Span($0.text, $0.style) }
    }
}
