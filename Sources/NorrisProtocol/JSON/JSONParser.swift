import Glibc

/// A JSON value as a range of the bytes that it was parsed from: its kind, and offsets from the first of these bytes.
///
/// A token is small and may be stored longer than a ``JSONValue``, which reads it.
package struct JSONToken: Equatable, Sendable {
    package enum Kind: UInt8, Sendable { case null, `false`, `true`, integer, double, string, array, object }

    package let kind: Kind
    /// Whether the value is a string of ASCII without escapes, so that its raw bytes are its text.
    package let isPlain: Bool
    /// Includes quotes and brackets. 32 bits suffice, because a line is far shorter than 2 GiB.
    private let start, end: Int32

    package init(_ kind: Kind, _ range: Range<Int>, isPlain: Bool = false) {
        self.kind = kind
        self.isPlain = isPlain
        start = Int32(truncatingIfNeeded: range.lowerBound)
        end = Int32(truncatingIfNeeded: range.upperBound)
    }

    package var range: Range<Int> { Int(start)..<Int(end) }

    /// The range between the quotes of a string.
    var content: Range<Int> { Int(start) + 1..<Int(end) - 1 }
}

/// A recursive-descent parser, which reads values in place; the depth limit bounds the recursion. `bytes` must outlive
/// the parser.
///
/// Stricter than RFC 8259: valid UTF-8 without byte order mark, no duplicate keys (compared by decoded bytes), at most
/// ``JSON/maximumDepth`` open brackets, integers within ±``JSON/maximumInteger``, no numbers that overflow binary64
/// (underflow gives zero), no escapes of lone surrogates. Documents of upstreams are read as browsers read them
/// (<https://tc39.es/ecma262/#sec-json.parse>), up to ``JSON/maximumLenientDepth`` open brackets.
struct JSONParser {
    let bytes: UnsafeRawBufferPointer
    var position = 0
    private var depth = 0
    /// Whether the rules are those of RFC 8259 only: for the document of an upstream, and for bytes that were parsed
    /// before.
    private let isLenient: Bool

    /// - Parameter position: of bytes that were parsed before, or of a document to read leniently; nil to read
    ///   strictly.
    init(_ bytes: UnsafeRawBufferPointer, at position: Int? = nil) {
        self.bytes = bytes
        self.position = position ?? 0
        isLenient = position != nil
    }

    /// Passes the white space before a document, and throws an error if it begins with a byte order mark.
    mutating func begin() throws(JSONError) {
        if bytes.first == 0xEF, bytes.starts(with: [0xEF, 0xBB, 0xBF]) { throw JSONError(.byteOrderMark, at: 0) }
        skipWhiteSpace()
    }

    /// Throws an error if anything but white space follows the value.
    mutating func end() throws(JSONError) {
        skipWhiteSpace()
        guard position == bytes.count else { throw JSONError(.trailingBytes, at: position) }
    }

    /// Reads the next value.
    mutating func token() throws(JSONError) -> JSONToken {
        skipWhiteSpace()
        let start = position
        switch try peek() {
        case UInt8(ascii: "\""): return try stringToken()
        case UInt8(ascii: "{"):
            try members { (_, _) throws(JSONError) in }
            return JSONToken(.object, start..<position)
        case UInt8(ascii: "["):
            try elements { (_) throws(JSONError) in }
            return JSONToken(.array, start..<position)
        case UInt8(ascii: "t"):
            try word("true")
            return JSONToken(.true, start..<position)
        case UInt8(ascii: "f"):
            try word("false")
            return JSONToken(.false, start..<position)
        case UInt8(ascii: "n"):
            try word("null")
            return JSONToken(.null, start..<position)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            let isInteger = try number().isInteger
            return JSONToken(isInteger ? .integer : .double, start..<position)
        default: throw JSONError(.unexpectedByte, at: position)
        }
    }

    /// Reads the object at the position and calls the body with each key and value.
    mutating func members(_ body: (_ key: JSONToken, _ value: JSONToken) throws(JSONError) -> Void) throws(JSONError) {
        try open()
        skipWhiteSpace()
        if try peek() == UInt8(ascii: "}") { return close() }
        var keys = DistinctKeys()
        repeat {
            skipWhiteSpace()
            guard try peek() == UInt8(ascii: "\"") else { throw JSONError(.unexpectedByte, at: position) }
            let key = try stringToken()
            guard isLenient || keys.insert(key, of: bytes) else {
                throw JSONError(.duplicateKey, at: key.range.lowerBound)
            }
            skipWhiteSpace()
            guard try peek() == UInt8(ascii: ":") else { throw JSONError(.unexpectedByte, at: position) }
            position += 1
            try body(key, try token())
        } while try !isLast(before: UInt8(ascii: "}"))
    }

    /// Reads the array at the position and calls the body with each element.
    mutating func elements(_ body: (JSONToken) throws(JSONError) -> Void) throws(JSONError) {
        try open()
        skipWhiteSpace()
        if try peek() == UInt8(ascii: "]") { return close() }
        repeat { try body(try token()) } while try !isLast(before: UInt8(ascii: "]"))
    }

