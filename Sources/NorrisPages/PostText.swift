import NorrisText

/// The text of a post, in the notation of PROTOCOL.md, as HTML.
///
/// Superscripts and subscripts stay in their notation, because texts that were not HTML contain `x^2` and `file_2` too.
struct PostText {
    private let lines: [Substring], links: [String], isTruncated: Bool

    /// Returns nil if the text has no visible character.
    init?(_ text: String, links: [String], isTruncated: Bool) {
        // Sanitizing first makes all line breaks newlines.
        lines = sanitizedText(text).utf8.split(separator: 0x0A, omittingEmptySubsequences: false).map(Substring.init)
        (self.links, self.isTruncated) = (links, isTruncated)
        if lines.allSatisfy(isBlank) { return nil }
    }

    /// The first lines without marks of quotations; nil if they are the whole text. Lines may be longer than shown: the
    /// style ends the text at its last line, whatever the width.
    func excerpt(lines count: Int, columns: Int) -> [Substring]? {
        let start = lines.lazy.filter { !isBlank($0) && $0 != "---" }.prefix(count + 1)
        let height = start.reduce(0) { height, line in
            height + line.unicodeScalars.reduce(0) { $0 + ($1.value < 0x1100 ? 1 : 2) } / columns + 1
        }
        guard height > count else { return nil }
        return start.prefix(count).map { line in
            (isQuotation(line) ? line.drop { $0 == ">" || $0 == " " } : line).prefix(columns * count * 2)
        }
    }

    func write(_ html: inout Markup) {
        html.element("div", [.class("text")]) { html in
            write(lines[...], depth: 0, &html)
            if isTruncated { html.fixed("<p class=\"dim\">Only the beginning of the text is stored.</p>") }
        }
    }

    private func write(_ lines: ArraySlice<Substring>, depth: Int, _ html: inout Markup) {
        var (rest, isAfterEmpty) = (lines, true)
        /// Removes and returns the first line and the lines after it that meet the condition.
        func take(while condition: (Substring) -> Bool) -> ArraySlice<Substring> {
            let end = rest.dropFirst().firstIndex { !condition($0) } ?? rest.endIndex
            defer { rest = rest[end...] }
            return rest[..<end]
        }
        // Lists and quotations of a post are at most eight deep.
        let canNest = depth < 8
        while let line = rest.first {
            if isBlank(line) {
                rest.removeFirst()
            } else if canNest, isQuotation(line) {
                let quoted = take(while: isQuotation).map(withoutMark)
                html.element("blockquote", [.anyDirection]) { write(quoted[...], depth: depth + 1, &$0) }
            } else if line == "---" {
                rest.removeFirst()
                html.void("hr")
            } else if isAfterEmpty, line.hasPrefix("    ") {
                let code = take { !isBlank($0) || $0.utf8.count >= 4 }.map { $0.dropFirst(4) }.joined(separator: "\n")
                html.element("pre", Self.region + [.text(.label, "Code")]) { $0.element("code", text: code) }
            } else if canNest, itemMarkerLength(line) > 0 {
                writeList(&rest, depth: depth, &html)
            } else {
                writeParagraph(take { !isBlank($0) && $0 != "---" && !(canNest && isMarked($0)) }, &html)
            }
            isAfterEmpty = isBlank(line)
        }
    }

    /// Writes the items with markers of one kind at the start of the lines, and removes them.
    private func writeList(_ rest: inout ArraySlice<Substring>, depth: Int, _ html: inout Markup) {
        let isNumbered = rest.first?.first != "-"
        html.element(isNumbered ? "ol" : "ul") { html in
            while let line = rest.first, itemMarkerLength(line) > 0, (line.first != "-") == isNumbered {
                let number = Int(line.prefix { $0 != "." }).map { Attribute.number("value", "", $0) }
                let item = Self.takeItem(&rest)
                html.element("li", [.anyDirection, number]) { write(item[...], depth: depth + 1, &$0) }
            }
        }
    }

