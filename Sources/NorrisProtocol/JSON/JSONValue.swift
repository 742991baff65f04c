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

    /// Parses a document of an upstream.
    init(lenientlyParsing bytes: UnsafeRawBufferPointer) throws(JSONError) {
        var parser = JSONParser(bytes, at: 0)
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
            var parser = JSONParser(bytes, at: token.content.lowerBound)
            var count = 0
            while parser.position < token.content.upperBound {
                // Not nil, because the escape was parsed before.
                if bytes[parser.position] == UInt8(ascii: "\\"), let scalar = try? parser.escape() {
                    for byte in scalar.utf8 {
                        text[count] = byte
                        count += 1
                    }
                } else {
                    text[count] = bytes[parser.position]
                    count += 1
                    parser.position += 1
                }
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
        case .largeInteger?, nil: nil
        }
    }

    private var number: JSONParser.Number? {
        guard kind == .integer || kind == .double else { return nil }
        var parser = JSONParser(bytes, at: token.range.lowerBound)
        // Not nil, because the number was parsed before.
        return try? parser.number()
    }

    /// The error that ends an iteration early.
    private static let stop = JSONError(.trailingBytes, at: 0)

    /// Calls the body with each key and value until the body returns false; not at all if the value is no object.
    package func forEachMember(_ body: (_ key: JSONValue, _ value: JSONValue) -> Bool) {
        guard kind == .object else { return }
        var parser = JSONParser(bytes, at: token.range.lowerBound)
        // Fails only to stop, because the object was parsed before.
        try? parser.members { (key, value) throws(JSONError) in
            if !body(JSONValue(key, of: bytes), JSONValue(value, of: bytes)) { throw JSONValue.stop }
        }
    }

    /// Calls the body with each element until the body returns false; not at all if the value is no array.
    package func forEachElement(_ body: (JSONValue) -> Bool) {
        guard kind == .array else { return }
        var parser = JSONParser(bytes, at: token.range.lowerBound)
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
        guard token.isPlain else {
            // An escape takes at most six bytes for a byte of the text.
            guard kind == .string, token.content.count <= 6 * text.count else { return false }
            return self.text.map { $0.utf8.elementsEqual(text) } ?? false
        }
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
        return other.plainText.map(hasText) ?? hasText(other.text ?? "")
    }
}

extension UnsafeRawBufferPointer {
    var isUTF8: Bool { withMemoryRebound(to: UInt8.self) { bytes in (try? UTF8Span(validating: bytes.span)) != nil } }
}

/// Finds duplicate keys: by comparison up to 16 keys, by hashing above, so that an object of 10,000 members does not
/// need 50 million comparisons.
struct DistinctKeys {
    /// The first keys.
    private var few: InlineArray<16, JSONToken> = InlineArray(repeating: JSONToken(.null, 0..<0))
    private var count = 0
    /// All keys if there are more. Not strings, which canonically equivalent texts would equal.
    private var many: Set<[UInt8]> = []

    /// Returns false if the object already has the key. Keys are compared by their decoded bytes.
    mutating func insert(_ key: JSONToken, of bytes: UnsafeRawBufferPointer) -> Bool {
        let key = JSONValue(key, of: bytes)
        guard count < few.count else {
            if many.isEmpty {
                for index in 0..<count { many.insert(Array((JSONValue(few[index], of: bytes).text ?? "").utf8)) }
            }
            return many.insert(Array((key.text ?? "").utf8)).inserted
        }
        for index in 0..<count where key.hasSameText(as: few[index]) { return false }
        few[count] = key.token
        count += 1
        return true
    }
}
