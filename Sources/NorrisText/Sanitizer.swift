/// Makes a text of several lines safe to store, to index and to write to a terminal.
///
/// Newline and tab stay. CR LF, CR, U+2028 and U+2029 become newlines. Complete escape sequences are removed; of an
/// incomplete sequence only the control characters are removed. Also removed are
/// - C0 controls, DEL and C1 controls;
/// - bidirectional controls (U+061C, U+200E, U+200F, U+202A–202E, U+2066–2069);
/// - invisible characters that make texts differ which look equal: soft hyphen, U+200B, U+2060–206F, U+FEFF,
///   U+FFF0–FFFB;
/// - tags and variation selectors 17–256 (all of U+E0000–E0FFF), because they can hide text. Only the flags of England,
///   Scotland and Wales stay complete: a black flag and one of three sequences of tags, which cannot hide other text;
/// - U+FFFC, U+FFFD (which replaces invalid bytes) and noncharacters.
///
/// Joiners (U+200C, U+200D) and the other variation selectors stay, because scripts and emoji need them. Sanitizing is
/// idempotent. A clean text is returned without allocation.
package func sanitizedText(_ text: String) -> String {
    let scalars = text.unicodeScalars
    if text.utf8.allSatisfy({ 0x20...0x7E ~= $0 || $0 == 0x0A }) || scalars.allSatisfy(\.isSafeText) { return text }
    var result = ""
    result.reserveCapacity(text.utf8.count)
    // The text between `copied` and `position` is safe and not yet in the result.
    var copied = text.startIndex
    while let position = scalars[copied...].firstIndex(where: { !$0.isSafeText }) {
        result += text[copied..<position]
        let next = scalars.index(after: position)
        switch scalars[position] {
        case "\r" where next < text.endIndex && scalars[next] == "\n":
            // Keeps the newline of CR LF.
            copied = next
        case "\r", "\u{2028}", "\u{2029}":
            result += "\n"
            copied = next
        case "\u{E0067}":
            copied = scalars.endOfFlag(at: position) ?? next
            // Without a flag, only this tag is removed here.
            if copied > next { result += text[position..<copied] }
        default: copied = scalars.endOfEscapeSequence(at: position) ?? next
        }
    }
    result += text[copied...]
    return result
}

/// Decodes and sanitizes UTF-8. Invalid bytes (overlong, surrogate, truncated, out of range) are removed.
package func sanitizedText(bytes: some Collection<UInt8>) -> String {
    // Decoding replaces invalid bytes by U+FFFD, which sanitizing removes.
    sanitizedText(String(decoding: bytes, as: UTF8.self))
}

