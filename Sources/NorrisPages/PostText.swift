import NorrisProtocol
import NorrisText

/// The content of a post as HTML, with its pictures in their places.
struct PostText {
    let blocks: [PostBlock]
    private let post: Post
    /// Whether the title of the post is h1, not h2.
    private let isAlone: Bool
    private let pictures: Set<String>

    init(_ post: Post, isAlone: Bool) {
        (self.post, self.isAlone) = (post, isAlone)
        blocks = postBlocks(of: post.markdown ?? post.text ?? "")
        pictures = Set(blocks.flatMap(\.spans).compactMap(\.picture))
    }

    /// Whether a picture is in the text.
    func places(_ address: String) -> Bool { pictures.contains(address) }

    /// The first paragraph without marks; nil for a short text. Lines may be longer than shown: the style ends the text
    /// at its last line, whatever the width.
    func excerpt(lines count: Int, columns: Int) -> [Substring]? {
        var (all, height) = ([Substring](), 0)
        for block in blocks where height <= count {
            for line in block.lines where height <= count {
                all.append(line)
                height += line.unicodeScalars.reduce(0) { $0 + ($1.value < 0x1100 ? 1 : 2) } / columns + 1
            }
        }
        guard height > count else { return nil }
        let start = PostBlock.beginning(of: blocks).flatMap(\.lines)
        let shown = (start.isEmpty ? all : start).prefix(count).map { $0.prefix(columns * count * 2) }
        return shown.dropLast() + [ellipsized(shown[shown.count - 1])[...]]
    }

    func write(_ html: inout HTMLWriter) {
        html.element("div", [.class("text")]) { html in
            write(blocks, &html)
            if post.isTruncated { html.fixed("<p class=\"dim\">Only the beginning of the text is stored.</p>") }
        }
    }

    private func write(_ blocks: [PostBlock], _ html: inout HTMLWriter) {
        for block in blocks {
            switch block {
            case .rule: html.void("hr")
            case .paragraph(let spans): html.element("p", [.anyDirection]) { write(spans, &$0) }
            case .heading(let level, let spans):
                let index = min(max(level, 2), 5) - (isAlone ? 2 : 1)
                html.element(Self.headings[index], [.anyDirection]) { write(spans, &$0) }
            case .code(let text, let language):
                html.element("pre", Self.region + [.text(.label, "Code")]) { html in
                    html.element("code", [language.isEmpty ? nil : .language(language)], text: text)
                }
            case .quotation(let blocks): html.element("blockquote", [.anyDirection]) { write(blocks, &$0) }
            case .list(let start, let items):
                let attribute = start.flatMap { $0 == 1 ? nil : Attribute.number("start", "", $0) }
                html.element(start == nil ? "ul" : "ol", [attribute]) { html in
                    for item in items { html.element("li", [.anyDirection]) { write(item: item, &$0) } }
                }
            case .table(let rows):
                html.element("div", Self.region + [.class("table"), .text(.label, "Table")]) { html in
                    html.element("table") { html in
                        if let header = rows.first, !header.allSatisfy(\.isEmpty) { writeRow(header, "th", &html) }
                        for row in rows.dropFirst() { writeRow(row, "td", &html) }
                    }
                }
            }
        }
    }

    /// Writes the blocks of an item. Its box is a character.
    private func write(item: [PostBlock], _ html: inout HTMLWriter) {
        var blocks = item
        if case .paragraph(var spans)? = item.first, let box = Self.boxes[spans[0].text.prefix(4)] {
            spans[0].text = String(box + spans[0].text.dropFirst(4))
            blocks[0] = .paragraph(spans)
        }
        write(blocks, &html)
    }

    private func writeRow(_ cells: [[PostSpan]], _ name: StaticString, _ html: inout HTMLWriter) {
        html.element("tr") { html in
            for cell in cells { html.element(name, [.anyDirection]) { write(cell, &$0) } }
        }
    }

    private func write(_ spans: [PostSpan], _ html: inout HTMLWriter) {
        forRuns(of: spans[...], equal: \.link) { link, spans in
            html.link(link) { write(spans, in: Self.elements[...], &$0) }
        }
    }

    /// Writes spans of one link, each mark as an element.
    private func write(
        _ spans: ArraySlice<PostSpan>, in elements: ArraySlice<(PostSpan.Marks, StaticString)>,
        _ html: inout HTMLWriter
    ) {
        if let (mark, name) = elements.first {
            return forRuns(of: spans, equal: { $0.marks.contains(mark) }) { isMarked, spans in
                guard isMarked else { return write(spans, in: elements.dropFirst(), &html) }
                html.element(name) { write(spans, in: elements.dropFirst(), &$0) }
            }
        }
        for span in spans {
            if let picture = span.picture {
                let image = post.images.first { $0.url == picture }
                let title = image?.title.map { Attribute.text(.title, sanitizedLine($0)) }
                html.image(picture, alt: span.text, size: (image?.width, image?.height), title)
            } else {
                let lines = span.text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
                html.lines(lines.map(Substring.init))
            }
        }
    }

    private static let elements: [(PostSpan.Marks, StaticString)] = [
        (.strong, "strong"), (.emphasis, "em"), (.deleted, "del"), (.code, "code"),
    ]
    private static let headings: [StaticString] = ["h2", "h3", "h4", "h5", "h6"]
    private static let boxes: [Substring: String] = ["[x] ": "☑ ", "[ ] ": "☐ "]
    // Regions that scroll must be reachable by keyboard, and therefore need a role and a name.
    private static let region = [Attribute.fixed("tabindex", "0"), .fixed("role", "group")]
}

/// Calls `body` with each run of spans for which a property is equal.
private func forRuns<Property: Equatable>(
    of spans: ArraySlice<PostSpan>, equal property: (PostSpan) -> Property,
    body: (Property, ArraySlice<PostSpan>) -> Void
) {
    var rest = spans
    while let value = rest.first.map(property) {
        let run = rest.prefix { property($0) == value }
        body(value, run)
        rest = rest[run.endIndex...]
    }
}

extension HTMLWriter {
    /// Writes lines with breaks between them.
    mutating func lines(_ lines: [Substring]) {
        for (index, line) in lines.enumerated() {
            if index > 0 { void("br") }
            text(line)
        }
    }
}

/// Writes text with code between backquotes.
func writeInline(_ text: String, _ html: inout HTMLWriter) {
    let characters = Array(text)
    var position = 0
    for span in text.utf8.contains(UInt8(ascii: "`")) ? codeSpans(in: characters) : [] {
        html.text(String(characters[position..<span.lowerBound]))
        html.element("code", text: String(characters[span].dropFirst().dropLast()))
        position = span.upperBound
    }
    html.text(String(characters[position...]))
}
