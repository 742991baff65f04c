import NorrisText

/// A word as a POSIX shell reads it back to the same bytes: as it is if nothing in it is special anywhere, else in
/// single quotes, where nothing but the quote itself is special.
package func shellQuoted(_ word: String) -> String {
    let isPlain = !word.isEmpty && word.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default:
            "-_./:@,+".utf8.contains(byte)
        }
    }
    if isPlain {
        return word
    }
    var quoted = "'"
    for scalar in word.unicodeScalars {
        if scalar == "'" {
            quoted += "'\\''"
        } else {
            quoted.unicodeScalars.append(scalar)
        }
    }
    return quoted + "'"
}

/// A command line to be shown and copied; nil if a word holds what must not reach a terminal, for then the text shown
/// would not be the text meant.
package func shellCommand(_ words: [String]) -> String? {
    guard words.allSatisfy({ $0.utf8.elementsEqual(sanitizedText($0).utf8) && !$0.utf8.contains { $0 < 0x20 } }) else {
        return nil
    }
    return words.map(shellQuoted).joined(separator: " ")
}
