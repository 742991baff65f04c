extension JSONParser {
    /// The string whose opening quote is at the position.
    ///
    /// Without escapes it is made straight from the bytes. UTF-8 is validated here and nowhere else: outside strings
    /// every byte that is not ASCII is refused by the grammar.
    mutating func string() throws(JSONError) -> String {
        let quote = position
        position += 1
        let start = position
        let isASCII = skipPlainBytes()
        if try peek() == UInt8(ascii: "\"") {
            let text = UnsafeRawBufferPointer(rebasing: bytes[start..<position])
            position += 1
            if isASCII {
                return String(decoding: text, as: UTF8.self)  // nothing to validate: a third of the time
            }
            return try text.withMemoryRebound(to: UInt8.self) { buffer throws(JSONError) in
                try Self.validated(buffer, at: quote)
            }
        }
        var unescaped = Array(bytes[start..<position])
        try unescape(into: &unescaped)
        return try unescaped.withUnsafeBufferPointer { buffer throws(JSONError) in
            try Self.validated(buffer, at: quote)
        }
    }

    private static func validated(_ bytes: UnsafeBufferPointer<UInt8>, at quote: Int) throws(JSONError) -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else { throw JSONError(.invalidUTF8, at: quote) }
        return text
    }

    /// Appends the rest of the string, up to its closing quote, which is stepped over.
    private mutating func unescape(into text: inout [UInt8]) throws(JSONError) {
        while true {
            switch try peek() {
            case UInt8(ascii: "\""):
                position += 1
                return
            case UInt8(ascii: "\\"):
                try escape(into: &text)
            default:
                throw JSONError(.controlCharacter, at: position)
            }
            let start = position
            _ = skipPlainBytes()
            text.append(contentsOf: bytes[start..<position])
        }
    }

    /// Appends the character that the escape at the position stands for.
    private mutating func escape(into text: inout [UInt8]) throws(JSONError) {
        let start = position
        position += 1
        let letter = try peek()
        position += 1
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(letter)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "u"): text.append(contentsOf: try unicodeEscape(at: start).utf8)
        default: throw JSONError(.invalidEscape, at: start)
        }
    }

    /// The scalar of the `\u` escape whose digits are at the position, and of its second half if it is a pair.
    private mutating func unicodeEscape(at start: Int) throws(JSONError) -> Unicode.Scalar {
        let first = try fourHexDigits(of: start)
        if let scalar = Unicode.Scalar(first) {
            return scalar
        }
        // Only surrogates are no scalars: a leading one (RFC 8259, section 7) must be followed by a trailing one.
        guard first < 0xDC00,
            position + 1 < bytes.count,
            bytes[position] == UInt8(ascii: "\\"), bytes[position + 1] == UInt8(ascii: "u")
        else { throw JSONError(.loneSurrogate, at: start) }
        let secondStart = position
        position += 2
        let second = try fourHexDigits(of: secondStart)
        guard 0xDC00...0xDFFF ~= second else { throw JSONError(.loneSurrogate, at: start) }
        let value = 0x10000 + (UInt32(first) - 0xD800) << 10 + (UInt32(second) - 0xDC00)
        // Both halves are in range, so the value is one of U+10000...U+10FFFF, all of which are scalars.
        return Unicode.Scalar(value)!
    }

    private mutating func fourHexDigits(of escape: Int) throws(JSONError) -> UInt16 {
        var value: UInt16 = 0
        for _ in 0..<4 {
            let digit: UInt8
            switch try peek() {
            case let byte where UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte: digit = byte - UInt8(ascii: "0")
            case let byte where UInt8(ascii: "a")...UInt8(ascii: "f") ~= byte: digit = byte - UInt8(ascii: "a") + 10
            case let byte where UInt8(ascii: "A")...UInt8(ascii: "F") ~= byte: digit = byte - UInt8(ascii: "A") + 10
            default: throw JSONError(.invalidEscape, at: escape)
            }
            value = value << 4 | UInt16(digit)
            position += 1
        }
        return value
    }

    /// Moves to the next quote, backslash or control character, or to the end; true if all it passed is ASCII.
    mutating func skipPlainBytes() -> Bool {
        var seen: UInt64 = 0
        while position + 8 <= bytes.count {
            let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self))
            let plain = word.plainBytes
            if plain < 8 {
                seen |= word & ~(UInt64.max << UInt64(8 * plain))
                position += plain
                return seen & 0x8080_8080_8080_8080 == 0
            }
            seen |= word
            position += 8
        }
        while position < bytes.count {
            let byte = bytes[position]
            if byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") {
                break
            }
            seen |= UInt64(byte)
            position += 1
        }
        return seen & 0x8080_8080_8080_8080 == 0
    }
}
