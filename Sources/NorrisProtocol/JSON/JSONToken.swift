import Glibc

/// A JSON value that was read in place: what it is, and where its bytes are. Offsets count from the parser's first
/// byte.
///
/// It is found by the same code that builds ``JSON`` values, so it is checked as strictly, but it allocates nothing.
package struct JSONToken: Equatable, Sendable {
    package enum Kind: UInt8, Sendable { case null, `false`, `true`, integer, double, string, array, object }

    package let kind: Kind
    /// Of a string: whether its bytes are ASCII without escapes, so that they are its text.
    package let isPlain: Bool
    /// Quotes and brackets included. A line is far shorter than 2 GiB.
    private let start, end: Int32

    package init(_ kind: Kind, _ range: Range<Int>, isPlain: Bool = false) {
        self.kind = kind
        self.isPlain = isPlain
        start = Int32(truncatingIfNeeded: range.lowerBound)
        end = Int32(truncatingIfNeeded: range.upperBound)
    }

    package var range: Range<Int> { Int(start)..<Int(end) }

    /// Of a string: what is between its quotes.
    var content: Range<Int> { Int(start) + 1..<Int(end) - 1 }
}

extension JSONToken {
    /// The text of a string token of these bytes.
    package func text(in bytes: UnsafeRawBufferPointer) -> String { JSONParser(bytes).text(of: self) }

    /// The text of a string token of these bytes where its bytes are its text; else nil.
    package func plainText(in bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        isPlain ? UnsafeRawBufferPointer(rebasing: bytes[content]) : nil
    }
}

extension JSONParser {
    /// Reads the value at the position in place, as strictly as ``document()`` does.
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

    /// The string whose opening quote is at the position.
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

    /// Reads a key that the object does not have yet, and the colon behind it.
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

    /// The text of a string token of these bytes.
    func text(of token: JSONToken) -> String {
        if token.isPlain {
            return String(decoding: UnsafeRawBufferPointer(rebasing: bytes[token.content]), as: UTF8.self)
        }
        let content = token.content
        // A text is never longer than the bytes that stand for it.
        return String(unsafeUninitializedCapacity: content.count) { text in
            var (decoded, count) = (DecodedBytes(of: token, in: bytes), 0)
            while let byte = decoded.next() {
                text[count] = byte
                count += 1
            }
            return count
        }
    }

    /// The number of an integer token of these bytes.
    func integer(of token: JSONToken) -> Int64 {
        var parser = JSONParser(rereading: token, of: bytes)
        // The same code has read it before, so it is one.
        guard case .integer(let integer)? = try? parser.number() else { return 0 }
        return integer
    }

    /// What ends a ``forEachMember(of:_:)`` or ``forEachElement(of:_:)`` early.
    private static let stop = JSONError(.trailingBytes, at: 0)

    /// Calls the body with each member of an object token of these bytes, which has been read before and cannot fail,
    /// until it returns false.
    func forEachMember(of token: JSONToken, _ body: (_ key: JSONToken, _ value: JSONToken) -> Bool) {
        var parser = JSONParser(rereading: token, of: bytes)
        try? parser.members { (key, value) throws(JSONError) in if !body(key, value) { throw JSONParser.stop } }
    }

    /// The value of a member of an object token of these bytes; nil if the token is no object, or has no such member.
    func member(_ name: StaticString, of token: JSONToken?) -> JSONToken? {
        guard let token, token.kind == .object else { return nil }
        var member: JSONToken?
        forEachMember(of: token) { key, value in
            if isWord(name, key) { member = value }
            return member == nil
        }
        return member
    }

    /// Calls the body with each element of an array token of these bytes, which has been read before and cannot fail,
    /// until it returns false.
    func forEachElement(of token: JSONToken, _ body: (JSONToken) -> Bool) {
        var parser = JSONParser(rereading: token, of: bytes)
        try? parser.elements { (element) throws(JSONError) in if !body(element) { throw JSONParser.stop } }
    }

