/// A text that is safe to store, to index and to write to a terminal, over several lines.
///
/// Newline and tab stay. CR LF, CR, U+2028 and U+2029 become newlines. Complete escape sequences go as a whole; of
/// incomplete ones the control characters go and the rest stays as text. Removed are
/// - C0 controls, DEL and C1 controls;
/// - bidirectional controls (U+061C, U+200E, U+200F, U+202A–202E, U+2066–2069);
/// - characters that show nothing and make equal-looking texts differ: soft hyphen, U+200B, U+2060–206F, U+FEFF,
///   U+FFF0–FFFB;
/// - tags and variation selectors 17–256 (all of U+E0000–E0FFF). They carry hidden text, and what they do in good
///   faith a terminal does not draw: the flags of England, Scotland and Wales become plain black flags;
/// - U+FFFC, U+FFFD (the mark of bytes repaired before) and noncharacters.
///
/// Joiners (U+200C, U+200D) and the other variation selectors stay: scripts and emoji need them. Sanitising twice
/// changes nothing more. A clean text is returned as it is, without allocation.
package func sanitizedText(_ text: String) -> String {
    let scalars = text.unicodeScalars
    if scalars.allSatisfy(\.isSafeText) {
        return text
    }
    var result = ""
    result.reserveCapacity(text.utf8.count)
    // What stands between `copied` and `position` is safe and not yet in the result.
    var copied = text.startIndex
    while let position = scalars[copied...].firstIndex(where: { !$0.isSafeText }) {
        result += text[copied..<position]
        let next = scalars.index(after: position)
        switch scalars[position] {
        case "\r" where next < text.endIndex && scalars[next] == "\n":
            // The newline of a CR LF stays.
            copied = next
        case "\r", "\u{2028}", "\u{2029}":
            result += "\n"
            copied = next
        default:
            copied = scalars.endOfEscapeSequence(at: position) ?? next
        }
    }
    result += text[copied...]
    return result
}

/// The same for bytes that should be UTF-8: whatever is invalid (overlong, surrogate, truncated, out of range) is
/// removed and leaves no mark.
package func sanitizedText(bytes: some Collection<UInt8>) -> String {
    // Decoding puts U+FFFD for what is invalid, and that scalar never survives.
    sanitizedText(String(decoding: bytes, as: UTF8.self))
}

/// A text that is safe to write as one line: sanitised, every run of white space that holds a newline or a tab turned
/// into one space, no white space at the ends. Other runs of spaces stay as they are.
///
/// A clean line is returned as it is, without allocation.
package func sanitizedLine(_ text: String) -> String {
    let text = sanitizedText(text)
    let scalars = text.unicodeScalars
    let isOneLine = !text.utf8.contains { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\t") }
    let isTrimmed = scalars.first?.properties.isWhitespace != true && scalars.last?.properties.isWhitespace != true
    if isOneLine && isTrimmed {
        return text
    }
    var result = String.UnicodeScalarView()
    result.reserveCapacity(text.utf8.count)
    var gap = String.UnicodeScalarView()
    for scalar in scalars {
        if scalar.properties.isWhitespace {
            gap.append(scalar)
            continue
        }
        if !result.isEmpty && !gap.isEmpty {
            if gap.contains("\n") || gap.contains("\t") {
                result.append(" ")
            } else {
                result.append(contentsOf: gap)
            }
        }
        gap.removeAll()
        result.append(scalar)
    }
    return String(result)
}

extension Unicode.Scalar {
    /// Whether the scalar may stand in a sanitised text as it is; see `sanitizedText(_:)` for the reasons.
    fileprivate var isSafeText: Bool {
        switch value {
        case 0x20...0x7E, 0x09, 0x0A:
            true
        case ..<0xA0:
            false
        case 0xAD, 0x61C, 0x200B, 0x200E...0x200F, 0x2028...0x202E, 0x2060...0x206F, 0xFDD0...0xFDEF, 0xFEFF,
            0xFFF0...0xFFFF, 0xE0000...0xE0FFF:
            false
        default:
            // The last two code points of every plane are noncharacters.
            value & 0xFFFE != 0xFFFE
        }
    }
}
