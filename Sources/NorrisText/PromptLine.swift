/// Returns a text as one sanitized line that is safe in a shell's prompt. Returns nil for several lines, a drawing, an
/// invisible text, more than `columns` columns, and a text with a character that a shell expands. Without that
/// character, the text would have another meaning. bash expands backquotes, `$`, `\` and `!` (bash(1), "PROMPTING"),
/// zsh also `%` (zshmisc(1), "EXPANSION OF PROMPT SEQUENCES").
///
/// Also returns nil for a text with U+200D, a regional indicator or a tag character: shells and terminals disagree
/// about the columns of such sequences, and a wrong width displaces the line.
package func promptLine(_ text: String, columns: Int) -> String? {
    guard let line = singleLine(text), !line.unicodeScalars.contains(where: isUnsuitableForPrompts) else { return nil }
    let width = displayWidth(of: line)
    return width > 0 && width <= columns ? line : nil
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

private func isUnsuitableForPrompts(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "!", "$", "%", "\\", "`": true
    case "\u{200D}", "\u{1F1E6}"..."\u{1F1FF}", "\u{E0000}"..."\u{E007F}": true
    default: false
    }
}
