import NorrisText

/// A word as a POSIX shell reads it back to the same bytes: as it is if nothing in it is special anywhere, else in
/// single quotes, where nothing but the quote itself is special.
package func shellQuoted(_ word: String) -> String {
    let isPlain = word.utf8.allSatisfy { byte in
        let small = byte | 0x20
        return 0x61...0x7A ~= small || 0x30...0x39 ~= byte || "-_./:@,+".utf8.contains(byte)
    }
    if isPlain, !word.isEmpty { return word }
    // By scalars: a quote and a combining mark behind it are one character.
    let quoted = word.unicodeScalars.map { $0 == "'" ? "'\\''" : String($0) }.joined()
    return "'\(quoted)'"
}

/// A command line to be shown and copied; nil if a word holds what must not reach a terminal, for then the text shown
/// would not be the text meant.
package func shellCommand(_ words: [String]) -> String? {
    let isShown = words.allSatisfy { word in
        word.utf8.elementsEqual(sanitizedText(word).utf8) && word.utf8.allSatisfy { $0 >= 0x20 }
    }
    return isShown ? words.map(shellQuoted).joined(separator: " ") : nil
}
