import NorrisProtocol
import NorrisTestSupport

/// Hostile texts of upstreams, files and users.
enum Hostile {
    /// Terminal sequences, complete and incomplete, each with ESC and a letter and with a C1 control; C0, DEL, C1, bidi
    /// controls and line separators. No NUL, because an argument cannot contain NUL.
    static let argument =
        "a\u{1B}[31mb\u{1B}]0;title\u{7}c\u{9B}2Jd\u{8}\u{7F}e\u{85}f\u{202E}g\u{2066}\u{2028}h\r\ni\tj"
        + "\u{1B}]52;c;eA==\u{7}k\u{1B}]8;;javascript:x\u{1B}\\l\u{1B}P$qm\u{1B}\\m\u{9D}0;x\u{9C}n\u{90}q"
        + "\u{1B}[5n\u{200F}\u{1B}_x\u{1B}\\o\u{1B}[2"

    static let text = argument + "\u{0}p\u{1B}"

    static let json = JSON.string(text).jsonText

    /// `text` as a JSON string that escapes only the characters for which RFC 8259 requires an escape.
    static let rawJSON =
        "\""
        + text.unicodeScalars.map { scalar in
            scalar.value < 0x20 || scalar == "\\"
                ? String(JSON.string(String(scalar)).jsonText.dropFirst().dropLast()) : String(scalar)
        }.joined() + "\""

    /// Invalid UTF-8: overlong forms, a surrogate, an invalid lead byte, a single-byte C1, a truncated sequence.
    static let bytes: [UInt8] =
        Array(argument.utf8)
        + [0xC0, 0x9B, 0xE0, 0x82, 0x9B, 0xED, 0xA0, 0x80, 0xF5, 0x80, 0x80, 0x80, 0x9B, 0x33, 0xE2, 0x80]
}
