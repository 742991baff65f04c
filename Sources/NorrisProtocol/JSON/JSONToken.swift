import Glibc

/// A JSON value that was read in place: what it is, and where its bytes are. Offsets count from the parser's first
/// byte.
///
/// It is found by the same code that builds ``JSON`` values, so it is checked as strictly, but it allocates nothing.
package struct JSONToken: Equatable, Sendable {
    package enum Kind: UInt8, Sendable {
        case null, `false`, `true`, integer, double, string, array, object
    }

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
        case UInt8(ascii: "\""):
            return try stringToken()
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
        default:
            throw JSONError(.unexpectedByte, at: position)
        }
    }

    /// The string whose opening quote is at the position.
    @inline(__always)
    mutating func stringToken() throws(JSONError) -> JSONToken {
        let start = position
        position += 1
        if skipPlainBytes(), try peek() == UInt8(ascii: "\"") {
            position += 1
            return JSONToken(.string, start..<position, isPlain: true)
        }
        // UTF-8 and escapes are checked by reading them; requests have few of either.
        position = start
        _ = try string()
        return JSONToken(.string, start..<position)
    }

    /// Reads the object at the position and calls the body with each key and value.
    mutating func members(
        _ body: (_ key: JSONToken, _ value: JSONToken) throws(JSONError) -> Void
    ) throws(JSONError) {
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
        repeat {
            try body(try token())
        } while try !isLast(before: UInt8(ascii: "]"))
    }

    /// Reads a key that the object does not have yet, and the colon behind it.
    mutating func nextKey(_ keys: inout DistinctKeys) throws(JSONError) -> JSONToken {
        skipWhiteSpace()
        let key = try keyToken()
        guard keys.insert(key, self) else { throw JSONError(.duplicateKey, at: key.range.lowerBound) }
        try colon()
        return key
    }

    @inline(__always)
    mutating func keyToken() throws(JSONError) -> JSONToken {
        guard try peek() == UInt8(ascii: "\"") else { throw JSONError(.unexpectedByte, at: position) }
        return try stringToken()
    }

    @inline(__always)
    mutating func colon() throws(JSONError) {
        skipWhiteSpace()
        guard try peek() == UInt8(ascii: ":") else { throw JSONError(.unexpectedByte, at: position) }
        position += 1
    }

    /// The text of a string token of these bytes.
    func text(of token: JSONToken) -> String {
        if token.isPlain {
            return String(decoding: UnsafeRawBufferPointer(rebasing: bytes[token.content]), as: UTF8.self)
        }
        var parser = JSONParser(bytes)
        parser.position = token.range.lowerBound
        // The same code has read it before, so it cannot fail.
        return (try? parser.string()) ?? ""
    }

    /// The number of an integer token of these bytes.
    func integer(of token: JSONToken) -> Int64 {
        var parser = JSONParser(bytes)
        parser.position = token.range.lowerBound
        // The same code has read it before, so it is one.
        guard case .integer(let integer)? = try? parser.number() else { return 0 }
        return integer
    }

    /// Calls the body with each member of an object token of these bytes, which has been read before and cannot fail.
    func forEachMember(of token: JSONToken, _ body: (_ key: JSONToken, _ value: JSONToken) -> Void) {
        var parser = JSONParser(bytes)
        parser.position = token.range.lowerBound
        try? parser.members { (key, value) throws(JSONError) in body(key, value) }
    }

    /// The value of a member of an object token of these bytes; nil if the token is no object, or has no such member.
    func member(_ name: StaticString, of token: JSONToken?) -> JSONToken? {
        guard let token, token.kind == .object else { return nil }
        var member: JSONToken?
        forEachMember(of: token) { key, value in
            if isWord(name, key) { member = value }
        }
        return member
    }

    /// Calls the body with each element of an array token of these bytes, which has been read before and cannot fail.
    func forEachElement(of token: JSONToken, _ body: (JSONToken) -> Void) {
        var parser = JSONParser(bytes)
        parser.position = token.range.lowerBound
        try? parser.elements { (element) throws(JSONError) in body(element) }
    }

    /// - Parameter areSome: whether there must be at least one.
    func allElements(of token: JSONToken, satisfy isGood: (JSONToken) -> Bool, areSome: Bool = false) -> Bool {
        var (count, areGood) = (0, true)
        forEachElement(of: token) { element in
            count += 1
            areGood = areGood && isGood(element)
        }
        return areGood && (count > 0 || !areSome)
    }

    /// Whether the text of a string token of these bytes is this one, byte for byte.
    @inline(__always)
    func isWord(_ text: StaticString, _ token: JSONToken) -> Bool {
        guard token.isPlain else { return self.text(of: token).hasSameBytes(as: "\(text)") }
        let content = token.content
        guard content.count == text.utf8CodeUnitCount else { return false }
        // Both have so many bytes: the token is one of `bytes`, which are not empty then.
        return memcmp(bytes.baseAddress! + content.lowerBound, text.utf8Start, content.count) == 0
    }

    /// The same for a text that is known only when the program runs.
    func isText(_ text: String, _ token: JSONToken) -> Bool {
        guard token.isPlain else { return self.text(of: token).hasSameBytes(as: text) }
        return UnsafeRawBufferPointer(rebasing: bytes[token.content]).isText(text)
    }
}

extension UnsafeRawBufferPointer {
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
    /// Plain keys while there are few.
    private var few: InlineArray<8, JSONToken> = InlineArray(repeating: JSONToken(.null, 0..<0))
    /// 8 once there are many.
    private var count = 0
    private var many: Set<ByteKey> = []

    /// False if the object has the key already. Keys count by their decoded bytes.
    mutating func insert(_ key: JSONToken, _ parser: JSONParser) -> Bool {
        guard key.isPlain, count < 8 else { return insertIntoMany(key, parser) }
        for index in 0..<count where parser.hasSameContent(key, few[index]) { return false }
        few[count] = key
        count += 1
        return true
    }

    private mutating func insertIntoMany(_ key: JSONToken, _ parser: JSONParser) -> Bool {
        if many.isEmpty {
            for index in 0..<count { many.insert(ByteKey(parser.text(of: few[index]))) }
            count = 8
        }
        return many.insert(ByteKey(parser.text(of: key))).inserted
    }
}

extension JSONParser {
    /// Of two plain strings.
    @inline(__always)
    fileprivate func hasSameContent(_ left: JSONToken, _ right: JSONToken) -> Bool {
        guard left.content.count == right.content.count else { return false }
        // Both are tokens of `bytes`, which are not empty then.
        let base = bytes.baseAddress!
        return memcmp(base + left.content.lowerBound, base + right.content.lowerBound, left.content.count) == 0
    }
}
