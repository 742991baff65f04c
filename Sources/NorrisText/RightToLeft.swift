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
