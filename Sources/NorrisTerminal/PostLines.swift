import NorrisText

/// A line of a post's text for a terminal.
struct PostLine: Equatable {
    enum Kind { case prose, code, rule, empty }

    var kind = Kind.prose
    /// The marks of the quotations around the line: `> > `.
    var quotation = ""
    var text = ""

    /// In columns.
    var width: Int { displayWidth(of: quotation) + displayWidth(of: text) }

    /// The spans of the line. A quotation is dim, and a number `[n]` leads to `links[n - 1]`.
    func spans(links: [String]) -> [Span] {
        let style: Style = quotation.isEmpty ? .normal : .dim
        let pieces = linkNumbers(in: text, links: links).map { Span($0.text, style, link: $0.link) }
        return quotation.isEmpty ? pieces : [Span(quotation, .dim)] + pieces
    }
}

/// Breaks the text of a post, in the notation of PROTOCOL.md, into lines of at most `width` columns.
///
/// Prose is wrapped at words; items of lists continue below their text, and quotations repeat their marks. Lines of
/// code keep their indentation and their spaces, and are cut at the width.
func postLines(of text: String, width: Int) -> [PostLine] {
    var lines: [PostLine] = []
    // Code begins after an empty line, and ends at an empty line.
    var isCode = false
    var isAfterEmpty = true
    var depth = 0
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
        let (marks, body) = quotation(line)
        if marks != depth { (isCode, isAfterEmpty) = (false, true) }
        depth = marks
        // On a narrow terminal, at least eight columns are for text.
        let quotation = String(repeating: "> ", count: min(marks, max(0, (width - 8) / 2)))
        let columns = max(1, width - quotation.utf8.count)
        // An empty line of code has the indentation of code.
        if body.allSatisfy(\.isWhitespace), !isCode || body.utf8.count < 4 {
            (isCode, isAfterEmpty) = (false, true)
            lines.append(PostLine(kind: .empty, quotation: quotation))
            continue
        }
        if body == "---", !isCode {
            isAfterEmpty = false
            let rule = String(repeating: "─", count: columns)
            lines.append(PostLine(kind: .rule, quotation: quotation, text: rule))
            continue
        }
        isCode = isCode || (isAfterEmpty && body.hasPrefix("    "))
        isAfterEmpty = false
        let broken = isCode ? codeLines(body, width: columns) : proseLines(body, width: columns)
        lines += broken.map { PostLine(kind: isCode ? .code : .prose, quotation: quotation, text: $0) }
    }
    return lines
}

/// The first `count` lines of prose, and whether the text has more. For a text of code only, the first lines of code.
func postExcerpt(of text: String, width: Int, lines count: Int) -> (lines: [PostLine], isCut: Bool) {
    let all = postLines(of: text, width: width).filter { [.prose, .code].contains($0.kind) && !isMarker($0.text) }
    let prose = all.filter { $0.kind == .prose }
    var lines = Array((prose.isEmpty ? all : prose).prefix(count))
    let isCut = lines.count < all.count
    if isCut, var last = lines.popLast() {
        last.text = truncated(last.text + "…", toColumns: max(1, width - last.quotation.utf8.count))
        lines.append(last)
    }
    return (lines, isCut)
}

/// Whether a line has only the mark of a list item.
private func isMarker(_ text: String) -> Bool {
    let words = text.drop { $0 == " " }
    return words == "-" || words.last == "." && words.dropLast().utf8.allSatisfy { 0x30...0x39 ~= $0 }
}

/// Divides a line into the number of its quotation marks and the rest.
private func quotation(_ line: Substring) -> (marks: Int, body: Substring) {
    var marks = 0
    var rest = line
    while rest.first == ">" {
        let next = rest.dropFirst()
        guard next.isEmpty || next.first == " " else { break }
        marks += 1
        rest = next.dropFirst()
    }
    return (marks, rest)
}

private func proseLines(_ line: Substring, width: Int) -> [String] {
    let indentation = line.prefix { $0 == " " }.count
    let marker = itemMarkerLength(line.dropFirst(indentation))
    guard marker > 0, indentation + marker <= width / 2 else { return wrapped(String(line), width: width) }
    let hanging = indentation + marker
    let body = wrapped(String(line.dropFirst(hanging)), width: width - hanging)
    let head = String(line.prefix(hanging))
    let gap = String(repeating: " ", count: hanging)
    return body.isEmpty ? [head] : body.enumerated().map { ($0 == 0 ? head : gap) + $1 }
}

/// Cuts a line of code at the width. Tabs lead to every eighth column of the code.
private func codeLines(_ line: Substring, width: Int) -> [String] {
    // On a narrow terminal, code has less indentation.
    let margin = min(4, max(0, (width - 8) / 2))
    let columns = max(1, width - margin)
    let gap = String(repeating: " ", count: margin)
    var lines: [String] = []
    var text = "", column = 0, position = 0
    for cluster in line.dropFirst(4) {
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
