/// A word in a form that a POSIX shell reads as the same bytes: unchanged without special characters, else in single
/// quotes, in which only the quote is special.
package func shellQuoted(_ word: String) -> String {
    let isPlain = word.utf8.allSatisfy { byte in
        let small = byte | 0x20
        return 0x61...0x7A ~= small || 0x30...0x39 ~= byte || "-_./:@,+".utf8.contains(byte)
    }
    if isPlain, !word.isEmpty { return word }
    // By scalars, because a quote and a combining mark after it form one character.
    let quoted = word.unicodeScalars.map { $0 == "'" ? "'\\''" : String($0) }.joined()
    return "'\(quoted)'"
}

/// A command line for display and copying; nil if a word contains characters that must not reach a terminal, because
/// the displayed text would differ from the word.
package func shellCommand(_ words: [String]) -> String? {
    let isShown = words.allSatisfy { word in
        word.utf8.elementsEqual(sanitizedText(word).utf8) && word.utf8.allSatisfy { $0 >= 0x20 }
    }
    return isShown ? words.map(shellQuoted).joined(separator: " ") : nil
}
