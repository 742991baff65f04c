import NorrisText

/// A line of a post's text for a terminal.
struct PostLine: Equatable {
    enum Kind {
        case prose, code, empty
        /// A rule, or the marker of a list item without text beside it.
        case mark
    }

    let kind: Kind
    /// The marks of the quotations, and the markers and indentations of the list items: `> - `. ASCII only.
    var prefix = ""
    var text = ""

    /// The spans of the line. A quotation is dim, and a number `[n]` leads to `links[n - 1]`.
    func spans(links: [String]) -> [Span] {
        let style: Style = prefix.utf8.contains(UInt8(ascii: ">")) ? .dim : .normal
        let pieces = linkNumbers(in: text, links: links).map { Span($0.text, style, link: $0.link) }
        return prefix.isEmpty ? pieces : [Span(prefix, style)] + pieces
    }
}

/// Breaks the blocks of a post's text into lines of at most `width` columns.
///
/// Prose is wrapped at words; items of lists continue below their text, and quotations repeat their marks. Lines of
/// code keep their indentation and their spaces, and are cut at the width.
func postLines(of blocks: [PostBlock], width: Int, prefix: String = "") -> [PostLine] {
    let columns = max(1, width - prefix.utf8.count)
    /// The prefix with a further part, unless fewer than eight columns are left for text.
    func indented(by part: String) -> String { columns < part.utf8.count + 8 ? prefix : prefix + part }
    func lines(_ kind: PostLine.Kind, _ texts: [String]) -> [PostLine] {
        texts.map { PostLine(kind: kind, prefix: prefix, text: $0) }
    }
    return blocks.flatMap { block -> [PostLine] in
        switch block {
        case .empty:
            let marks = prefix.lastIndex(of: ">").map { String(prefix[...$0]) } ?? ""
            return [PostLine(kind: .empty, prefix: marks)]
        case .rule: return lines(.mark, [String(repeating: "─", count: columns)])
        case .paragraph(let texts): return lines(.prose, texts.flatMap { wrapped(String($0), width: columns) })
        case .code(let texts): return lines(.code, texts.flatMap { codeLines($0, width: columns) })
        case .quotation(let blocks): return postLines(of: blocks, width: width, prefix: indented(by: "> "))
        case .list(let items):
            return items.flatMap { marker, blocks -> [PostLine] in
                let inner = indented(by: String(repeating: " ", count: marker.utf8.count))
                var body = postLines(of: blocks, width: width, prefix: inner)
                guard inner != prefix, let first = body.first, first.kind != .empty else {
                    return lines(.mark, [String(marker)]) + body.drop { $0.kind == .empty }
                }
                body[0].prefix = prefix + marker + first.prefix.dropFirst(inner.utf8.count)
                return body
            }
        }
    }
}

/// The first `count` lines of prose, and whether the text has more. For a text that begins with code only, the first
/// lines of code.
func postExcerpt(of text: String, width: Int, lines count: Int) -> (lines: [PostLine], isCut: Bool) {
    // Texts can have 100,000 characters. The beginning is enough for the lines with all their marks.
    let beginning = text.unicodeScalars.prefix(1_000 * count)
    let blocks = postBlocks(of: sanitizedText(String(beginning)))
    let all = postLines(of: blocks, width: width).filter { [.prose, .code].contains($0.kind) }
    let prose = all.filter { $0.kind == .prose }
    let lines = prose.isEmpty ? all : prose
    let hasMore = lines.count < all.count || beginning.endIndex < text.endIndex
    return firstLines(of: lines, width: width, count, hasMore: hasMore)
}

/// The first `count` lines, and whether there are more. Then the last line ends in `…`.
func firstLines(
    of all: [PostLine], width: Int, _ count: Int, hasMore: Bool = false
) -> (lines: [PostLine], isCut: Bool) {
    var lines = Array(all.prefix(count))
    let isCut = hasMore || lines.count < all.count
    if isCut, var last = lines.popLast() {
        last.text = truncated(last.text + "…", toColumns: max(1, width - last.prefix.utf8.count))
        lines.append(last)
    }
    return (lines, isCut)
}

/// Cuts a line of code at the width. Tabs lead to every eighth column of the code.
private func codeLines(_ line: Substring, width: Int) -> [String] {
    // On a narrow terminal, code has less indentation.
    let margin = min(4, max(0, (width - 8) / 2))
    let columns = max(1, width - margin)
    let gap = String(repeating: " ", count: margin)
    var lines: [String] = []
    var text = "", column = 0, position = 0
    for cluster in line {
        let size = cluster == "\t" ? 8 - position % 8 : displayWidth(of: cluster)
        if column + size > columns, column > 0 {
            lines.append(gap + text)
            (text, column) = ("", 0)
        }
        text += cluster == "\t" ? String(repeating: " ", count: min(size, columns)) : String(cluster)
        column += size
        position += size
    }
    return lines + [gap + text]
}
