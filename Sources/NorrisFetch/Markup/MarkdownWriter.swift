import NorrisProtocol
import NorrisText

/// Blocks as CommonMark (https://spec.commonmark.org/0.31.2) with the tables and `~~` of GitHub.
///
/// The highest level of headings becomes the second, the next one the third. A content that is too long for a post ends
/// after a block, with an ellipsis; it is empty if the first block is too long.
func markdown(of blocks: [PostBlock]) -> String {
    var writer = MarkdownWriter(levels: Set(headingLevels(in: blocks)).sorted())
    writer.write(blocks, prefix: [], isTight: false)
    let text = String(decoding: writer.bytes[..<writer.end], as: UTF8.self)
    return writer.isFull && !text.isEmpty ? "\(text)\n\n…" : text
}

private func headingLevels(in blocks: [PostBlock]) -> [Int] {
    blocks.flatMap { block -> [Int] in
        switch block {
        case .heading(let level, _): [level]
        case .quotation(let blocks): headingLevels(in: blocks)
        case .list(_, let items): headingLevels(in: Array(items.joined()))
        default: []
        }
    }
}

private struct MarkdownWriter {
    let levels: [Int]
    private(set) var bytes: [UInt8] = []
    /// The end of the last block that is complete, and its code points before.
    private(set) var end = 0
    private var codePoints = 0

    /// Whether no further block fits, with the ellipsis after it.
    var isFull: Bool { codePoints > Post.Limit.text - 3 }

    init(levels: [Int]) { self.levels = levels }

    /// - Parameters:
    ///   - prefix: that of each line but the first.
    ///   - isTight: whether no empty lines are between the blocks.
    mutating func write(_ blocks: [PostBlock], prefix: [UInt8], isTight: Bool) {
        // Lists that follow each other have different marks.
        var usesOther = false
        for (index, block) in blocks.enumerated() where !isFull {
            if index > 0 { separate(prefix, isTight: isTight) }
            switch block {
            case .paragraph(let spans): write(line(spans), prefix)
            case .heading(let level, let spans):
                let marks = min((levels.firstIndex(of: level) ?? 0) + 2, 6)
                var text = line(spans, in: .heading)
                if text.last == "#" { text.insert(UInt8(ascii: "\\"), at: text.count - 1) }
                write(repeatElement(UInt8(ascii: "#"), count: marks) + [0x20] + text, prefix)
            case .code(let text, let language):
                let fence = backquotes(max(3, longestRun(of: backquote, in: text.utf8) + 1))
                write(Array("\(fence)\(language)\n\(text)\n\(fence)".utf8), prefix)
            case .rule: write(Array("---".utf8), prefix)
            case .table(let rows):
                let rows = rows.map { $0.map { line($0, in: .cell) } }
                let rule = rows.prefix(1).map { $0.map { _ in Array("---".utf8) } }
                let lines = (rows.prefix(1) + rule + rows.dropFirst()).map { row in
                    Array("|".utf8) + row.flatMap { [0x20] + $0 + " |".utf8 }
                }
                write(Array(lines.joined(separator: [0x0A])), prefix)
            case .quotation(let blocks):
                bytes += "> ".utf8
                write(blocks, prefix: prefix + "> ".utf8, isTight: false)
            case .list(let start, let items):
                if case .list(let previous, _)? = index > 0 ? blocks[index - 1] : nil,
                    (previous == nil) == (start == nil)
                {
                    usesOther.toggle()
                } else {
                    usesOther = false
                }
                write(items, from: start, marks: usesOther ? ("+", ")") : ("-", "."), prefix)
            }
        }
    }

    private mutating func write(
        _ items: [[PostBlock]], from start: Int?, marks: (String, String), _ prefix: [UInt8]
    ) {
        let isTight = PostBlock.isTight(items)
        for (index, item) in items.enumerated() where !isFull {
            if index > 0 { separate(prefix, isTight: isTight) }
            let marker = (start.map { "\($0 + index)\(marks.1) " } ?? "\(marks.0) ").utf8
            bytes += marker
            write(item, prefix: prefix + repeatElement(0x20, count: marker.count), isTight: isTight)
        }
    }

    private mutating func separate(_ prefix: [UInt8], isTight: Bool) {
        bytes.append(0x0A)
        if !isTight { bytes += trimmed(prefix) + [0x0A] }
        bytes += prefix
    }

    private func trimmed(_ prefix: [UInt8]) -> ArraySlice<UInt8> {
        prefix.prefix(through: prefix.lastIndex { $0 != 0x20 } ?? -1)
    }

