/// The columns a text takes in a terminal, without regard to newlines and tabs, which count 0 as all controls do.
///
/// Texts of ASCII alone are counted by the byte and never touch the Unicode tables.
package func displayWidth(of text: String) -> Int {
    var columns = 0
    for byte in text.utf8 {
        guard byte < 0x80 else {
            return text.reduce(0) { $0 + displayWidth(of: $1) }
        }
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
    if isEmoji && second == "\u{FE0F}" {
        return 2
    }
    if isEmoji && second == "\u{FE0E}" {
        return 1
    }
    var sum = base.columns + second.columns
    var widest = max(base.columns, second.columns)
    while let scalar = scalars.next() {
        sum += scalar.columns
        widest = max(widest, scalar.columns)
    }
    return isEmoji ? widest : sum
}

extension Unicode.Scalar {
    /// The columns the scalar takes by itself: 0, 1 or 2.
    fileprivate var columns: Int {
        // Nothing below the combining accents is in the tables of widths.
        if value < 0x300 {
            return value < 0x20 || 0x7F..<0xA0 ~= value ? 0 : 1
        }
        if isIn(UnicodeTables.zeroWidth) {
            return 0
        }
        return isIn(UnicodeTables.wide) ? 2 : 1
    }

    /// Whether one of the sorted ranges of a table holds the scalar; see `UnicodeTables`.
    fileprivate func isIn(_ ranges: [UInt32]) -> Bool {
        var low = 0
        var high = ranges.count / 2
        while low < high {
            let middle = (low + high) / 2
            if ranges[2 * middle + 1] < value {
                low = middle + 1
            } else {
                high = middle
            }
        }
        return 2 * low < ranges.count && ranges[2 * low] <= value
    }
}
