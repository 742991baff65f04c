/// The columns a text takes in a terminal, without regard to newlines and tabs, which count 0 as all controls do.
///
/// Texts of ASCII alone are counted by the byte and never touch the Unicode tables.
package func displayWidth(of text: String) -> Int {
    var columns = 0
    for byte in text.utf8 {
        guard byte < 0x80 else { return text.reduce(0) { $0 + displayWidth(of: $1) } }
        columns += 0x20..<0x7F ~= byte ? 1 : 0
    }
    return columns
}

/// The columns an extended grapheme cluster takes in a terminal.
///
/// A cluster that starts with an emoji takes as much as its widest part: sequences with joiners and skin tones are
/// one picture of two columns. U+FE0F behind the emoji makes it two columns, U+FE0E one (UTS #51), so a keycap is two
/// with the selector and one without it. The parts of any other cluster are added up, as terminals do that know no
/// clusters: Hangul jamo (2 + 0 + 0), a flag of two regional indicators (1 + 1), Thai and Indic vowel signs that
/// stand beside their letter. East Asian ambiguous width (UAX #11) counts as one column.
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

/// A line cut to a number of columns, its last one then `…`; a line that fits comes back as it is.
///
/// Cut between grapheme clusters, so the result may be a column short; white space before the `…` goes. Nothing fits
/// into zero columns or fewer.
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

/// A line filled up with spaces to a number of columns; a line as wide or wider comes back as it is.
package func padded(_ line: String, toColumns columns: Int) -> String {
    let missing = columns - displayWidth(of: line)
    return missing > 0 ? line + String(repeating: " ", count: missing) : line
}

/// Whether a text holds a character of a script that is written from right to left, such as Arabic or Hebrew.
///
/// A terminal that knows the bidirectional algorithm (UAX #9) moves whatever stands on the same line as such a text,
/// digits and punctuation first of all.
package func containsRightToLeft(_ text: String) -> Bool {
    // None of them has fewer than two bytes in UTF-8, the first of which is 0xD6 or more.
    guard text.utf8.contains(where: { $0 >= 0xD6 }) else { return false }
    return text.unicodeScalars.contains { scalar in
        switch scalar.value {
        case 0x590...0x8FF, 0xFB1D...0xFDFF, 0xFE70...0xFEFF, 0x10800...0x10FFF, 0x1E800...0x1EFFF: true
        default: false
        }
    }
}

extension Unicode.Scalar {
    /// The columns the scalar takes by itself: 0, 1 or 2.
    fileprivate var columns: Int {
        // Nothing below the combining accents is in the tables of widths.
        if value < 0x300 { return value < 0x20 || 0x7F..<0xA0 ~= value ? 0 : 1 }
        return isIn(UnicodeTables.zeroWidth) ? 0 : isIn(UnicodeTables.wide) ? 2 : 1
    }

    /// Whether one of the sorted ranges of a table holds the scalar; see `UnicodeTables`.
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
