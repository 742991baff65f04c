/// A text as one line that a shell's prompt may hold: sanitized, and nothing in it that a shell expands.
///
/// bash expands backquotes, `$`, `\` and `!` in what its prompt variables hold (bash(1), "PROMPTING"), zsh also `%`
/// (zshmisc(1), "EXPANSION OF PROMPT SEQUENCES"). What a text says without them is not what it says, so such a text is
/// left out and not changed.
///
/// - Returns: nil for a text with one of these five characters, one that shows nothing, and one that takes more columns.
package func promptLine(_ text: String, columns: Int) -> String? {
    let line = sanitizedLine(text)
    guard !line.utf8.contains(where: isExpandedInPrompts) else { return nil }
    let width = displayWidth(of: line)
    return width > 0 && width <= columns ? line : nil
}

/// A text as one harmless line without the characters that a shell expands, for where there is no other to take its
/// place; empty where nothing is left.
package func promptText(_ text: String) -> String {
    guard text.utf8.contains(where: isExpandedInPrompts) else { return sanitizedLine(text) }
    return sanitizedLine(String(decoding: text.utf8.filter { !isExpandedInPrompts($0) }, as: UTF8.self))
}

private func isExpandedInPrompts(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "!"), UInt8(ascii: "$"), UInt8(ascii: "%"), UInt8(ascii: "\\"), UInt8(ascii: "`"): true
    default: false
    }
}