    /// Writes a block without blocks in it.
    private mutating func write(_ block: [UInt8], _ prefix: [UInt8]) {
        var rest = block[...]
        while let end = rest.firstIndex(of: 0x0A) {
            bytes += rest[...end]
            rest = rest[(end + 1)...]
            bytes += rest.first == 0x0A ? trimmed(prefix) : prefix[...]
        }
        bytes += rest
        codePoints += bytes[end...].count { $0 & 0xC0 != 0x80 }
        if !isFull { end = bytes.count }
    }

    private func line(_ spans: [PostSpan], in place: MarkdownLine.Place = .paragraph) -> [UInt8] {
        var line = MarkdownLine(place: place)
        line.write(spans[...], within: PostSpan(), before: nil)
        if place != .cell { return line.bytes }
        return line.bytes.flatMap { $0 == "|" ? [UInt8(ascii: "\\"), $0] : [$0] }
    }
}

/// The text of a paragraph, a heading or a cell.
private struct MarkdownLine {
    enum Place { case paragraph, heading, cell }

    private static let marks: [(mark: PostSpan.Marks, text: String)] = [
        (.strong, "**"), (.emphasis, "*"), (.deleted, "~~"),
    ]

    let place: Place
    var bytes: [UInt8] = []

    init(place: Place) { self.place = place }

    /// Writes spans with their marks and links, but those that are around them already.
    mutating func write(_ spans: ArraySlice<PostSpan>, within outer: PostSpan, before next: PostSpan?) {
        var rest = spans
        while let span = rest.first {
            if span.link == outer.link, span.marks.isSubset(of: outer.marks.union(.code)) {
                rest = rest.dropFirst()
                write(span, before: rest.first ?? next)
                continue
            }
            // The style that lasts longest is outside.
            var (group, inner, mark) = (rest.prefix(0), outer, "")
            if span.link != outer.link {
                group = rest.prefix { $0.link == span.link }
                inner.link = span.link
            }
            for (other, text) in Self.marks where span.marks.subtracting(outer.marks).contains(other) {
                let marked = rest.prefix { $0.marks.contains(other) }
                if marked.count > group.count {
                    (group, inner, mark) = (marked, outer, text)
                    inner.marks.insert(other)
                }
            }
            rest = rest[group.endIndex...]
            let start = bytes.count
            write(group, within: inner, before: rest.first ?? next)
            if mark.isEmpty, let address = inner.link {
                bytes.insert(UInt8(ascii: "["), at: start)
                close(address)
            } else {
                let isNested = !outer.marks.isDisjoint(with: [.strong, .emphasis])
                enclose(from: start, in: mark, isNested: isNested, before: rest.first ?? next)
            }
        }
    }

    private mutating func write(_ span: PostSpan, before next: PostSpan?) {
        if let picture = span.picture {
            bytes += "![".utf8
            escape(Array(span.text.utf8), isLinked: true, before: span)
            close(picture)
        } else if span.marks.contains(.code), bytes.last != "`" {
            let text = span.text.utf8
            let mark = backquotes(longestRun(of: backquote, in: text) + 1)
            let isPadded = text.first == "`" || text.last == "`" || text.first == " " && text.last == " "
            bytes += (isPadded ? "\(mark) \(span.text) \(mark)" : "\(mark)\(span.text)\(mark)").utf8
        } else {
            escape(Array(span.text.utf8), isLinked: span.link != nil, before: next)
        }
    }

    /// Writes text, and escapes what would be a mark.
    private mutating func escape(_ text: [UInt8], isLinked: Bool, before next: PostSpan?) {
        let canBeMark = Self.canBeMark
        var index = 0
        while index < text.count {
            if place != .cell, bytes.isEmpty || bytes.last == "\n" {
                let length = markLength(text[index...], isLast: next == nil)
                if length > 0 {
                    bytes += text[index..<index + length - 1] + [UInt8(ascii: "\\"), text[index + length - 1]]
                }
                index += length
            }
            let mark = text[index...].firstIndex { canBeMark[Int($0)] } ?? text.count
            bytes += text[index..<mark]
            guard mark < text.count else { return }
            let after = mark + 1 < text.count ? text[mark + 1] : next == nil ? 0x20 : 0
            let isMark =
                switch text[mark] {
                case "\n": place == .paragraph
                case "]": isLinked
                case "_": !(isLetterOrDigit(mark > 0 ? text[mark - 1] : 0) && isLetterOrDigit(after))
                case "<": after == 0 || isLetter(after) || "/!?".utf8.contains(after)
                case "!": after == 0
                // GitHub reads `![^` as a footnote.
                case "^": isLinked && mark == 0
                case "&": beginsReference(text[mark...], isLast: next == nil)
                default: true
                }
            if isMark { bytes.append(UInt8(ascii: "\\")) }
            bytes.append(text[mark] == "\n" && place != .paragraph ? 0x20 : text[mark])
            index = mark + 1
        }
    }

