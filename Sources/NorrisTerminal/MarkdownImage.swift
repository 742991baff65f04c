/// A picture in Markdown (CommonMark 0.31.2, 6.4): `![title](address)`.
///
/// - Parameters:
///   - title: one line; what means something inside a line is escaped, the `$` and `~` and `|` of GitHub included.
///   - address: of visible ASCII; what could end it early, or be read as something else, is percent-encoded.
func markdownImage(_ title: String, _ address: String) -> String {
    var text = "!["
    for scalar in title.unicodeScalars {
        if "\\`*_[]<>&~|$".unicodeScalars.contains(scalar) {
            text += "\\"
        }
        text.unicodeScalars.append(scalar)
    }
    text += "]("
    for scalar in address.unicodeScalars {
        // A semicolon would end what looks like an entity: `&copy;`.
        if "()<>\\`|;".unicodeScalars.contains(scalar) {
            text += "%" + String(scalar.value, radix: 16, uppercase: true)
        } else {
            text.unicodeScalars.append(scalar)
        }
    }
    return text + ")"
}
