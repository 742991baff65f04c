import NorrisText

/// A text over several lines without white space at its ends, cut to a number of code points; nil if nothing is left.
func cleanText(_ text: String, upTo length: Int) -> String? { cut(trimmed(sanitizedText(text)), to: length) }

/// The same as one line.
func cleanLine(_ text: String, upTo length: Int) -> String? { cut(sanitizedLine(text), to: length) }

/// The first code points of a text that is too long, with an ellipsis as the last; nil for an empty one.
private func cut(_ text: String, to length: Int) -> String? {
    if text.isEmpty { return nil }
    return text.unicodeScalars.count <= length ? text : trimmed(prefix(of: text, codePoints: length - 1)) + "…"
}

func prefix(of text: String, codePoints: Int) -> String {
    String(String.UnicodeScalarView(text.unicodeScalars.prefix(codePoints)))
}

/// A text without white space at its ends.
func trimmed(_ text: String) -> String {
    var text = text.unicodeScalars[...]
    while text.first?.properties.isWhitespace == true { text.removeFirst() }
    while text.last?.properties.isWhitespace == true { text.removeLast() }
    return String(text)
}

/// An email address in small letters; nil for what is none.
func cleanEmail(_ text: String) -> String? {
    let email = sanitizedLine(text).lowercased()
    // Longer ones cannot be delivered to (RFC 5321, section 4.5.3.1.3).
    guard email.utf8.count <= 254, email.contains("@"), !email.contains(where: \.isWhitespace) else { return nil }
    return email
}

/// An `http` or `https` URL of at most 2,048 bytes; what people write in one though it may not stand there, such as
/// umlauts and spaces, is percent-encoded. Nil for anything else.
func cleanURL(_ text: String) -> String? {
    let text = trimmed(text)
    guard text.utf8.count <= 2048, text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else { return nil }
    var url = ""
    for byte in text.utf8 {
        // All bytes that are not allowed have two digits.
        url += isAllowedInURL(byte) ? String(Unicode.Scalar(byte)) : "%\(String(byte, radix: 16, uppercase: true))"
    }
    return url.utf8.count <= 2048 && HTTPURL(url) != nil ? url : nil
}

/// The URL that a reference in a document means, byte for byte as it stands there if it is absolute.
///
/// - Returns: nil for anything that is not `http` or `https` (`javascript:`, `data:`), and for nonsense.
func resolved(_ reference: String, at base: HTTPURL) -> String? {
    if let url = cleanURL(reference) { return url }
    // A URL without a scheme is cleaned behind a base that is made up.
    let prefix = "\(base.scheme)://x/"
    let reference = reference.drop(while: \.isWhitespace)
    guard !reference.isEmpty, let relative = cleanURL(prefix + reference)?.dropFirst(prefix.count) else { return nil }
    // The fragment is all that tells the entries of some feeds apart.
    let fragment = relative.drop { $0 != "#" }
    return base.resolving(String(relative)).map { $0.description + fragment }
}

/// Whether something that may be a picture is one: by its media type, else by the end of its URL.
func isImage(type: String?, url: String) -> Bool {
    if let type { return type.lowercased().hasPrefix("image/") }
    let path = url.prefix { $0 != "?" && $0 != "#" }.lowercased()
    return [".avif", ".gif", ".jpeg", ".jpg", ".png", ".webp"].contains(where: path.hasSuffix)
}

// Bytes compared with the ASCII characters that they encode: `byte == "<"`, `case "a"..."z"`.

func == (byte: UInt8, character: Unicode.Scalar) -> Bool { byte == UInt8(ascii: character) }
func != (byte: UInt8, character: Unicode.Scalar) -> Bool { byte != UInt8(ascii: character) }
func == (byte: UInt8?, character: Unicode.Scalar) -> Bool { byte == UInt8(ascii: character) }
func != (byte: UInt8?, character: Unicode.Scalar) -> Bool { byte != UInt8(ascii: character) }
func ~= (character: Unicode.Scalar, byte: UInt8) -> Bool { byte == UInt8(ascii: character) }
func ~= (characters: ClosedRange<Unicode.Scalar>, byte: UInt8) -> Bool { characters.contains(Unicode.Scalar(byte)) }

/// Space, tab, LF or CR: the white space of XML and JSON.
func isWhiteSpace(_ byte: UInt8) -> Bool { byte == " " || byte == "\n" || byte == "\r" || byte == "\t" }

func isDigit(_ byte: UInt8) -> Bool { "0"..."9" ~= byte }

func isLetter(_ byte: UInt8) -> Bool { "a"..."z" ~= byte | 0x20 }

func isLetterOrDigit(_ byte: UInt8) -> Bool { isLetter(byte) || isDigit(byte) }

/// Whether a text consists of ASCII digits.
func isNumber(_ text: some StringProtocol) -> Bool { !text.isEmpty && text.utf8.allSatisfy(isDigit) }