    /// - Parameter areSome: whether there must be at least one.
    func allElements(of token: JSONToken, satisfy isGood: (JSONToken) -> Bool, areSome: Bool = false) -> Bool {
        var (hasSome, areGood) = (false, true)
        forEachElement(of: token) { element in
            hasSome = true
            areGood = isGood(element)
            return areGood
        }
        return areGood && (hasSome || !areSome)
    }

    /// Whether the text of a string token of these bytes is this one, byte for byte.
    @inline(__always) func isWord(_ text: StaticString, _ token: JSONToken) -> Bool {
        isText(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount), token)
    }

    /// The same for a text that is known only when the program runs.
    func isText(_ text: String, _ token: JSONToken) -> Bool {
        var text = text
        return text.withUTF8 { isText(UnsafeRawBufferPointer($0), token) }
    }

    @inline(__always) private func isText(_ text: UnsafeRawBufferPointer, _ token: JSONToken) -> Bool {
        let content = token.content
        guard token.isPlain else { return DecodedBytes(of: token, in: bytes).are(text) }
        guard content.count == text.count else { return false }
        // An empty text compares nothing; any other token is one of `bytes`, which are not empty then.
        return text.isEmpty || memcmp(bytes.baseAddress! + content.lowerBound, text.baseAddress!, text.count) == 0
    }
}

/// The bytes of the text of a string token, one after the other, without memory for the text.
struct DecodedBytes: IteratorProtocol {
    private var parser: JSONParser
    private let end: Int
    /// The rest of a character that was escaped, its next byte lowest, with a 1 above its last.
    private var rest: UInt32 = 1

    /// - Parameter token: a string of these bytes, which has been read before.
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

    /// The first byte of the escaped character at the position.
    private mutating func escaped() -> UInt8? {
        // The same code has read it before, so it cannot fail.
        guard let scalar = try? parser.escape() else { return nil }
        guard !scalar.isASCII else { return UInt8(truncatingIfNeeded: scalar.value) }
        let encoded = Unicode.UTF8.encode(scalar)
        // A scalar always has an encoding, of four bytes at most: three are left.
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
    /// Whether these bytes are valid UTF-8.
    var isUTF8: Bool { withMemoryRebound(to: UInt8.self) { bytes in (try? UTF8Span(validating: bytes.span)) != nil } }

    /// Whether these bytes are the UTF-8 of a text.
    package func isText(_ text: String) -> Bool {
        guard count == text.utf8.count else { return false }
        var text = text
        // An empty text compares nothing.
        return text.withUTF8 { text in count == 0 || memcmp(baseAddress!, text.baseAddress!, count) == 0 }
    }
}

/// Finds duplicate keys: by comparing while there are few, by hashing once there are many, so that an object of ten
/// thousand members does not cost fifty million comparisons.
struct DistinctKeys {
    /// Keys while there are few.
    private var few: InlineArray<8, JSONToken> = InlineArray(repeating: JSONToken(.null, 0..<0))
    private var count = 0
    private var many: KeyTable?

    /// False if the object has the key already. Keys count by their decoded bytes.
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

/// The keys of an object by their hashes. Keys are compared only if their hashes are equal.
private struct KeyTable {
    private var keys: [(hash: Int, token: JSONToken)] = []
    /// The index of a key plus 1, from the place of its hash on; 0 is a free place. At least half of them are free.
    private var places = [Int32](repeating: 0, count: 64)
    /// The text of a key that has escapes.
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

    /// The standard library's hasher is keyed at random in every process, so a peer cannot choose colliding keys.
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
    /// Whether the texts of two strings are the same bytes.
    @inline(__always) fileprivate func hasSameContent(_ left: JSONToken, _ right: JSONToken) -> Bool {
        guard left.isPlain, right.isPlain else {
            return DecodedBytes(of: left, in: bytes).areSame(as: DecodedBytes(of: right, in: bytes))
        }
        guard left.content.count == right.content.count else { return false }
        // Both are tokens of `bytes`, which are not empty then.
        let base = bytes.baseAddress!
        return memcmp(base + left.content.lowerBound, base + right.content.lowerBound, left.content.count) == 0
    }
}
