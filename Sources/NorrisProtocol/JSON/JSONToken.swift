import Glibc

/// A JSON value that was parsed in place: its kind, and its range as offsets from the parser's first byte.
///
/// The parser checks tokens as strictly as ``JSON`` values, but allocates nothing for them.
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

extension JSONToken {
    /// The text of a string token of these bytes.
    package func text(in bytes: UnsafeRawBufferPointer) -> String { JSONParser(bytes).text(of: self) }

    /// The text of a string token of these bytes, without a copy; nil if the token is not ``isPlain``.
    package func plainText(in bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        isPlain ? UnsafeRawBufferPointer(rebasing: bytes[content]) : nil
    }
}

extension JSONParser {
    /// Reads the next value in place, as strictly as ``document()``.
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
            guard case .integer = try number() else { return JSONToken(.double, start..<position) }
            return JSONToken(.integer, start..<position)
        default: throw JSONError(.unexpectedByte, at: position)
        }
    }

    /// Reads the string that begins at the position.
    @inline(__always) mutating func stringToken() throws(JSONError) -> JSONToken {
        let start = position
        let isPlain = try skipString()
        return JSONToken(.string, start..<position, isPlain: isPlain)
    }

    /// Reads the object at the position and calls the body with each key and value.
    mutating func members(_ body: (_ key: JSONToken, _ value: JSONToken) throws(JSONError) -> Void) throws(JSONError) {
        try open()
        skipWhiteSpace()
        if try peek() == UInt8(ascii: "}") { return close() }
        var keys = DistinctKeys()
        repeat {
            let key = try nextKey(&keys)
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

    /// Reads a key and the following colon. Throws an error if the object already has the key.
    mutating func nextKey(_ keys: inout DistinctKeys) throws(JSONError) -> JSONToken {
        skipWhiteSpace()
        let key = try keyToken()
        guard isRereading || keys.insert(key, self) else { throw JSONError(.duplicateKey, at: key.range.lowerBound) }
        try colon()
        return key
    }

    @inline(__always) mutating func keyToken() throws(JSONError) -> JSONToken {
        guard try peek() == UInt8(ascii: "\"") else { throw JSONError(.unexpectedByte, at: position) }
        return try stringToken()
    }

    @inline(__always) mutating func colon() throws(JSONError) {
        skipWhiteSpace()
        guard try peek() == UInt8(ascii: ":") else { throw JSONError(.unexpectedByte, at: position) }
        position += 1
    }

    func text(of token: JSONToken) -> String {
        if token.isPlain {
            return String(decoding: UnsafeRawBufferPointer(rebasing: bytes[token.content]), as: UTF8.self)
        }
        let content = token.content
        // A decoded text is never longer than its encoded bytes.
        return String(unsafeUninitializedCapacity: content.count) { text in
            var (decoded, count) = (DecodedBytes(of: token, in: bytes), 0)
            while let byte = decoded.next() {
                text[count] = byte
                count += 1
            }
            return count
        }
    }

    func integer(of token: JSONToken) -> Int64 {
        var parser = JSONParser(rereading: token, of: bytes)
        // The number is valid, because it was parsed before.
        guard case .integer(let integer)? = try? parser.number() else { return 0 }
        return integer
    }

    /// The error that ends ``forEachMember(of:_:)`` or ``forEachElement(of:_:)`` early.
    private static let stop = JSONError(.trailingBytes, at: 0)

    /// Calls the body with each member of an object token of these bytes until the body returns false. Cannot fail,
    /// because the object was parsed before.
    func forEachMember(of token: JSONToken, _ body: (_ key: JSONToken, _ value: JSONToken) -> Bool) {
        var parser = JSONParser(rereading: token, of: bytes)
        try? parser.members { (key, value) throws(JSONError) in if !body(key, value) { throw JSONParser.stop } }
    }

    /// Returns the value of a member of a token; nil if the token is not an object or has no such member.
    func member(_ name: StaticString, of token: JSONToken?) -> JSONToken? {
        guard let token, token.kind == .object else { return nil }
        var member: JSONToken?
        forEachMember(of: token) { key, value in
            if isWord(name, key) { member = value }
            return member == nil
        }
        return member
    }

    /// Calls the body with each element of an array token of these bytes until the body returns false. Cannot fail,
    /// because the array was parsed before.
    func forEachElement(of token: JSONToken, _ body: (JSONToken) -> Bool) {
        var parser = JSONParser(rereading: token, of: bytes)
        try? parser.elements { (element) throws(JSONError) in if !body(element) { throw JSONParser.stop } }
    }

    /// - Parameter areSome: whether an empty array gives false.
    func allElements(of token: JSONToken, satisfy isGood: (JSONToken) -> Bool, areSome: Bool = false) -> Bool {
        var (hasSome, areGood) = (false, true)
        forEachElement(of: token) { element in
            hasSome = true
            areGood = isGood(element)
            return areGood
        }
        return areGood && (hasSome || !areSome)
    }

    /// Whether the text of a string token equals this text, byte for byte.
    @inline(__always) func isWord(_ text: StaticString, _ token: JSONToken) -> Bool {
        isText(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount), token)
    }

    func isText(_ text: String, _ token: JSONToken) -> Bool {
        var text = text
        return text.withUTF8 { isText(UnsafeRawBufferPointer($0), token) }
    }

    @inline(__always) private func isText(_ text: UnsafeRawBufferPointer, _ token: JSONToken) -> Bool {
        let content = token.content
        guard token.isPlain else { return DecodedBytes(of: token, in: bytes).are(text) }
        guard content.count == text.count else { return false }
        // An empty text has no bytes to compare. Otherwise the token has bytes, so neither address is nil.
        return text.isEmpty || memcmp(bytes.baseAddress! + content.lowerBound, text.baseAddress!, text.count) == 0
    }
}

