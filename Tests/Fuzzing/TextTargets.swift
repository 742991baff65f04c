import NorrisText

/// Texts of any bytes become safe, and stay unchanged when they are sanitized again.
@Sendable func fuzzSanitizer(_ input: ArraySlice<UInt8>) {
    let sanitized = sanitizedText(bytes: input)
    requireSafe(sanitized)
    let line = sanitizedLine(text(input))
    requireSafe(line)
    require(!line.utf8.contains { $0 == 0x0A || $0 == 0x09 }, "A line contains a newline or a tab")
    require(line.utf8.elementsEqual(sanitizedLine(line).utf8), "A line changes when it is sanitized again")
    require(asciiText(sanitized).utf8.allSatisfy { $0 < 0x80 }, "ASCII text contains another byte")
    for width in [1, 7, 40] {
        for part in wrapped(sanitized, width: width) {
            // A character may be wider than the line.
            require(displayWidth(of: part) <= width || part.count == 1, "\(part) is wider than \(width)")
        }
        require(displayWidth(of: truncated(line, toColumns: width)) <= width, "A truncated line is wider than \(width)")
        if let line = promptLine(sanitized, columns: width) {
            requireSafe(line)
            require(displayWidth(of: line) <= width, "A line for a prompt is wider than \(width)")
        }
    }
    require(searchMatches(of: searchWords(of: line), in: line).count == line.count, "A match has another length")
}

/// Ends the process if the text contains a scalar that a terminal must not receive, or changes when it is sanitized.
///
/// The list repeats the rules of ``sanitizedText(_:)`` on purpose, because it is the reference.
func requireSafe(_ text: String) {
    for scalar in text.unicodeScalars {
        let isForbidden =
            switch scalar.value {
            case 0x09, 0x0A: false
            case ..<0x20, 0x7F..<0xA0, 0xAD, 0x61C, 0x200B, 0x200E, 0x200F, 0x2028...0x202E, 0x2060...0x206F, 0xFEFF,
                0xFFF0...0xFFFF, 0xFDD0...0xFDEF:
                true
            default: scalar.value & 0xFFFE == 0xFFFE
            }
        require(!isForbidden, "U+\(String(scalar.value, radix: 16)) in \(text.debugDescription)")
    }
    require(text.utf8.elementsEqual(sanitizedText(text).utf8), "\(text.debugDescription) changes when sanitized again")
}

func requireSafe(_ text: String?) {
    if let text { requireSafe(text) }
}
