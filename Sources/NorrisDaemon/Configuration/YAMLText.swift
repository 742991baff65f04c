/// What a plain (unquoted) scalar is by the core schema of YAML 1.2.2, section 10.3.2.
///
/// Decided by the text here, because YAML 1.1 libraries also take `yes`, `on` and `1:30` for something else than text.
enum PlainScalarKind {
    case null, boolean, number, text

    init(_ text: String) {
        switch text {
        case "", "~", "null", "Null", "NULL": self = .null
        case "true", "True", "TRUE", "false", "False", "FALSE": self = .boolean
        default: self = Self.isNumber(text) ? .number : .text
        }
    }

    private static func isNumber(_ text: String) -> Bool {
        var digits = text[...]
        if digits.first == "-" || digits.first == "+" { digits.removeFirst() }
        if [".inf", ".Inf", ".INF", ".nan", ".NaN", ".NAN"].contains(digits) { return true }
        if digits.hasPrefix("0o") { return Int64(digits.dropFirst(2), radix: 8) != nil }
        // `Double` also reads "inf" and "nan", which are text in YAML.
        guard let first = digits.utf8.first, first == 0x2E || (0x30...0x39).contains(first) else { return false }
        return Double(digits) != nil
    }
}

/// Writing strings as YAML.
enum YAMLText {
    /// The string as a plain scalar where every YAML reader takes that for this string, else in double quotes.
    static func scalar(_ text: String) -> String {
        isSafePlain(text) ? text : quoted(text)
    }

    /// The string in double quotes, everything escaped that is not visible or could reorder what is.
    static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": result += "\\\(scalar)"
            case "\n": result += "\\n"
            case "\t": result += "\\t"
            case _ where isVisible(scalar): result.unicodeScalars.append(scalar)
            default: result += escape(scalar)
            }
        }
        return result + "\""
    }

    /// Visible, or a space: no control, format, separator, private or unassigned code point.
    static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: false
        default: true
        }
    }

    private static func escape(_ scalar: Unicode.Scalar) -> String {
        let digits = String(scalar.value, radix: 16, uppercase: true)
        let (letter, width) = scalar.value < 0x100 ? ("x", 2) : scalar.value < 0x10000 ? ("u", 4) : ("U", 8)
        return "\\\(letter)" + String(repeating: "0", count: width - digits.count) + digits
    }

    /// Stricter than it need be: what may be a number, a date or a YAML 1.1 boolean anywhere is quoted.
    private static func isSafePlain(_ text: String) -> Bool {
        guard let first = text.utf8.first, isLetter(first) || first == 0x2F,
            text.utf8.allSatisfy({ isLetter($0) || (0x30...0x39).contains($0) || " /._+-:".utf8.contains($0) }),
            text.utf8.last != 0x20, text.utf8.last != 0x3A
        else { return false }
        let words: Set = ["y", "n", "yes", "no", "on", "off", "true", "false", "null"]
        return !text.contains(": ") && !words.contains(text.lowercased())
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
    }
}
