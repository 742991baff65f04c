import Glibc

/// A JSON value that was parsed in place. It reads the bytes that it was parsed from, which must outlive it.
package struct JSONValue {
    package let bytes: UnsafeRawBufferPointer
    package let token: JSONToken

    /// Creates the value of a token that was parsed from these bytes.
    package init(_ token: JSONToken, of bytes: UnsafeRawBufferPointer) { (self.token, self.bytes) = (token, bytes) }

    /// Parses exactly one value, with optional white space around it.
    package init(parsing bytes: UnsafeRawBufferPointer) throws(JSONError) {
        var parser = JSONParser(bytes)
        try parser.begin()
        self.init(try parser.token(), of: bytes)
        try parser.end()
    }

    package var kind: JSONToken.Kind { token.kind }

    /// The value as it was sent.
    package var encoded: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: bytes[token.range]) }

    /// The text of a string; nil for other values.
    package var text: String? {
        guard kind == .string else { return nil }
        if let plainText { return String(decoding: plainText, as: UTF8.self) }
        // A decoded text is never longer than its encoded bytes.
        return String(unsafeUninitializedCapacity: token.content.count) { text in
            var (decoded, count) = (DecodedBytes(of: self), 0)
            while let byte = decoded.next() {
                text[count] = byte
                count += 1
            }
            return count
        }
    }

    /// The text of a string of ASCII without escapes, without a copy; nil for other values.
    package var plainText: UnsafeRawBufferPointer? {
        token.isPlain ? UnsafeRawBufferPointer(rebasing: bytes[token.content]) : nil
    }

    package var integer: Int64? { if case .integer(let integer)? = number { integer } else { nil } }

    package var double: Double? {
        switch number {
        case .integer(let integer)?: Double(integer)
        case .double(let double)?: double
        case nil: nil
        }
    }

    private var number: JSONParser.Number? {
        guard kind == .integer || kind == .double else { return nil }
        var parser = JSONParser(rereading: token, of: bytes)
        // Not nil, because the number was parsed before.
        return try? parser.number()
    }

    /// The error that ends an iteration early.
    private static let stop = JSONError(.trailingBytes, at: 0)

    /// Calls the body with each key and value until the body returns false; not at all if the value is no object.
    package func forEachMember(_ body: (_ key: JSONValue, _ value: JSONValue) -> Bool) {
        guard kind == .object else { return }
        var parser = JSONParser(rereading: token, of: bytes)
        // Fails only to stop, because the object was parsed before.
        try? parser.members { (key, value) throws(JSONError) in
            if !body(JSONValue(key, of: bytes), JSONValue(value, of: bytes)) { throw JSONValue.stop }
        }
    }

    /// Calls the body with each element until the body returns false; not at all if the value is no array.
    package func forEachElement(_ body: (JSONValue) -> Bool) {
        guard kind == .array else { return }
        var parser = JSONParser(rereading: token, of: bytes)
        // Fails only to stop, because the array was parsed before.
        try? parser.elements { (element) throws(JSONError) in
            if !body(JSONValue(element, of: bytes)) { throw JSONValue.stop }
        }
    }

    /// The value of a member; nil if the value is no object or has no such member.
    package func member(_ name: StaticString) -> JSONValue? {
        var found: JSONValue?
        forEachMember { key, value in
            if key.hasText(name) { found = value }
            return found == nil
        }
        return found
    }

    /// The first element; nil if the value is no array or empty.
    package var first: JSONValue? {
        var found: JSONValue?
        forEachElement { element in
            found = element
            return false
        }
        return found
    }

    /// Whether all elements of an array have a property; true without elements.
    func allSatisfy(_ isGood: (JSONValue) -> Bool) -> Bool {
        var areGood = true
        forEachElement { element in
            areGood = isGood(element)
            return areGood
        }
        return areGood
    }
}

// MARK: Comparing texts

