import NorrisText

/// A line of a post's text for a terminal.
struct PostLine: Equatable {
    enum Kind {
        case prose, empty
        /// Code, or a row of a table.
        case code
        /// A rule, pictures, or the marker of a list item without text beside it.
        case mark
    }

    let kind: Kind
    /// The marks of the quotations, and the markers and indentations of the list items: `> - `. ASCII only.
    var prefix = ""
    var text: [Span] = []

    /// A quotation's mark is dim, as its text.
    var spans: [Span] {
        prefix.isEmpty ? text : [Span(prefix, prefix.utf8.contains(UInt8(ascii: ">")) ? .dim : .normal)] + text
    }
}

extension PostSpan {
    /// Whether this is a picture directly behind a word or a picture, or a word behind a picture.
    fileprivate func touches(_ before: PostSpan) -> Bool {
        func isWord(_ character: Character?) -> Bool { character?.isLetter == true || character?.isNumber == true }
        return (picture != nil || before.picture != nil) && (picture != nil || isWord(text.first))
            && (before.picture != nil || isWord(before.text.last))
    }
}

/// Breaks the blocks of a post into lines.
struct PostLines {
    /// The numbers by which commands open links.
    private let numbers: [String: Int]
    private let width: Int

    /// - Parameters:
    ///   - links: the addresses with numbers, from 1.
    ///   - width: the columns of all lines but those of code.
    init(links: [String], width: Int) {
        numbers = Dictionary(zip(links, 1...)) { first, _ in first }
        self.width = width
    }

    /// The lines of blocks, with empty lines between the blocks.
    ///
    /// Prose is wrapped at words; items of lists continue below their text, and quotations repeat their marks. Code is
    /// not wrapped, so that it can be copied.
    func lines(of blocks: [PostBlock], prefix: String = "", isTight: Bool = false) -> [PostLine] {
        separated(blocks.map { lines(of: $0, prefix: prefix) }, prefix: prefix, isTight: isTight)
    }

    private func lines(of block: PostBlock, prefix: String) -> [PostLine] {
        let columns = max(1, width - prefix.utf8.count)
        /// The prefix with a further part, unless fewer than eight columns are left for text.
        func indented(by part: String) -> String { columns < part.utf8.count + 8 ? prefix : prefix + part }
        func lines(_ kind: PostLine.Kind, _ texts: [[Span]]) -> [PostLine] {
            texts.map { PostLine(kind: kind, prefix: prefix, text: $0) }
        }
        let isQuoted = prefix.utf8.contains(UInt8(ascii: ">"))
        switch block {
        case .rule: return lines(.mark, [[Span(String(repeating: "─", count: columns), .dim)]])
        case .paragraph(let spans):
            let kind: PostLine.Kind = spans.allSatisfy { $0.picture != nil } ? .mark : .prose
            return lines(kind, parts(of: spans, isQuoted: isQuoted).flatMap { wrapped($0, width: columns) })
        case .heading(_, let spans):
            let parts = parts(of: spans, isBold: true, isQuoted: isQuoted)
            return lines(.prose, parts.flatMap { wrapped($0, width: columns) })
        case .code(let text, _):
            // On a narrow terminal, code has less indentation.
            let gap = String(repeating: " ", count: min(4, max(0, (columns - 8) / 2)))
            let texts = text.split(separator: "\n", omittingEmptySubsequences: false)
            return lines(.code, texts.map { [Span(gap + expanded($0), .code)] })
        case .quotation(let blocks): return self.lines(of: blocks, prefix: indented(by: "> "))
        case .table(let rows):
            let cells = rows.enumerated().map { index, row in
                row.map { Array(parts(of: $0, isBold: index == 0, isQuoted: isQuoted).joined()) }
            }
            return lines(.code, table(cells, width: columns))
        case .list(let start, let items):
            let isTight = PostBlock.isTight(items)
            let groups = items.enumerated().map { index, blocks -> [PostLine] in
                let marker = start.map { "\($0 + index). " } ?? "- "
                let inner = indented(by: String(repeating: " ", count: marker.utf8.count))
                var body = self.lines(of: blocks, prefix: inner, isTight: isTight)
                guard inner != prefix, let first = body.first else {
                    return lines(.mark, [[Span(String(marker.dropLast()))]]) + body
                }
                body[0].prefix = prefix + marker + first.prefix.dropFirst(inner.utf8.count)
                return body
            }
            return separated(groups, prefix: prefix, isTight: isTight)
        }
    }

    /// Groups of lines, with an empty line between them unless they are parts of a tight list.
    private func separated(_ groups: [[PostLine]], prefix: String, isTight: Bool) -> [PostLine] {
        let marks = prefix.lastIndex(of: ">").map { String(prefix[...$0]) } ?? ""
        return Array(groups.joined(separator: isTight ? [] : [PostLine(kind: .empty, prefix: marks)]))
    }