    private static let canBeMark: [Bool] = (0...255).map { "\n\\`*_~[]<!&^".utf8.contains($0) }

    /// The length of the mark of a block at the beginning of a line, up to the character to be escaped; 0 without one.
    private func markLength(_ text: ArraySlice<UInt8>, isLast: Bool) -> Int {
        let ends = { (rest: ArraySlice<UInt8>) in rest.first.map(isWhiteSpace) ?? true }
        let first = text.first ?? 0
        switch first {
        case "#": return ends(text.drop { $0 == first }) ? 1 : 0
        case ">", "=", "|": return 1
        case "-": return text.dropFirst().first.map { isLetterOrDigit($0) || $0 >= 0x80 } == true ? 0 : 1
        case "+": return ends(text.dropFirst()) ? 1 : 0
        case ":": return text.dropFirst().first == "-" ? 1 : 0
        case "0"..."9":
            let rest = text.drop(while: isDigit)
            guard rest.first == "." || rest.first == ")", ends(rest.dropFirst()) else { return 0 }
            return rest.startIndex - text.startIndex + 1
        default: return 0
        }
    }

    private func beginsReference(_ text: ArraySlice<UInt8>, isLast: Bool) -> Bool {
        let rest = text.dropFirst().prefix(34).drop { isLetterOrDigit($0) || $0 == "#" }
        return rest.isEmpty ? !isLast : rest.first == ";"
    }

    /// Ends the words of a link, and writes its address.
    private mutating func close(_ address: String) {
        let isBracketed = address.utf8.contains { "()<> ".utf8.contains($0) }
        bytes += (isBracketed ? "](<" : "](").utf8
        let address = Array(address.utf8)
        for index in address.indices {
            let isMark =
                "\\<>".utf8.contains(address[index])
                || address[index] == "&" && beginsReference(address[index...], isLast: true)
            if isMark { bytes.append(UInt8(ascii: "\\")) }
            bytes.append(address[index])
        }
        bytes += (isBracketed ? ">)" : ")").utf8
    }

    /// Writes marks of emphasis around the text from a position on, if they have effect there. Without effect, marks of
    /// deleted text are text, because they change its meaning.
    private mutating func enclose(from start: Int, in mark: String, isNested: Bool, before next: PostSpan?) {
        let byte = mark.utf8.first ?? 0
        let before = scalars(bytes[..<start].suffix(4)).last ?? " "
        let first = scalars(bytes[start...].drop { $0 == byte }.prefix(4)).first ?? " "
        let end = bytes.lastIndex { $0 != byte } ?? start
        let last = scalars(bytes[max(start, end - 3)...max(start, end)]).last ?? " "
        let after = next.map(following) ?? " "
        var hasEffect =
            bytes[..<start].last != byte && first.canFollowMark(after: before) && last.canFollowMark(after: after)
        // Within other marks, a mark that could begin and end a part could end the wrong one.
        if isNested, before.canFollowMark(after: first) || after.canFollowMark(after: last) { hasEffect = false }
        if !hasEffect, mark != "~~" { return }
        bytes.insert(contentsOf: (hasEffect ? mark : "\\~\\~").utf8, at: start)
        bytes += (hasEffect ? mark : "\\~\\~").utf8
    }

    /// The character before which a mark ends.
    private func following(_ next: PostSpan) -> Unicode.Scalar {
        if next.picture != nil { return "!" }
        return next.marks.contains(.code) ? "`" : next.text.unicodeScalars.first ?? " "
    }
}

private func scalars(_ bytes: ArraySlice<UInt8>) -> String.UnicodeScalarView {
    String(decoding: bytes, as: UTF8.self).unicodeScalars
}

private let backquote = UInt8(ascii: "`")

private func backquotes(_ count: Int) -> String { String(repeating: "`", count: count) }

private func longestRun(of byte: UInt8, in text: String.UTF8View) -> Int {
    text.split(omittingEmptySubsequences: true) { $0 != byte }.lazy.map(\.count).max() ?? 0
}
