/// Reads the content of a post, in the part of CommonMark 0.31 that norris-fetch writes (PROTOCOL.md).
///
/// Everything else is text, so that no character is lost, and each newline is a line break. A post without `markdown`
/// has a text that is read in the same way.
package func postBlocks(of markdown: String) -> [PostBlock] {
    let lines = Array(sanitizedText(markdown).utf8).split(separator: newline, omittingEmptySubsequences: false)
    return blocks(of: lines[...], depth: 0)
}

private typealias Line = ArraySlice<UInt8>

private let newline = UInt8(ascii: "\n"), space = UInt8(ascii: " "), backslash = UInt8(ascii: "\\")
private let backquote = UInt8(ascii: "`"), bar = UInt8(ascii: "|")

extension Line {
    fileprivate var isBlank: Bool { allSatisfy { $0 == space } }

    /// The line without spaces at its ends.
    fileprivate var trimmed: Line {
        let start = drop { $0 == space }
        return start.prefix(through: (start.lastIndex { $0 != space } ?? start.startIndex - 1))
    }

    /// The number of equal bytes at the beginning.
    fileprivate func run(of byte: UInt8) -> Int { prefix { $0 == byte }.count }
}

private func isDigit(_ byte: UInt8) -> Bool { 0x30...0x39 ~= byte }

private func text(_ lines: some Sequence<Line>) -> String {
    String(decoding: Array(lines.joined(separator: [newline])), as: UTF8.self)
}

// MARK: Blocks

private func blocks(of lines: ArraySlice<Line>, depth: Int) -> [PostBlock] {
    var (rest, blocks, isAfterBlank) = (lines, [PostBlock](), true)
    /// Removes and returns the first line and the lines after it that meet the condition.
    func take(while condition: (Line) -> Bool) -> ArraySlice<Line> {
        let end = rest.dropFirst().firstIndex { !condition($0) } ?? rest.endIndex
        defer { rest = rest[end...] }
        return rest[..<end]
    }
    // norris-fetch nests eight lists and quotations. Deeper marks are text.
    func isQuotation(_ line: Line) -> Bool {
        depth < 16 && line.first == UInt8(ascii: ">") && line.dropFirst().first ?? space == space
    }
    func marker(_ line: Line) -> Marker? { depth < 16 ? Marker(line) : nil }
    while let line = rest.first {
        let isIndented = isAfterBlank && line.run(of: space) >= 4
        isAfterBlank = line.isBlank
        if isAfterBlank {
            rest.removeFirst()
        } else if line.elementsEqual("---".utf8) {
            rest.removeFirst()
            blocks.append(.rule)
        } else if let level = headingLevel(line) {
            rest.removeFirst()
            blocks.append(.heading(level: level, spans(of: line.dropFirst(level).trimmed)))
        } else if let (length, language) = fence(line) {
            let code = take { $0.run(of: backquote) < length || !$0.drop { $0 == backquote }.isBlank }.dropFirst()
            rest = rest.dropFirst()
            blocks.append(.code(text(code), language: language))
        } else if isIndented {
            blocks.append(.code(text(take { $0.run(of: space) >= 4 }.map { $0.dropFirst(4) }), language: ""))
        } else if isQuotation(line) {
            let inner = take(while: isQuotation).map { $0.dropFirst(2) }
            blocks.append(.quotation(NorrisText.blocks(of: inner[...], depth: depth + 1)))
        } else if let first = marker(line) {
            var items: [[PostBlock]] = []
            while let next = rest.first(where: { !$0.isBlank }), let marker = marker(next), marker.mark == first.mark {
                rest = rest.drop(while: \.isBlank)
                items.append(NorrisText.blocks(of: takeItem(&rest, marker)[...], depth: depth + 1))
            }
            blocks.append(.list(start: first.number, items: items))
        } else if let columns = columns(ofTable: rest) {
            let rows = take { $0.first == bar }.map { row in
                (cells(of: row).map { spans(of: $0) } + repeatElement([], count: columns)).prefix(columns)
            }
            blocks.append(.table((rows.prefix(1) + rows.dropFirst(2)).map(Array.init)))
        } else {
            let lines = take {
                !($0.isBlank || headingLevel($0) != nil || fence($0) != nil || isQuotation($0)
                    || marker($0).map { $0.number ?? 1 == 1 } == true)
            }
            blocks.append(.paragraph(spans(of: lines.joined(separator: [newline]))))
        }
    }
    return blocks
}

