import NorrisText

/// The text of a post, in the notation of PROTOCOL.md, as HTML.
///
/// Superscripts and subscripts stay in their notation, because texts that were not HTML contain `x^2` and `file_2` too.
struct PostText {
    private let blocks: [PostBlock], links: [String], isTruncated: Bool

    /// Returns nil if the text has no visible character.
    init?(_ text: String, links: [String], isTruncated: Bool) {
        // Sanitizing first makes all line breaks newlines.
        blocks = postBlocks(of: sanitizedText(text))
        (self.links, self.isTruncated) = (links, isTruncated)
        if blocks.allSatisfy({ if case .empty = $0 { true } else { false } }) { return nil }
    }

    /// The first lines without marks; nil if they are the whole text. Lines may be longer than shown: the style ends
    /// the text at its last line, whatever the width.
    func excerpt(lines count: Int, columns: Int) -> [Substring]? {
        let start = blocks.lazy.flatMap(\.lines).prefix(count + 1)
        let height = start.reduce(0) { height, line in
            height + line.unicodeScalars.reduce(0) { $0 + ($1.value < 0x1100 ? 1 : 2) } / columns + 1
        }
        return height > count ? start.prefix(count).map { $0.prefix(columns * count * 2) } : nil
    }

    func write(_ html: inout HTMLWriter) {
        html.element("div", [.class("text")]) { html in
            write(blocks, &html)
            if isTruncated { html.fixed("<p class=\"dim\">Only the beginning of the text is stored.</p>") }
        }
    }

    private func write(_ blocks: [PostBlock], _ html: inout HTMLWriter) {
        for block in blocks {
            switch block {
            case .empty: break
            case .rule: html.void("hr")
            case .paragraph(let lines): writeParagraph(lines, &html)
            case .code(let lines):
                let code = lines.joined(separator: "\n")
                html.element("pre", Self.region + [.text(.label, "Code")]) { $0.element("code", text: code) }
            case .quotation(let blocks): html.element("blockquote", [.anyDirection]) { write(blocks, &$0) }
            case .list(let items):
                html.element(items.first?.marker.first == "-" ? "ul" : "ol") { html in
                    for (marker, var blocks) in items {
                        if case .paragraph(var lines)? = blocks.first, let box = Self.boxes[lines[0].prefix(4)] {
                            lines[0] = box + lines[0].dropFirst(4)
                            blocks[0] = .paragraph(lines)
                        }
                        let number = Int(marker.prefix { $0 != "." }).map { Attribute.number("value", "", $0) }
                        html.element("li", [.anyDirection, number]) { write(blocks, &$0) }
                    }
                }
            }
        }
    }

    /// Writes a paragraph, or a table if every line has cells.
    private func writeParagraph(_ lines: [Substring], _ html: inout HTMLWriter) {
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
    func writeLines(_ lines: some Collection<Substring>, withLinks: Bool = true, _ html: inout HTMLWriter) {
        for (index, line) in lines.enumerated() {
            if index > 0 { html.void("br") }
            for (text, link) in linkNumbers(in: String(line), links: links) where withLinks || link == nil {
                html.link(link, [.class("n")]) { html in
                    writeInline(text, &html)
                    if let address = PageAddress(link) { html.hidden(" \(address.host)") }
                }
            }
        }
    }

    private static let boxes: [Substring: Substring] = ["[x] ": "☑ ", "[ ] ": "☐ "]
    // Regions that scroll must be reachable by keyboard, and therefore need a role and a name.
    private static let region = [Attribute.fixed("tabindex", "0"), .fixed("role", "group")]
}

private func split(_ line: Substring, at separator: StaticString) -> [Substring] {
    let places = line.utf8.places(of: separator.description.utf8)
    return zip([line.startIndex] + places.map(\.upperBound), places.map(\.lowerBound) + [line.endIndex])
        .map { line[$0..<$1] }
}

/// Writes text with code between backquotes and deleted text (`~~10~~`).
func writeInline(_ text: String, _ html: inout HTMLWriter) {
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

private func writeDeletions(_ text: String, _ html: inout HTMLWriter) {
    let parts = text.utf8.contains(UInt8(ascii: "~")) ? split(text[...], at: "~~") : []
    // Marks that are not in pairs around text are text.
    guard !parts.count.isMultiple(of: 2), parts.dropFirst().dropLast().allSatisfy({ !$0.isEmpty }) else {
        return html.text(text)
    }
    for (index, part) in parts.enumerated() {
        if index.isMultiple(of: 2) { html.text(part) } else { html.element("del", text: part) }
    }
}