    /// Reads the string that begins at the position.
    @inline(__always) private mutating func stringToken() throws(JSONError) -> JSONToken {
        let start = position
        let isPlain = try skipString()
        return JSONToken(.string, start..<position, isPlain: isPlain)
    }

    /// Consumes the comma or the closing bracket after an element. Returns true for the bracket.
    private mutating func isLast(before bracket: UInt8) throws(JSONError) -> Bool {
        skipWhiteSpace()
        switch try peek() {
        case UInt8(ascii: ","):
            position += 1
            return false
        case bracket:
            close()
            return true
        default: throw JSONError(.unexpectedByte, at: position)
        }
    }

    private mutating func open() throws(JSONError) {
        guard depth < JSON.maximumDepth || isLenient && depth < JSON.maximumLenientDepth else {
            throw JSONError(.tooDeep, at: position)
        }
        depth += 1
        position += 1
    }

    private mutating func close() {
        depth -= 1
        position += 1
    }

    private mutating func word(_ word: StaticString) throws(JSONError) {
        for index in 0..<word.utf8CodeUnitCount {
            guard try peek() == word.utf8Start[index] else { throw JSONError(.unexpectedByte, at: position) }
            position += 1
        }
    }

    @inline(__always) private mutating func skipWhiteSpace() {
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\t"): position += 1
            default: return
            }
        }
    }

    /// Returns the byte at the position without consuming it.
    @inline(__always) func peek() throws(JSONError) -> UInt8 {
        guard position < bytes.count else { throw JSONError(.unexpectedEnd, at: position) }
        return bytes[position]
    }
}

extension JSONParser {
    enum Number {
        case integer(Int64)
        /// An integer beyond ±``JSON/maximumInteger`` in a document that is read leniently.
        case largeInteger
        case double(Double)

        var isInteger: Bool { if case .double = self { false } else { true } }
    }

    /// Reads the number at the position.
    mutating func number() throws(JSONError) -> Number {
        let start = position
        let isNegative = bytes[position] == UInt8(ascii: "-")
        if isNegative { position += 1 }
        let firstDigit = position
        var magnitude: Int64 = 0
        var isTooLarge = false
        while let digit = takeDigit() {
            // Stops accumulating when the magnitude is out of range, so that it never overflows.
            if magnitude <= JSON.maximumInteger {
                magnitude = magnitude * 10 + Int64(digit)
            } else {
                isTooLarge = true
            }
        }
        let digits = position - firstDigit
        guard digits > 0, digits == 1 || bytes[firstDigit] != UInt8(ascii: "0") else {
            throw JSONError(.invalidNumber, at: start)
        }
        let hasFraction = takeByte(UInt8(ascii: "."))
        if hasFraction { try takeDigits(ofNumberAt: start) }
        let hasExponent = takeByte(UInt8(ascii: "e")) || takeByte(UInt8(ascii: "E"))
        if hasExponent {
            _ = takeByte(UInt8(ascii: "+")) || takeByte(UInt8(ascii: "-"))
            try takeDigits(ofNumberAt: start)
        }
        if hasFraction || hasExponent { return .double(try double(from: start)) }
        guard !isTooLarge, magnitude <= JSON.maximumInteger else {
            if isLenient { return .largeInteger }
            throw JSONError(.integerOutOfRange, at: start)
        }
        return .integer(isNegative ? -magnitude : magnitude)
    }

    /// Returns the nearest double to the valid literal between `start` and the position.
    private func double(from start: Int) throws(JSONError) -> Double {
        let literal = String(decoding: UnsafeRawBufferPointer(rebasing: bytes[start..<position]), as: UTF8.self)
        guard let value = Double(literal), value.isFinite || isLenient else {
            throw JSONError(.numberTooLarge, at: start)
        }
        return value
    }

    private mutating func takeDigits(ofNumberAt start: Int) throws(JSONError) {
        guard takeDigit() != nil else { throw JSONError(.invalidNumber, at: start) }
        while takeDigit() != nil {}
    }

    private mutating func takeDigit() -> UInt8? {
        guard position < bytes.count else { return nil }
        let digit = bytes[position] &- UInt8(ascii: "0")
        guard digit < 10 else { return nil }
        position += 1
        return digit
    }

    private mutating func takeByte(_ byte: UInt8) -> Bool {
        guard position < bytes.count, bytes[position] == byte else { return false }
        position += 1
        return true
    }
}

extension JSONParser {
    /// Validates the string at the position and moves past it, without memory for its text.
    ///
    /// Only strings need UTF-8 validation, because the grammar refuses any other byte that is not ASCII.
    ///
    /// - Returns: whether the string is ASCII without escapes, so that its raw bytes are its text.
    @inline(__always) private mutating func skipString() throws(JSONError) -> Bool {
        let quote = position
        position += 1
        let isASCII = skipPlainBytes()
        if isASCII, position < bytes.count, bytes[position] == UInt8(ascii: "\"") {
            position += 1
            return true
        }
        try skipRest(ofStringAt: quote)
        return false
    }