    /// Removes the lines of an item, and returns them without marker and indentation. An empty line belongs to the item
    /// before and after code.
    private static func takeItem(_ rest: inout ArraySlice<Substring>) -> [Substring] {
        let first = rest.removeFirst()
        let body = first.dropFirst(itemMarkerLength(first))
        let box = body.hasPrefix("[x] ") ? "☑ " : body.hasPrefix("[ ] ") ? "☐ " : nil
        var item = [box.map { $0 + body.dropFirst(4) } ?? body]
        while true {
            let empty = rest.prefix(while: isBlank)
            guard let next = rest[empty.endIndex...].first, next.hasPrefix("  "),
                empty.isEmpty || next.hasPrefix("      ") || !next.hasPrefix("   ")
            else { return item }
            item += empty + [next.dropFirst(2)]
            rest = rest[(empty.endIndex + 1)...]
        }
    }

    /// Writes a paragraph, or a table if every line has cells.
    private func writeParagraph(_ lines: ArraySlice<Substring>, _ html: inout Markup) {
        let hasBars = lines.count > 1 && lines.allSatisfy { $0.utf8.contains(UInt8(ascii: "|")) }
        let rows = hasBars ? lines.map { split($0, at: " | ") } : []
        guard !rows.isEmpty, rows.allSatisfy({ $0.count > 1 }) else {
            return html.element("p", [.anyDirection]) { writeLines(lines, &$0) }
        }
        html.element("div", Self.region + [.class("table"), .text(.label, "Table")]) { html in
            html.element("table") { html in
                for row in rows {
                    html.element("tr") { html in
                        row.forEach { cell in html.element("td", [.anyDirection]) { writeLines([cell], &$0) } }
                    }
                }
            }
        }
    }

    /// Writes lines with their breaks, and the numbers of links as links.
    func writeLines(_ lines: some Collection<Substring>, withLinks: Bool = true, _ html: inout Markup) {
        for (index, line) in lines.enumerated() {
            if index > 0 { html.void("br") }
            for (text, link) in linkNumbers(in: String(line), links: links) where withLinks || link == nil {
                html.link(link, [.class("n")]) { html in
                    writeInline(text, &html)
                    if let address = WebAddress(link) { html.hidden(" \(address.host)") }
                }
            }
        }
    }

    // Regions that scroll must be reachable by keyboard, and therefore need a role and a name.
    private static let region = [Attribute.fixed("tabindex", "0"), .fixed("role", "group")]
}

private func isBlank(_ line: Substring) -> Bool { line.utf8.allSatisfy { $0 == 0x20 || $0 == 0x09 } }
private func isQuotation(_ line: Substring) -> Bool { line == ">" || line.hasPrefix("> ") }
private func isMarked(_ line: Substring) -> Bool { isQuotation(line) || itemMarkerLength(line) > 0 }
private func withoutMark(_ line: Substring) -> Substring { line == ">" ? "" : line.dropFirst(2) }

private func split(_ line: Substring, at separator: StaticString) -> [Substring] {
    let places = line.utf8.places(of: separator.description.utf8)
    return zip([line.startIndex] + places.map(\.upperBound), places.map(\.lowerBound) + [line.endIndex])
        .map { line[$0..<$1] }
}

/// Writes text with code between backquotes and deleted text (`~~10~~`).
func writeInline(_ text: String, _ html: inout Markup) {
    guard text.utf8.contains(UInt8(ascii: "`")) else { return writeDeletions(text, &html) }
    let characters = Array(text)
    var position = 0
    for span in codeSpans(in: characters) {
        writeDeletions(String(characters[position..<span.lowerBound]), &html)
        html.element("code", text: String(characters[span].dropFirst().dropLast()))
        position = span.upperBound
    }
    writeDeletions(String(characters[position...]), &html)
}

private func writeDeletions(_ text: String, _ html: inout Markup) {
    let parts = text.utf8.contains(UInt8(ascii: "~")) ? split(text[...], at: "~~") : []
    // Marks that are not in pairs around text are text.
    guard !parts.count.isMultiple(of: 2), parts.dropFirst().dropLast().allSatisfy({ !$0.isEmpty }) else {
        return html.text(text)
    }
    for (index, part) in parts.enumerated() {
        if index.isMultiple(of: 2) { html.text(part) } else { html.element("del", text: part) }
    }
}