extension JSONValue {
    /// Whether the text of a string equals this text, byte for byte.
    @inline(__always) package func hasText(_ text: StaticString) -> Bool {
        hasText(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    package func hasText(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { hasText(UnsafeRawBufferPointer($0)) }
    }

    @inline(__always) private func hasText(_ text: UnsafeRawBufferPointer) -> Bool {
        guard token.isPlain else { return kind == .string && DecodedBytes(of: self).are(text) }
        let content = token.content
        guard content.count == text.count else { return false }
        // An empty text has no bytes to compare. Otherwise the token has bytes, so neither address is nil.
        return text.isEmpty || memcmp(bytes.baseAddress! + content.lowerBound, text.baseAddress!, text.count) == 0
    }

    /// Whether two strings of the same bytes have the same text.
    @inline(__always) fileprivate func hasSameText(as other: JSONToken) -> Bool {
        // Most keys differ in length.
        if token.isPlain, other.isPlain, token.range.count != other.range.count { return false }
        let other = JSONValue(other, of: bytes)
        if let text = other.plainText { return hasText(text) }
        guard let text = plainText else { return DecodedBytes(of: self).areSame(as: DecodedBytes(of: other)) }
        return other.hasText(text)
    }
}

/// Iterates over the bytes of a string's text, without memory for the text.
private struct DecodedBytes: IteratorProtocol {
    private var parser: JSONParser
    private let end: Int
    /// The remaining bytes of an escaped character, the next one lowest, below a 1 bit that marks the end.
    private var rest: UInt32 = 1

    /// - Parameter value: a string.
    init(of value: JSONValue) {
        parser = JSONParser(value.bytes)
        parser.position = value.token.content.lowerBound
        end = value.token.content.upperBound
    }

    @inline(__always) mutating func next() -> UInt8? {
        if rest > 1 {
            defer { rest >>= 8 }
            return UInt8(truncatingIfNeeded: rest)
        }
        guard parser.position < end else { return nil }
        let byte = parser.bytes[parser.position]
        guard byte != UInt8(ascii: "\\") else { return escaped() }
        parser.position += 1
        return byte
    }

    /// Decodes the escape at the position and returns its first byte.
    private mutating func escaped() -> UInt8? {
        // The escape is valid, because it was parsed before.
        guard let scalar = try? parser.escape() else { return nil }
        guard !scalar.isASCII else { return UInt8(truncatingIfNeeded: scalar.value) }
        let encoded = Unicode.UTF8.encode(scalar)
        // UTF-8 encodes every scalar in at most four bytes, so at most three bytes remain.
        var bytes = encoded?.makeIterator()
        let first = bytes?.next()
        var (left, shift) = (UInt32(0), UInt32(0))
        while let byte = bytes?.next() {
            left |= UInt32(byte) << shift
            shift += 8
        }
        rest = left | 1 << shift
        return first
    }

    func are(_ text: UnsafeRawBufferPointer) -> Bool {
        var decoded = self
        for byte in text {
            guard decoded.next() == byte else { return false }
        }
        return decoded.next() == nil
    }

    func areSame(as others: DecodedBytes) -> Bool {
        var (left, right) = (self, others)
        while true {
            let byte = left.next()
            guard byte == right.next() else { return false }
            if byte == nil { return true }
        }
    }
}

extension UnsafeRawBufferPointer {
    var isUTF8: Bool { withMemoryRebound(to: UInt8.self) { bytes in (try? UTF8Span(validating: bytes.span)) != nil } }

    /// Whether these bytes are the UTF-8 of a text.
    package func isText(_ text: String) -> Bool {
        guard count == text.utf8.count else { return false }
        var text = text
        // The address is not nil if there are bytes.
        return text.withUTF8 { text in count == 0 || memcmp(baseAddress!, text.baseAddress!, count) == 0 }
    }
}

/// Finds duplicate keys: by comparison up to 16 keys, by hashing above, so that an object of 10,000 members does not
/// need 50 million comparisons.
struct DistinctKeys {
    /// The first keys.
    private var few: InlineArray<16, JSONToken> = InlineArray(repeating: JSONToken(.null, 0..<0))
    private var count = 0
    private var many: Set<ByteKey> = []

    /// Returns false if the object already has the key. Keys are compared by their decoded bytes.
    mutating func insert(_ key: JSONToken, of bytes: UnsafeRawBufferPointer) -> Bool {
        let key = JSONValue(key, of: bytes)
        guard count < few.count else {
            if many.isEmpty {
                for index in 0..<count { many.insert(ByteKey(JSONValue(few[index], of: bytes).text ?? "")) }
            }
            return many.insert(ByteKey(key.text ?? "")).inserted
        }
        for index in 0..<count where key.hasSameText(as: few[index]) { return false }
        few[count] = key.token
        count += 1
        return true
    }
}