/// Iterates over the bytes of a string token's text, without memory for the text.
struct DecodedBytes: IteratorProtocol {
    private var parser: JSONParser
    private let end: Int
    /// The remaining bytes of an escaped character, the next one lowest, below a 1 bit that marks the end.
    private var rest: UInt32 = 1

    /// - Parameter token: a string token that was parsed from these bytes.
    init(of token: JSONToken, in bytes: UnsafeRawBufferPointer) {
        parser = JSONParser(bytes)
        parser.position = token.content.lowerBound
        end = token.content.upperBound
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

/// Finds duplicate keys: by comparison up to eight keys, by hashing above, so that an object of 10,000 members does not
/// need 50 million comparisons.
struct DistinctKeys {
    /// The first eight keys.
    private var few: InlineArray<8, JSONToken> = InlineArray(repeating: JSONToken(.null, 0..<0))
    private var count = 0
    private var many: KeyTable?

    /// Returns false if the object already has the key. Keys are compared by their decoded bytes.
    mutating func insert(_ key: JSONToken, _ parser: JSONParser) -> Bool {
        guard count < 8 else { return insertIntoMany(key, parser) }
        for index in 0..<count where parser.hasSameContent(key, few[index]) { return false }
        few[count] = key
        count += 1
        return true
    }

    private mutating func insertIntoMany(_ key: JSONToken, _ parser: JSONParser) -> Bool {
        if many == nil {
            many = KeyTable()
            for index in 0..<count { _ = many?.insert(few[index], parser) }
        }
        return many?.insert(key, parser) == true
    }
}

/// A hash table of the keys of an object. Keys are compared only if their hashes are equal.
private struct KeyTable {
    private var keys: [(hash: Int, token: JSONToken)] = []
    /// A key's index plus 1, at the first free place from its hash on; 0 if free. At least half of the places are free.
    private var places = [Int32](repeating: 0, count: 64)
    /// A buffer for the text of a key with escapes.
    private var decoded: [UInt8] = []

    mutating func insert(_ key: JSONToken, _ parser: JSONParser) -> Bool {
        let hash = hash(of: key, parser)
        var place = hash & (places.count - 1)
        while places[place] > 0 {
            let known = keys[Int(places[place]) - 1]
            if known.hash == hash, parser.hasSameContent(known.token, key) { return false }
            place = (place + 1) & (places.count - 1)
        }
        keys.append((hash, key))
        places[place] = Int32(truncatingIfNeeded: keys.count)
        if 2 * keys.count > places.count { grow() }
        return true
    }

    /// Swift seeds its hasher at random in every process, so a peer cannot choose colliding keys.
    private mutating func hash(of key: JSONToken, _ parser: JSONParser) -> Int {
        var hasher = Hasher()
        if key.isPlain {
            hasher.combine(bytes: UnsafeRawBufferPointer(rebasing: parser.bytes[key.content]))
        } else {
            decoded.removeAll(keepingCapacity: true)
            var bytes = DecodedBytes(of: key, in: parser.bytes)
            while let byte = bytes.next() { decoded.append(byte) }
            decoded.withUnsafeBytes { hasher.combine(bytes: $0) }
        }
        return hasher.finalize()
    }

    private mutating func grow() {
        places = [Int32](repeating: 0, count: 4 * places.count)
        for index in keys.indices {
            var place = keys[index].hash & (places.count - 1)
            while places[place] > 0 { place = (place + 1) & (places.count - 1) }
            places[place] = Int32(truncatingIfNeeded: index + 1)
        }
    }
}

extension JSONParser {
    /// Whether two strings have the same text, byte for byte.
    @inline(__always) fileprivate func hasSameContent(_ left: JSONToken, _ right: JSONToken) -> Bool {
        guard left.isPlain, right.isPlain else {
            return DecodedBytes(of: left, in: bytes).areSame(as: DecodedBytes(of: right, in: bytes))
        }
        guard left.content.count == right.content.count else { return false }
        // Both tokens are ranges of `bytes`, so `bytes` is not empty.
        let base = bytes.baseAddress!
        return memcmp(base + left.content.lowerBound, base + right.content.lowerBound, left.content.count) == 0
    }
}
