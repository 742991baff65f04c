import NorrisProtocol

/// What upstreams and others send who mean no good.
enum Hostile {
    /// Without NUL, for an argument of a command cannot hold one.
    ///
    /// Colours, titles, links, the clipboard, a query of the terminal, each with its introducer as ESC and a letter and
    /// as one C1 control; complete and not; C0, DEL, C1, bidi controls, separators of lines.
    static let argument =
        "a\u{1B}[31mb\u{1B}]0;title\u{7}c\u{9B}2Jd\u{8}\u{7F}e\u{85}f\u{202E}g\u{2066}\u{2028}h\r\ni\tj"
        + "\u{1B}]52;c;eA==\u{7}k\u{1B}]8;;javascript:x\u{1B}\\l\u{1B}P$qm\u{1B}\\m\u{9D}0;x\u{9C}n\u{90}q"
        + "\u{1B}[5n\u{200F}\u{1B}_x\u{1B}\\o\u{1B}[2"

    static let text = argument + "\u{0}p\u{1B}"

    /// A JSON string of it.
    static let json = JSON.string(text).jsonText

    /// The same with the bytes that RFC 8259 allows as they are.
    static let rawJSON = "\"" + text.unicodeScalars.map { scalar in
        scalar.value < 0x20 || scalar == "\\"
            ? String(JSON.string(String(scalar)).jsonText.dropFirst().dropLast()) : String(scalar)
    }.joined() + "\""

    /// Bytes that are not UTF-8: overlong, a surrogate, cut short, out of range, a C1 control of another encoding.
    static let bytes: [UInt8] =
        Array(argument.utf8)
        + [0xC0, 0x9B, 0xE0, 0x82, 0x9B, 0xED, 0xA0, 0x80, 0xF5, 0x80, 0x80, 0x80, 0x9B, 0x33, 0xE2, 0x80]

    /// An address that is none any more when its controls are seen.
    static let address = "https://e.example/\u{1B}]0;x\u{7}\u{9B}m\u{202E}"
}
