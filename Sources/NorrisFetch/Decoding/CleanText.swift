import NorrisProtocol
import NorrisText

/// A sanitized text of several lines, limited to `length` code points; nil if empty. White space at its ends is
/// removed, except the indentation of code in the first line.
func cleanText(_ text: String, upTo length: Int) -> String? { cut(cleanText(text), to: length) }

/// A sanitized text of several lines, which may be empty.
func cleanText(_ text: String) -> String {
    let text = trimmedEnd(sanitizedText(text))
    let body = text.unicodeScalars.drop(while: \.properties.isWhitespace)
    let gap = text.unicodeScalars[..<body.startIndex]
    let indentation = gap.lastIndex(of: "\n").map { gap[gap.index(after: $0)...] } ?? gap
    let isCode = indentation.starts(with: "    ".unicodeScalars)
    return String(isCode ? text[indentation.startIndex...] : text[body.startIndex...])
}

/// A sanitized text of one line, limited to `length` code points; nil if empty.
func cleanLine(_ text: String, upTo length: Int) -> String? { cut(sanitizedLine(text), to: length) }

/// Shortens a text to `length` code points, of which the last is an ellipsis. Returns nil for an empty text.
func cut(_ text: String, to length: Int) -> String? {
    if text.isEmpty { return nil }
    return text.unicodeScalars.count <= length ? text : trimmedEnd(prefix(of: text, codePoints: length - 1)) + "…"
}

func prefix(of text: String, codePoints: Int) -> String {
    String(String.UnicodeScalarView(text.unicodeScalars.prefix(codePoints)))
}

func trimmed(_ text: String) -> String {
    String(trimmedEnd(text).unicodeScalars.drop(while: \.properties.isWhitespace))
}

private func trimmedEnd(_ text: String) -> String {
    var text = text.unicodeScalars[...]
    while text.last?.properties.isWhitespace == true { text.removeLast() }
    return String(text)
}

/// An email address in lower case; nil if the text is not an address.
func cleanEmail(_ text: String) -> String? {
    let email = sanitizedLine(text).lowercased()
    guard email.utf8.count <= Post.Limit.email, email.contains("@"), !email.contains(where: \.isWhitespace) else {
        return nil
    }
    return email
}

/// Whether a file is a picture, judged by its media type, or without one by the extension in its URL.
func isImage(type: String?, url: String) -> Bool {
    if let type { return type.lowercased().prefix { $0 != "/" } == "image" }
    let path = url.prefix { $0 != "?" && $0 != "#" }.lowercased()
    return [".avif", ".gif", ".jpeg", ".jpg", ".png", ".webp"].contains(where: path.hasSuffix)
}

// Comparison of a byte with an ASCII character: `byte == "<"`, `case "a"..."z"`.

func == (byte: UInt8, character: Unicode.Scalar) -> Bool { byte == UInt8(ascii: character) }
func != (byte: UInt8, character: Unicode.Scalar) -> Bool { byte != UInt8(ascii: character) }
func == (byte: UInt8?, character: Unicode.Scalar) -> Bool { byte == UInt8(ascii: character) }
func != (byte: UInt8?, character: Unicode.Scalar) -> Bool { byte != UInt8(ascii: character) }
func ~= (character: Unicode.Scalar, byte: UInt8) -> Bool { byte == UInt8(ascii: character) }
func ~= (characters: ClosedRange<Unicode.Scalar>, byte: UInt8) -> Bool { characters.contains(Unicode.Scalar(byte)) }

/// Whether the byte is space, tab, LF or CR: the white space of XML and JSON.
func isWhiteSpace(_ byte: UInt8) -> Bool { byte == " " || byte == "\n" || byte == "\r" || byte == "\t" }

func isDigit(_ byte: UInt8) -> Bool { "0"..."9" ~= byte }

func isLetter(_ byte: UInt8) -> Bool { "a"..."z" ~= byte | 0x20 }

func isLetterOrDigit(_ byte: UInt8) -> Bool { isLetter(byte) || isDigit(byte) }

/// Whether a text consists of ASCII digits and is not empty.
func isNumber(_ text: some StringProtocol) -> Bool { !text.isEmpty && text.utf8.allSatisfy(isDigit) }