    /// The lines of a paragraph before wrapping: marks as styles, pictures as `▣` with their descriptions, links with
    /// their numbers.
    private func parts(of spans: [PostSpan], isBold: Bool = false, isQuoted: Bool) -> [[Span]] {
        var lines: [[Span]] = [[]]
        for (index, span) in spans.enumerated() {
            let isCode = span.marks.contains(.code)
            if index > 0, span.touches(spans[index - 1]) { lines[lines.count - 1].append(Span(" ")) }
            let styles = [
                ("1", isBold || span.marks.contains(.strong)), ("2", span.picture != nil || isQuoted && !isCode),
                ("3", span.marks.contains(.emphasis)), ("4", span.link != nil), ("36", isCode),
            ]
            let parameters = styles.filter(\.1).map(\.0).joined(separator: ";")
            let style: Style = parameters.isEmpty ? .normal : .combined(parameters)
            // Without colors, too, deleted text must differ from other text.
            let tildes = span.marks.contains(.deleted) ? "~~" : ""
            let text = span.picture == nil ? span.text : "▣ \(span.text.isEmpty ? "image" : span.text)"
            let texts = "\(tildes)\(text)\(tildes)".split(separator: "\n", omittingEmptySubsequences: false)
            for (row, text) in texts.enumerated() {
                if row > 0 { lines.append([]) }
                lines[lines.count - 1].append(Span(String(text), style, link: span.link ?? span.picture))
            }
            let isEnd = index + 1 == spans.count || spans[index + 1].link != span.link
            if isEnd, let link = span.link, let number = numbers[link], span.text != "[\(number)]" {
                lines[lines.count - 1].append(Span("[\(number)]", .dim, link: link))
            }
        }
        return lines
    }

    /// A table in aligned columns if it has the width, else a line for each cell.
    private func table(_ rows: [[[Span]]], width: Int) -> [[Span]] {
        let (header, body) = (rows.first ?? [], rows.dropFirst())
        let hasHeader = !header.allSatisfy(\.isEmpty)
        let columns = header.indices.map { index in rows.lazy.map { $0[index].columns }.max() ?? 0 }
        let text = rows.joined().joined().map(\.text).joined()
        guard columns.reduce(-3, { $0 + $1 + 3 }) <= width, !containsRightToLeft(text) else {
            let groups = body.map { row in
                zip(header, row).flatMap { title, cell -> [[Span]] in
                    cell.isEmpty ? [] : wrapped((title.isEmpty ? [] : title + [Span(": ")]) + cell, width: width)
                }
            }
            return Array(groups.joined(separator: [[]]))
        }
        var lines = (hasHeader ? rows[...] : body).map { row in
            zip(row, columns).enumerated().flatMap { index, cell -> [Span] in
                let gap = index + 1 < row.count ? cell.1 - cell.0.columns : 0
                return (index > 0 ? [Span(" │ ", .dim)] : []) + cell.0 + [.spaces(gap)]
            }
        }
        if hasHeader {
            let rule = columns.map { String(repeating: "─", count: $0) }.joined(separator: "─┼─")
            lines.insert([Span(rule, .dim)], at: 1)
        }
        return lines
    }
}

extension [Span] {
    fileprivate var columns: Int { reduce(0) { $0 + $1.width } }
}

/// Wraps a line of several spans.
func wrapped(_ spans: [Span], width: Int) -> [[Span]] {
    styled(wrapped(spans.map(\.text).joined(), width: width), as: spans)
}

/// Lines with the styles and links of the spans from which they were wrapped or cut.
private func styled(_ lines: [String], as spans: [Span]) -> [[Span]] {
    if spans.count == 1 { return lines.map { [Span($0, spans[0].style, link: spans[0].link)] } }
    // Wrapping removes and adds only white space.
    var rest = spans.indices.flatMap { index in
        spans[index].text.unicodeScalars.map { (index: index, isSpace: $0.properties.isWhitespace) }
    }[...]
    return lines.map { line in
        var parts: [(index: Int, text: String.UnicodeScalarView)] = []
        for scalar in line.unicodeScalars {
            let isSpace = scalar.properties.isWhitespace
            if !isSpace { rest = rest.drop(while: \.isSpace) }
            let isAdded = rest.first?.isSpace != isSpace
            let index = (isAdded ? parts.last?.index : rest.removeFirst().index) ?? spans.count - 1
            if parts.last?.index != index { parts.append((index, .init())) }
            parts[parts.count - 1].text.append(scalar)
        }
        return parts.map { Span(String($0.text), spans[$0.index].style, link: spans[$0.index].link) }
    }
}

extension PostLines {
    /// The lines of a short text, or the first `count` lines of its first paragraph, and whether the post has more. For
    /// a post without a paragraph, its first lines.
    func excerpt(of blocks: [PostBlock], lines count: Int, hasMore: Bool) -> (lines: [PostLine], isCut: Bool) {
        let all = lines(of: blocks).filter { [.prose, .code].contains($0.kind) }
        let isShort = !hasMore && all.count <= count
        let start = isShort ? [] : lines(of: PostBlock.beginning(of: blocks)).filter { $0.kind == .prose }
        return firstLines(of: start.isEmpty ? all : start, width: width, count, hasMore: !isShort)
    }
}

/// The first `count` lines, cut at the width, and whether there are more. Then the last line ends in `…`.
func firstLines(
    of all: [PostLine], width: Int, _ count: Int, hasMore: Bool = false
) -> (lines: [PostLine], isCut: Bool) {
    let isCut = hasMore || count < all.count
    let lines = all.prefix(count).enumerated().map { index, line -> PostLine in
        let (columns, isLast) = (max(1, width - line.prefix.utf8.count), isCut && index + 1 == min(count, all.count))
        guard isLast || line.text.columns > columns else { return line }
        let whole = line.text.map(\.text).joined()
        let text = isLast ? ellipsized(whole) : whole
        return PostLine(
            kind: line.kind, prefix: line.prefix, text: styled([truncated(text, toColumns: columns)], as: line.text)[0])
    }
    return (lines, isCut)
}

/// Replaces the tabs of a line of code, which lead to every eighth column.
private func expanded(_ line: Substring) -> String {
    guard line.utf8.contains(UInt8(ascii: "\t")) else { return String(line) }
    var (text, column) = ("", 0)
    for cluster in line {
        let size = cluster == "\t" ? 8 - column % 8 : displayWidth(of: cluster)
        text += cluster == "\t" ? String(repeating: " ", count: size) : String(cluster)
        column += size
    }
    return text
}
