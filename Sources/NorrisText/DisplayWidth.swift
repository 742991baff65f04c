/// The columns of a text in a terminal. Controls, including newlines and tabs, have no columns.
package func displayWidth(of text: String) -> Int {
    var columns = 0
    for byte in text.utf8 {
        guard byte < 0x80 else { return text.reduce(0) { $0 + displayWidth(of: $1) } }
        columns += 0x20..<0x7F ~= byte ? 1 : 0
    }
    return columns
}

/// The columns of an extended grapheme cluster in a terminal. East Asian ambiguous width (UAX #11) is one column.
///
/// A cluster that begins with an emoji is as wide as its widest part: sequences with joiners and skin tones are one
/// picture of two columns. An emoji has two columns with U+FE0F and one with U+FE0E (UTS #51). The parts of any other
/// cluster are added, as in terminals without clusters: Hangul jamo, regional indicators, spacing vowel signs.
package func displayWidth(of cluster: Character) -> Int {
    var scalars = cluster.unicodeScalars.makeIterator()
    guard let base = scalars.next() else { return 0 }
    guard let second = scalars.next() else { return base.columns }
    let isEmoji = base.isIn(UnicodeTables.emoji)
    if isEmoji && second == "\u{FE0F}" { return 2 }
    if isEmoji && second == "\u{FE0E}" { return 1 }
    var sum = base.columns + second.columns
    var widest = max(base.columns, second.columns)
    while let scalar = scalars.next() {
        sum += scalar.columns
        widest = max(widest, scalar.columns)
    }
    return isEmoji ? widest : sum
}

/// Cuts a line that is too long between grapheme clusters, and ends it with `…`. The result may be a column short, has
/// no white space before the `…`, and is empty for zero columns or fewer.
package func truncated(_ line: String, toColumns columns: Int) -> String {
    guard displayWidth(of: line) > columns else { return line }
    guard columns > 0 else { return "" }
    var result = ""
    var free = columns - 1
    for cluster in line {
        free -= displayWidth(of: cluster)
        guard free >= 0 else { break }
        result.append(cluster)
    }
    while result.last?.isWhitespace == true { result.removeLast() }
    return result + "…"
}

package func padded(_ line: String, toColumns columns: Int) -> String {
    let missing = columns - displayWidth(of: line)
    return missing > 0 ? line + String(repeating: " ", count: missing) : line
}

/// Whether a text contains a right-to-left script, such as Arabic or Hebrew. A terminal with the bidirectional
/// algorithm (UAX #9) reorders other text on the same line, especially digits and punctuation.
package func containsRightToLeft(_ text: String) -> Bool {
    // In UTF-8, the first byte of each such character is 0xD6 or more.
    guard text.utf8.contains(where: { $0 >= 0xD6 }) else { return false }
    return text.unicodeScalars.contains { scalar in
        switch scalar.value {
        case 0x590...0x8FF, 0xFB1D...0xFDFF, 0xFE70...0xFEFF, 0x10800...0x10FFF, 0x1E800...0x1EFFF: true
        default: false
        }
    }
}

extension Unicode.Scalar {
    /// The columns of the scalar without others: 0, 1 or 2.
    fileprivate var columns: Int {
        // The tables of widths contain no scalar below the combining accents.
        if value < 0x300 { return value < 0x20 || 0x7F..<0xA0 ~= value ? 0 : 1 }
        return isIn(UnicodeTables.zeroWidth) ? 0 : isIn(UnicodeTables.wide) ? 2 : 1
    }

    fileprivate func isIn(_ ranges: [UInt32]) -> Bool {
        var low = 0
        var high = ranges.count / 2
        while low < high {
            let middle = (low + high) / 2
            if ranges[2 * middle + 1] < value { low = middle + 1 } else { high = middle }
        }
        return 2 * low < ranges.count && ranges[2 * low] <= value
    }
}
