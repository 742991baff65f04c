extension JSONWriter {
    /// Appends the text in quotes.
    ///
    /// Escaped are the quote, the backslash and whatever could harm a terminal or a reader by lines: C0, DEL, C1, the
    /// bidi controls (Unicode annex 9, section 2) and the separators U+2028 and U+2029. Everything else stays UTF-8.
    mutating func appendQuoted(_ text: String) {
        output.append(UInt8(ascii: "\""))
        var text = text
        text.withUTF8 { appendEscaped($0) }
        output.append(UInt8(ascii: "\""))
    }

    private mutating func appendEscaped(_ text: UnsafeBufferPointer<UInt8>) {
        let raw = UnsafeRawBufferPointer(text)
        var copied = 0
        var position = 0
        while position < text.count {
            let end = min(position + 8, text.count)
            if end == position + 8, !raw.loadUnaligned(fromByteOffset: position, as: UInt64.self).hasByteToInspect {
                position = end
                continue
            }
            while position < end {
                guard let (length, scalar) = Self.scalarToEscape(text, at: position) else {
                    position += 1
                    continue
                }
                output.append(UnsafeRawBufferPointer(rebasing: raw[copied..<position]))
                appendEscape(scalar)
                position += length
                copied = position
            }
        }
        output.append(UnsafeRawBufferPointer(rebasing: raw[copied...]))
    }

    /// The scalar that begins at the position and its length in bytes, if it is one that must be escaped.
    ///
    /// `text` is valid UTF-8, so the bytes that the first one announces are there.
    private static func scalarToEscape(
        _ text: UnsafeBufferPointer<UInt8>,
        at position: Int
    ) -> (length: Int, scalar: UInt16)? {
        let first = text[position]
        switch first {
        case 0..<0x20, 0x22, 0x5C, 0x7F:
            return (1, UInt16(first))
        case 0xC2 where text[position + 1] < 0xA0:  // U+0080...U+009F
            return (2, UInt16(text[position + 1]))
        case 0xD8 where text[position + 1] == 0x9C:
            return (2, 0x061C)
        case 0xE2 where text[position + 1] == 0x80 || text[position + 1] == 0x81:
            let scalar = 0x2000 + UInt16(text[position + 1] & 1) << 6 + UInt16(text[position + 2] & 0x3F)
            switch scalar {
            case 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: return (3, scalar)
            default: return nil
            }
        default:
            return nil
        }
    }

    private mutating func appendEscape(_ scalar: UInt16) {
        output.append(UInt8(ascii: "\\"))
        switch scalar {
        case 0x22: output.append(UInt8(ascii: "\""))
        case 0x5C: output.append(UInt8(ascii: "\\"))
        case 0x08: output.append(UInt8(ascii: "b"))
        case 0x09: output.append(UInt8(ascii: "t"))
        case 0x0A: output.append(UInt8(ascii: "n"))
        case 0x0C: output.append(UInt8(ascii: "f"))
        case 0x0D: output.append(UInt8(ascii: "r"))
        default:
            output.append(UInt8(ascii: "u"))
            for shift in [12, 8, 4, 0] {
                let digit = UInt8(scalar >> UInt16(shift) & 0xF)
                output.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
            }
        }
    }
}
