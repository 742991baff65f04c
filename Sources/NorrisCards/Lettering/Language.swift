import NorrisText

/// The language that fonts for a text are chosen by, as a tag of BCP 47 that fontconfig knows.
///
/// It matters where scripts share characters: the same Han character is written differently in Japan, Korea and China.
/// Other scripts need none; Pango finds their fonts.
func language(of text: String) -> String {
    var hasHan = false
    var hasHangul = false
    for scalar in text.unicodeScalars {
        switch scalar.value {
        case 0x3041...0x30FF, 0xFF66...0xFF9D: return "ja"
        case 0x1100...0x11FF, 0x3131...0x318E, 0xAC00...0xD7A3: hasHangul = true
        case 0x3400...0x9FFF, 0xF900...0xFAFF, 0x20000...0x3FFFF: hasHan = true
        default: break
        }
    }
    return hasHangul ? "ko" : hasHan ? "zh-cn" : "en"
}

/// Whether the first letter of a text is of a script that is written from right to left (UAX #9, rule P2).
func isRightToLeft(_ text: String) -> Bool {
    text.unicodeScalars.first(where: \.properties.isAlphabetic).map { containsRightToLeft(String($0)) } ?? false
}