    /// Validates a string with escapes or non-ASCII bytes, from its opening quote on, and moves past it.
    private mutating func skipRest(ofStringAt quote: Int) throws(JSONError) {
        position = quote + 1
        var isValid = true
        while true {
            let start = position
            if !skipPlainBytes() {
                isValid = isValid && UnsafeRawBufferPointer(rebasing: bytes[start..<position]).isUTF8
            }
            switch try peek() {
            case UInt8(ascii: "\""):
                position += 1
                guard isValid else { throw JSONError(.invalidUTF8, at: quote) }
                return
            case UInt8(ascii: "\\"): _ = try escape()
            default: throw JSONError(.controlCharacter, at: position)
            }
        }
    }

    /// Decodes the escape at the position.
    mutating func escape() throws(JSONError) -> Unicode.Scalar {
        let start = position
        position += 1
        let letter = try peek()
        position += 1
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(letter)
        case UInt8(ascii: "b"): return "\u{08}"
        case UInt8(ascii: "f"): return "\u{0C}"
        case UInt8(ascii: "n"): return "\u{0A}"
        case UInt8(ascii: "r"): return "\u{0D}"
        case UInt8(ascii: "t"): return "\u{09}"
        case UInt8(ascii: "u"): return try unicodeEscape(at: start)
        default: throw JSONError(.invalidEscape, at: start)
        }
    }

    /// Decodes a `\u` escape from its digits at the position, with the second escape of a surrogate pair.
    private mutating func unicodeEscape(at start: Int) throws(JSONError) -> Unicode.Scalar {
        let first = try fourHexDigits(of: start)
        if let scalar = Unicode.Scalar(first) { return scalar }
        // Not a scalar, so a surrogate: a leading surrogate must precede a trailing one (RFC 8259, section 7).
        guard first < 0xDC00, position + 1 < bytes.count, bytes[position] == UInt8(ascii: "\\"),
            bytes[position + 1] == UInt8(ascii: "u")
        else { return try loneSurrogate(at: start) }
        let secondStart = position
        position += 2
        let second = try fourHexDigits(of: secondStart)
        guard 0xDC00...0xDFFF ~= second else {
            position = secondStart
            return try loneSurrogate(at: start)
        }
        let value = 0x10000 + (UInt32(first) - 0xD800) << 10 + (UInt32(second) - 0xDC00)
        // Not nil: the surrogates are in range, so the value is in U+10000...U+10FFFF.
        return Unicode.Scalar(value)!
    }

    private func loneSurrogate(at start: Int) throws(JSONError) -> Unicode.Scalar {
        guard isLenient else { throw JSONError(.loneSurrogate, at: start) }
        return "\u{FFFD}"
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

    /// Moves to the next quote, backslash or control character, if any. Returns whether all passed bytes are ASCII.
    private mutating func skipPlainBytes() -> Bool {
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

/// The reason and the place of a violation of this protocol's JSON.
package struct JSONError: Error, Equatable, CustomStringConvertible {
    package enum Reason: Sendable, Equatable {
        case byteOrderMark, controlCharacter, duplicateKey, integerOutOfRange, invalidEscape, invalidNumber, invalidUTF8
        case loneSurrogate, numberTooLarge, tooDeep, trailingBytes, unexpectedByte, unexpectedEnd
    }

    package let reason: Reason

    /// The offset of the invalid byte, from 0, or of the first byte of an invalid string or number.
    package let offset: Int

    package init(_ reason: Reason, at offset: Int) { (self.reason, self.offset) = (reason, offset) }

    /// One sentence. It contains no bytes of the input, so it is safe to log and print.
    package var description: String {
        switch reason {
        case .byteOrderMark: "A byte order mark is at byte \(offset); send UTF-8 without it."
        case .controlCharacter: "The control character at byte \(offset) must be escaped inside a string."
        case .duplicateKey: "The key at byte \(offset) is a duplicate."
        case .integerOutOfRange: "The integer at byte \(offset) is beyond 2^53; send large numbers as strings."
        case .invalidEscape: "The escape at byte \(offset) is not valid."
        case .invalidNumber: "The number at byte \(offset) lacks a digit."
        case .invalidUTF8: "The string at byte \(offset) is not valid UTF-8."
        case .loneSurrogate: "The \\u escape at byte \(offset) is half of a surrogate pair."
        case .numberTooLarge: "The number at byte \(offset) is too large for a double."
        case .tooDeep: "The bracket at byte \(offset) opens more than \(JSON.maximumDepth) levels."
        case .trailingBytes: "Unexpected text after the value at byte \(offset)."
        case .unexpectedByte: "Invalid JSON at byte \(offset)."
        case .unexpectedEnd: "The JSON ends too early, at byte \(offset)."
        }
    }
}