/// Makes a text safe to write as one line: sanitizes it, replaces each run of white space that contains a newline or
/// tab by one space, and trims both ends. Other runs of spaces stay. A clean line is returned without allocation.
package func sanitizedLine(_ text: String) -> String {
    // Most lines are ASCII, for which no properties of characters are looked up.
    if text.utf8.first != 0x20, text.utf8.last != 0x20, text.utf8.allSatisfy({ 0x20...0x7E ~= $0 }) { return text }
    let text = sanitizedText(text)
    let scalars = text.unicodeScalars
    let isOneLine = !text.utf8.contains { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\t") }
    let isTrimmed = scalars.first?.properties.isWhitespace != true && scalars.last?.properties.isWhitespace != true
    if isOneLine && isTrimmed { return text }
    var result = String.UnicodeScalarView()
    result.reserveCapacity(text.utf8.count)
    var gap = String.UnicodeScalarView()
    for scalar in scalars {
        if scalar.properties.isWhitespace {
            gap.append(scalar)
            continue
        }
        if !result.isEmpty {
            // Appending a whole view copies the text before it.
            for scalar in gap.contains("\n") || gap.contains("\t") ? " ".unicodeScalars : gap { result.append(scalar) }
        }
        gap.removeAll()
        result.append(scalar)
    }
    return String(result)
}

extension Unicode.Scalar {
    fileprivate var isSafeText: Bool {
        switch value {
        case 0x20...0x7E, 0x09, 0x0A: true
        case ..<0xA0: false
        case 0xAD, 0x61C, 0x200B, 0x200E...0x200F, 0x2028...0x202E, 0x2060...0x206F, 0xFDD0...0xFDEF, 0xFEFF,
            0xFFF0...0xFFFF, 0xE0000...0xE0FFF:
            false
        default:
            // The last two code points of every plane are noncharacters.
            value & 0xFFFE != 0xFFFE
        }
    }
}

/// The tags that follow U+1F3F4 in the flags of England, Scotland and Wales (UTS #51, "Valid Emoji Tag Sequences").
private let flagTags: [[UInt32]] = ["gbeng", "gbsct", "gbwls"].map { name in
    name.unicodeScalars.map { 0xE0000 + $0.value } + [0xE007F]
}

extension String.UnicodeScalarView {
    /// The end of the tags that begin at an index; nil if they do not form a flag with the scalar before them.
    fileprivate func endOfFlag(at start: Index) -> Index? {
        guard start > startIndex, self[index(before: start)].value == 0x1F3F4 else { return nil }
        for tags in flagTags where self[start...].lazy.map(\.value).starts(with: tags) {
            return index(start, offsetBy: tags.count)
        }
        return nil
    }

    /// The end of the escape sequence that begins at an index; nil without a complete sequence.
    ///
    /// Supported are sequences that contain text for the terminal only (ECMA-48, 5.4 and 5.6; ECMA-35 for the last):
    /// CSI (colors, cursor movement), OSC (links, titles), DCS, SOS, PM, APC, each introduced by ESC and a character or
    /// by one C1 control, and the designation of a character set (`ESC ( B`), with which `tput sgr0` ends colors.
    fileprivate func endOfEscapeSequence(at start: Index) -> Index? {
        var next = index(after: start)
        var introducer = self[start].value
        if introducer == 0x1B {
            guard next < endIndex else { return nil }
            // ESC and a character of 0x40...0x5F represent the C1 control 0x40 higher.
            introducer = self[next].value + 0x40
            next = index(after: next)
        }
        switch introducer {
        case 0x9B: return endOfControlSequence(from: next)
        case 0x9D: return endOfControlString(from: next, bellEnds: true)
        case 0x90, 0x98, 0x9E, 0x9F: return endOfControlString(from: next, bellEnds: false)
        case 0x68...0x6B where self[start].value == 0x1B:
            // ESC and one of ( ) * + designate a character set, which the final character names.
            return next < endIndex && 0x30...0x7E ~= self[next].value ? index(after: next) : nil
        default: return nil
        }
    }

    /// The end of a CSI sequence after its introducer: parameters, intermediates, one final character.
    private func endOfControlSequence(from start: Index) -> Index? {
        var next = start
        while next < endIndex, 0x30...0x3F ~= self[next].value { next = index(after: next) }
        while next < endIndex, 0x20...0x2F ~= self[next].value { next = index(after: next) }
        return next < endIndex && 0x40...0x7E ~= self[next].value ? index(after: next) : nil
    }

    /// The end of a control string after its introducer: text without controls, then ST (`ESC \` or U+009C). Unlike in
    /// ECMA-48, a newline makes the string incomplete, so that an unclosed string does not hide the rest of the text.
    private func endOfControlString(from start: Index, bellEnds: Bool) -> Index? {
        var next = start
        while next < endIndex {
            let value = self[next].value
            next = index(after: next)
            switch value {
            case 0x9C: return next
            case 0x07 where bellEnds: return next
            case 0x1B: return next < endIndex && self[next] == "\\" ? index(after: next) : nil
            case ..<0x20, 0x7F..<0xA0: return nil
            default: continue
            }
        }
        return nil
    }
}
