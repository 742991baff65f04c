/// A text as one line that a shell's prompt may hold: sanitized, and nothing in it that a shell expands.
///
/// bash expands backquotes, `$`, `\` and `!` in what its prompt variables hold (bash(1), "PROMPTING"), zsh also `%`
/// (zshmisc(1), "EXPANSION OF PROMPT SEQUENCES"). What a text says without them is not what it says, so such a text is
/// left out and not changed.
///
/// - Returns: nil for a text with one of these five characters, one of several lines, a drawing, one that shows
///   nothing, and one that takes more columns.
package func promptLine(_ text: String, columns: Int) -> String? {
    guard let line = singleLine(text), !line.utf8.contains(where: isExpandedInPrompts) else { return nil }
    let width = displayWidth(of: line)
    return width > 0 && width <= columns ? line : nil
}

/// A text as one harmless line without the characters that a shell expands, for where there is no other to take its
/// place; empty where nothing is left.
///
/// - Returns: nil for a text of several lines, and for a drawing.
package func promptText(_ text: String) -> String? {
    guard let line = singleLine(text) else { return nil }
    return line.utf8.contains(where: isExpandedInPrompts)
        ? sanitizedLine(String(decoding: line.utf8.filter { !isExpandedInPrompts($0) }, as: UTF8.self)) : line
}

/// A text of one line, sanitized; nil for one of several, and for a drawing: what has white space inside that is wider
/// than two columns, or more signs than letters and digits.
private func singleLine(_ text: String) -> String? {
    var (hasBegun, breaks, blanks, letters, signs) = (false, false, 0, 0, 0)
    // Line separators beyond ASCII become newlines.
    for byte in sanitizedText(text).utf8 {
        switch byte {
        case UInt8(ascii: " "): blanks += 1
        case UInt8(ascii: "\n"), UInt8(ascii: "\t"): breaks = true
        default:
            if hasBegun, breaks || blanks > 2 { return nil }
            (hasBegun, breaks, blanks) = (true, false, 0)
            let small = byte | 0x20
            if byte >= 0x80 || 0x61...0x7A ~= small || 0x30...0x39 ~= byte { letters += 1 } else { signs += 1 }
        }
    }
    return signs > letters ? nil : sanitizedLine(text)
}

private func isExpandedInPrompts(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "!"), UInt8(ascii: "$"), UInt8(ascii: "%"), UInt8(ascii: "\\"), UInt8(ascii: "`"): true
    default: false
    }
}
