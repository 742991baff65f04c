import NorrisText

/// A text over several lines without white space at its ends, cut to a number of code points; nil if nothing is left.
func cleanText(_ text: String, upTo length: Int) -> String? {
    let text = trimmed(sanitizedText(text))
    return text.isEmpty ? nil : cut(text, to: length)
}

/// The same as one line.
func cleanLine(_ text: String, upTo length: Int) -> String? {
    let line = sanitizedLine(text)
    return line.isEmpty ? nil : cut(line, to: length)
}

/// An address in small letters; nil for what is none.
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
    guard text.utf8.count <= 2048 else { return nil }
    var url = ""
    for byte in text.utf8 {
        switch byte {
        case ..<0x20, 0x7F:
            return nil
        case 0x80..., UInt8(ascii: " "), UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\\"),
            UInt8(ascii: "^"), UInt8(ascii: "`"), UInt8(ascii: "{"), UInt8(ascii: "|"), UInt8(ascii: "}"):
            // All of these have two digits.
            url += "%" + String(byte, radix: 16, uppercase: true)
        default:
            url.unicodeScalars.append(Unicode.Scalar(byte))
        }
    }
    return url.utf8.count <= 2048 && HTTPURL(url) != nil ? url : nil
}

/// The first code points of a text that is too long, with an ellipsis as the last.
private func cut(_ text: String, to length: Int) -> String {
    let scalars = text.unicodeScalars
    guard let end = scalars.index(scalars.startIndex, offsetBy: length, limitedBy: scalars.endIndex),
        end < scalars.endIndex
    else { return text }
    return trimmed(String(scalars[..<scalars.index(before: end)])) + "…"
}

private func trimmed(_ text: String) -> String {
    var text = text.unicodeScalars[...]
    while text.first?.properties.isWhitespace == true { text.removeFirst() }
    while text.last?.properties.isWhitespace == true { text.removeLast() }
    return String(text)
}