/// The marker of a list item.
private struct Marker {
    /// Lists with different marks are different.
    let mark: UInt8
    let number: Int?
    /// The length with the space after it, which can be absent at the end of the line.
    let length: Int

    init?(_ line: Line) {
        let digits = line.prefix(while: isDigit)
        guard let mark = line.dropFirst(digits.count).first, digits.count < 10,
            digits.isEmpty ? "-+".utf8.contains(mark) : ".)".utf8.contains(mark),
            line.dropFirst(digits.count + 1).first ?? space == space
        else { return nil }
        (self.mark, number) = (mark, Int(String(decoding: digits, as: UTF8.self)))
        length = digits.count + 2
    }
}

/// Removes the lines of an item, and returns them without marker and indentation.
private func takeItem(_ rest: inout ArraySlice<Line>, _ marker: Marker) -> [Line] {
    var item = [rest.removeFirst().dropFirst(marker.length)]
    while true {
        let blank = rest.prefix(while: \.isBlank)
        guard let next = rest[blank.endIndex...].first, next.run(of: space) >= marker.length else { return item }
        item += blank.map { $0.dropFirst(marker.length) } + [next.dropFirst(marker.length)]
        rest = rest[(blank.endIndex + 1)...]
    }
}

private func headingLevel(_ line: Line) -> Int? {
    let level = line.run(of: UInt8(ascii: "#"))
    return 1...6 ~= level && line.dropFirst(level).first ?? space == space ? level : nil
}

/// The number of backquotes and the language, if the line begins a block of code.
private func fence(_ line: Line) -> (length: Int, language: String)? {
    let length = line.run(of: backquote)
    let language = line.dropFirst(length).trimmed
    let isName = language.allSatisfy { isDigit($0) || 0x61...0x7A ~= $0 | 0x20 || "+#._-".utf8.contains($0) }
    return length >= 3 && isName ? (length, String(decoding: language, as: UTF8.self)) : nil
}

/// The number of columns, if the first line is the header of a table, and the second one separates it.
private func columns(ofTable lines: ArraySlice<Line>) -> Int? {
    guard let header = lines.first, header.first == bar, let second = lines.dropFirst().first, second.first == bar,
        second.allSatisfy("|- ".utf8.contains)
    else { return nil }
    let columns = cells(of: second).count
    return columns == cells(of: header).count ? columns : nil
}

/// The cells of a row that begins with a bar. A bar after a backslash belongs to a cell.
private func cells(of line: Line) -> [Line] {
    var cells = [Line()]
    for byte in line.trimmed.dropFirst() {
        if byte != bar {
            cells[cells.count - 1].append(byte)
        } else if cells[cells.count - 1].last == backslash {
            cells[cells.count - 1][cells[cells.count - 1].endIndex - 1] = bar
        } else {
            cells.append([])
        }
    }
    if cells.count > 1, cells[cells.count - 1].isEmpty { cells.removeLast() }
    return cells.map(\.trimmed)
}

// MARK: Spans

private func spans(of text: some Sequence<UInt8>) -> [PostSpan] {
    var reader = SpanReader(Array(text))
    return reader.read()
}

/// Reads the text of a block, with the algorithm of CommonMark 0.31, appendix "A parsing strategy".
private struct SpanReader {
    /// A run of `*` or `~~`.
    private struct Run {
        let span: Int, mark: UInt8, length: Int, canOpen: Bool, canClose: Bool
        /// The marks that are not yet part of emphasis.
        var rest: Int

