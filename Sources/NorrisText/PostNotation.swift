/// The title of a post in one line, unless it is empty or the text begins with it, because many feeds use the first
/// words as a title.
package func visibleTitle(_ title: String, above text: String?) -> String? {
    let title = sanitizedLine(title)
    // Only the beginning of a long text is compared.
    let beginning = text.map { String($0.unicodeScalars.prefix(2 * title.unicodeScalars.count + 100)) }
    guard !title.isEmpty, let words = beginning.map(sanitizedLine), !words.isEmpty else {
        return title.isEmpty ? nil : title
    }
    let isCut = title.hasSuffix("…")
    let start = isCut ? title.dropLast() : title[...]
    guard words.utf8.starts(with: start.utf8) else { return title }
    let next = words.unicodeScalars[words.utf8.index(words.startIndex, offsetBy: start.utf8.count)...].first
    // For example, the title Go stays above a text that begins with Google.
    let endsInWord = next.map { $0.properties.isAlphabetic || $0.properties.numericType != nil } ?? false
    return endsInWord && !isCut ? title : nil
}

/// A block of a post's text, in the notation of PROTOCOL.md.
package enum PostBlock {
    case paragraph([Substring])
    /// Without the indentation.
    case code([Substring])
    case quotation([PostBlock])
    /// The markers are of one kind: `- `, or a number with a point and a space.
    case list([(marker: Substring, blocks: [PostBlock])])
    case rule, empty

    /// The lines of text, without markers and empty lines.
    package var lines: [Substring] {
        switch self {
        case .paragraph(let lines), .code(let lines): lines.filter { !isBlank($0) }
        case .quotation(let blocks): blocks.flatMap(\.lines)
        case .list(let items): items.flatMap { $0.blocks.flatMap(\.lines) }
        case .rule, .empty: []
        }
    }
}

/// Divides a text into its blocks.
///
/// - Parameter depth: the number of lists and quotations around the text, in a post at most eight.
package func postBlocks(of text: String, depth: Int = 0) -> [PostBlock] {
    let lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    var (rest, blocks, isAfterEmpty) = (lines.map(Substring.init)[...], [PostBlock](), true)
    /// Removes and returns the first line and the lines after it that meet the condition.
    func take(while condition: (Substring) -> Bool) -> ArraySlice<Substring> {
        let end = rest.dropFirst().firstIndex { !condition($0) } ?? rest.endIndex
        defer { rest = rest[end...] }
        return rest[..<end]
    }
    func nested(_ lines: [Substring]) -> [PostBlock] {
        postBlocks(of: lines.joined(separator: "\n"), depth: depth + 1)
    }
    func isQuotation(_ line: Substring) -> Bool { depth < 8 && (line == ">" || line.hasPrefix("> ")) }
    func isItem(_ line: Substring) -> Bool { depth < 8 && markerLength(line) > 0 }
    while let line = rest.first {
        if isBlank(line) {
            rest.removeFirst()
            blocks.append(.empty)
        } else if line == "---" {
            rest.removeFirst()
            blocks.append(.rule)
        } else if isAfterEmpty, line.hasPrefix("    ") {
            blocks.append(.code(take { $0.hasPrefix("    ") }.map { $0.dropFirst(4) }))
        } else if isQuotation(line) {
            blocks.append(.quotation(nested(take(while: isQuotation).map { $0.dropFirst(2) })))
        } else if isItem(line) {
            var items: [(marker: Substring, blocks: [PostBlock])] = []
            while let next = rest.first, isItem(next), (next.first == "-") == (line.first == "-") {
                items.append((next.prefix(markerLength(next)), nested(takeItem(&rest))))
            }
            blocks.append(.list(items))
        } else {
            blocks.append(.paragraph(Array(take { !isBlank($0) && $0 != "---" && !isQuotation($0) && !isItem($0) })))
        }
        isAfterEmpty = isBlank(line)
    }
    return blocks
}

/// Removes the lines of an item, and returns them without marker and indentation. An empty line belongs to the item
/// before and after code.
private func takeItem(_ rest: inout ArraySlice<Substring>) -> [Substring] {
    let first = rest.removeFirst()
    var item = [first.dropFirst(markerLength(first))]
    while true {
        let empty = rest.prefix(while: isBlank)
        guard let next = rest[empty.endIndex...].first, next.hasPrefix("  "),
            empty.isEmpty || next.hasPrefix("      ") || !next.hasPrefix("   ")
        else { return item }
        item += empty + [next.dropFirst(2)]
        rest = rest[(empty.endIndex + 1)...]
    }
}

private func isBlank(_ line: Substring) -> Bool { line.allSatisfy(\.isWhitespace) }

/// The length of the marker of a list item: `- `, or a number with a point and a space, which may end the line without
/// its space; 0 for other lines.
private func markerLength(_ line: Substring) -> Int {
    let digits = line.utf8.prefix { 0x30...0x39 ~= $0 }.count
    let mark = line.first == "-" ? 1 : 1...9 ~= digits && line.dropFirst(digits).first == "." ? digits + 1 : 0
    guard mark > 0, let next = line.dropFirst(mark).first else { return mark }
    return next == " " ? mark + 1 : 0
}

/// Divides a text at its link numbers.
package func linkNumbers(in text: String, links: [String]) -> [(text: String, link: String?)] {
    guard !links.isEmpty else { return [(text, nil)] }
    var pieces: [(text: String, link: String?)] = []
    var rest = text[...]
    var searched = text.startIndex
    while let start = rest[searched...].utf8.firstIndex(of: UInt8(ascii: "[")) {
        let digits = rest[start...].utf8.dropFirst().prefix { 0x30...0x39 ~= $0 }
        searched = digits.endIndex
        guard 1...3 ~= digits.count, digits.endIndex < rest.endIndex,
            rest.utf8[digits.endIndex] == UInt8(ascii: "]"), let number = Int(Substring(digits)),
            links.indices.contains(number - 1)
        else { continue }
        let end = rest.utf8.index(after: digits.endIndex)
        if start > rest.startIndex { pieces.append((String(rest[..<start]), nil)) }
        pieces.append((String(rest[start..<end]), links[number - 1]))
        rest = rest[end...]
        searched = end
    }
    return rest.isEmpty ? pieces : pieces + [(String(rest), nil)]
}
