/// Returns a text as one sanitized line that is safe in a shell's prompt. Returns nil for several lines, a drawing, an
/// invisible text, more than `columns` columns, and a text with a character that a shell expands. Without that
/// character, the text would have another meaning. bash expands backquotes, `$`, `\` and `!` (bash(1), "PROMPTING"),
/// zsh also `%` (zshmisc(1), "EXPANSION OF PROMPT SEQUENCES").
package func promptLine(_ text: String, columns: Int) -> String? {
    guard let line = singleLine(text), !line.utf8.contains(where: isExpandedInPrompts) else { return nil }
    let width = displayWidth(of: line)
    return width > 0 && width <= columns ? line : nil
}

/// Removes the characters that a shell expands from a text, as a fallback if ``promptLine(_:columns:)`` accepts no
/// text. The result may be empty, and is nil for a text of several lines and for a drawing.
package func promptText(_ text: String) -> String? {
    guard let line = singleLine(text) else { return nil }
    return line.utf8.contains(where: isExpandedInPrompts)
        ? sanitizedLine(String(decoding: line.utf8.filter { !isExpandedInPrompts($0) }, as: UTF8.self)) : line
}

/// Returns a text as one sanitized line. Returns nil for several lines and for a drawing: a text with a gap of more
/// than two columns, or with more signs than letters and digits.
private func singleLine(_ text: String) -> String? {
    var (hasBegun, breaks, blanks, letters, signs) = (false, false, 0, 0, 0)
    // Other line separators are converted to newlines.
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