        /// Whether emphasis from this run can end at another one.
        func matches(_ end: Run) -> Bool {
            let isThird = (length + end.length).isMultiple(of: 3) && !length.isMultiple(of: 3)
            return mark == end.mark && !(isThird && (canClose || end.canOpen))
        }
    }

    /// The longest address, in bytes.
    private static let maximumAddress = 4_096
    /// The open runs whose ends are searched.
    private static let maximumRuns = 64

    private let bytes: [UInt8]
    private var position = 0
    private var spans: [PostSpan] = []
    /// The text between the last span and the position.
    private var text: [UInt8] = []
    private var runs: [Run] = []
    private var brackets: [(span: Int, runs: Int, isPicture: Bool)] = []
    /// The positions of the runs of backquotes by their lengths, from the last one.
    private var backquotes: [Int: [Int]] = [:]

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        var end = bytes.count
        while let last = bytes[..<end].lastIndex(of: backquote) {
            end = (bytes[..<last].lastIndex { $0 != backquote } ?? -1) + 1
            backquotes[last + 1 - end, default: []].append(end)
        }
    }

    mutating func read() -> [PostSpan] {
        while position < bytes.count {
            let byte = bytes[position], next = bytes[(position + 1)...].first ?? space
            switch byte {
            case newline: readBreak()
            case backquote: readCode()
            case UInt8(ascii: "*"), UInt8(ascii: "~"): readRun()
            case UInt8(ascii: "["): open("[")
            case UInt8(ascii: "!") where next == UInt8(ascii: "["): open("![")
            case UInt8(ascii: "]"): close()
            case backslash where next == newline || isMark(next):
                position += 1
                if next == newline { readBreak() } else { take() }
            default: take()
            }
        }
        flush()
        applyRuns(from: 0)
        // Adjacent spans in the same style are one span.
        return spans.reduce(into: []) { joined, span in
            var last = joined.last ?? PostSpan(picture: "")
            last.text = span.text
            if last == span, span.picture == nil {
                joined[joined.count - 1].text += span.text
            } else if !span.text.isEmpty || span.picture != nil {
                joined.append(span)
            }
        }
    }

    /// Whether a backslash before the character makes it text: ASCII punctuation.
    private func isMark(_ byte: UInt8) -> Bool {
        0x21...0x7E ~= byte && !isDigit(byte) && !(0x61...0x7A ~= byte | 0x20)
    }

    private mutating func take() {
        text.append(bytes[position])
        position += 1
    }

    private mutating func add(_ span: PostSpan) {
        flush()
        spans.append(span)
    }

    /// Makes the text a span.
    private mutating func flush() {
        if !text.isEmpty { spans.append(PostSpan(String(decoding: text, as: UTF8.self))) }
        text = []
    }

    /// Reads a newline and the spaces around it.
    private mutating func readBreak() {
        while text.last == space { text.removeLast() }
        take()
        position += bytes[position...].run(of: space)
    }

    /// Reads code between runs of backquotes of the same length.
    private mutating func readCode() {
        let length = bytes[position...].run(of: backquote), start = position + length
        while let next = backquotes[length]?.last, next < start { backquotes[length]?.removeLast() }
        guard let end = backquotes[length]?.last else {
            text += bytes[position..<start]
            return position = start
        }
        var code = bytes[start..<end]
        if code.first == space, code.last == space, !code.isBlank { code = code.dropFirst().dropLast() }
        add(PostSpan(String(decoding: code, as: UTF8.self), marks: .code))
        position = end + length
    }

    // MARK: Links and pictures

    private mutating func open(_ bracket: String) {
        add(PostSpan(bracket))
        brackets.append((spans.count - 1, runs.count, bracket.utf8.count == 2))
        position += bracket.utf8.count
    }

    private mutating func close() {
        guard let bracket = brackets.popLast(), let (address, end) = address() else { return take() }
        flush()
        applyRuns(from: bracket.runs)
        position = end
        let content = (bracket.span + 1)...
        if bracket.isPicture {
            spans[bracket.span] = PostSpan(spans[content].map(\.text).joined(), picture: address)
            spans.removeSubrange(content)
        } else {
            spans[bracket.span].text = ""
            for index in spans.indices[content] { spans[index].link = address }
            // A link contains no link.
            brackets = []
        }
    }

    /// The http or https address in parentheses after the position, and the position after it.
    private func address() -> (address: String, end: Int)? {
        let rest = bytes[(position + 1)...].prefix(Self.maximumAddress)
        guard rest.first == UInt8(ascii: "(") else { return nil }
        let isAngled = rest.dropFirst().first == UInt8(ascii: "<")
        var (index, address) = (position + (isAngled ? 3 : 2), [UInt8]())
        while index < rest.endIndex, rest[index] != UInt8(ascii: isAngled ? ">" : ")") {
            if rest[index] == backslash, let next = rest[(index + 1)...].first, isMark(next) { index += 1 }
            if rest[index] <= space { return nil }
            address.append(rest[index])
            index += 1
        }
        if isAngled { index += 1 }
        let text = String(decoding: address, as: UTF8.self)
        guard index < rest.endIndex, rest[index] == UInt8(ascii: ")"), isWebAddress(text) else { return nil }
        return (text, index + 1)
    }

    // MARK: Emphasis

    /// Reads a run of `*` or `~`, which can open and close by the characters before and after it.
    private mutating func readRun() {
        let mark = bytes[position], length = bytes[position...].run(of: mark), end = position + length
        let before = String(decoding: bytes[..<position].suffix(4), as: UTF8.self).unicodeScalars.last ?? " "
        let after = String(decoding: bytes[end...].prefix(4), as: UTF8.self).unicodeScalars.first ?? " "
        add(PostSpan(String(decoding: bytes[position..<end], as: UTF8.self)))
        position = end
        if mark == UInt8(ascii: "~"), length != 2 { return }
        runs.append(
            Run(
                span: spans.count - 1, mark: mark, length: length,
                canOpen: after.canFollowMark(after: before), canClose: before.canFollowMark(after: after),
                rest: length))
    }

    /// Makes the runs from an index on emphasis, and removes them.
    private mutating func applyRuns(from first: Int) {
        var open: [Run] = []
        for var run in runs[first...] {
            while run.canClose, run.rest > 0, let match = open.lastIndex(where: { $0.matches(run) }) {
                open.removeSubrange((match + 1)...)
                let count = min(2, run.rest, open[match].rest)
                let mark: PostSpan.Marks = run.mark == UInt8(ascii: "~") ? .deleted : count == 2 ? .strong : .emphasis
                for index in open[match].span + 1..<run.span { spans[index].marks.insert(mark) }
                spans[open[match].span].text.removeLast(count)
                spans[run.span].text.removeFirst(count)
                run.rest -= count
                open[match].rest -= count
                if open[match].rest == 0 { open.removeLast() }
            }
            if run.canOpen, run.rest > 0, open.count < Self.maximumRuns { open.append(run) }
        }
        runs.removeSubrange(first...)
    }
}

extension Unicode.Scalar {
    /// Whether a mark of emphasis has effect between another character and this one ("left-flanking delimiter run").
    package func canFollowMark(after other: Unicode.Scalar) -> Bool {
        if self == " " || properties.isWhitespace { return false }
        // Implementations differ in whether symbols other than ASCII are punctuation.
        return !(isPunctuation || isSymbol) || other.properties.isWhitespace || other.isPunctuation
            || other.isASCII && other.isSymbol
    }

    private var isPunctuation: Bool {
        // Most letters are found without a table.
        if "a"..."z" ~= self || "A"..."Z" ~= self { return false }
        return switch properties.generalCategory {
        case .connectorPunctuation, .dashPunctuation, .openPunctuation, .closePunctuation, .initialPunctuation,
            .finalPunctuation, .otherPunctuation:
            true
        default: false
        }
    }

    private var isSymbol: Bool {
        [.mathSymbol, .currencySymbol, .modifierSymbol, .otherSymbol].contains(properties.generalCategory)
    }
}
