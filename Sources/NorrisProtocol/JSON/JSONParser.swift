/// A recursive descent over the raw bytes of one value; the depth limit bounds the recursion.
///
/// It reads only inside `bytes`, which must outlive it. Strings are in `JSONParser+String.swift`, numbers in
/// `JSONParser+Number.swift`.
struct JSONParser {
    let bytes: UnsafeRawBufferPointer
    var position = 0
    private var depth = 0

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    /// The whole input as one value.
    mutating func document() throws(JSONError) -> JSON {
        if bytes.first == 0xEF, bytes.starts(with: [0xEF, 0xBB, 0xBF]) {
            throw JSONError(.byteOrderMark, at: 0)
        }
        let value = try value()
        skipWhiteSpace()
        guard position == bytes.count else { throw JSONError(.trailingBytes, at: position) }
        return value
    }

    private mutating func value() throws(JSONError) -> JSON {
        skipWhiteSpace()
        switch try peek() {
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "{"): return .object(try object())
        case UInt8(ascii: "["): return .array(try array())
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
        case UInt8(ascii: "t"): return try word("true", is: .bool(true))
        case UInt8(ascii: "f"): return try word("false", is: .bool(false))
        case UInt8(ascii: "n"): return try word("null", is: .null)
        default: throw JSONError(.unexpectedByte, at: position)
        }
    }

    private mutating func array() throws(JSONError) -> [JSON] {
        try open()
        var elements: [JSON] = []
        skipWhiteSpace()
        if try peek() == UInt8(ascii: "]") {
            close()
            return elements
        }
        while true {
            elements.append(try value())
            if try isLast(before: UInt8(ascii: "]")) {
                return elements
            }
        }
    }

    private mutating func object() throws(JSONError) -> JSONObject {
        try open()
        skipWhiteSpace()
        if try peek() == UInt8(ascii: "}") {
            close()
            return JSONObject()
        }
        var members: [(key: String, value: JSON)] = []
        members.reserveCapacity(4)  // the size of a request's envelope
        var keys = DistinctKeys()
        while true {
            skipWhiteSpace()
            let start = position
            guard try peek() == UInt8(ascii: "\"") else { throw JSONError(.unexpectedByte, at: position) }
            let key = try string()
            guard keys.insert(key, after: members) else { throw JSONError(.duplicateKey, at: start) }
            skipWhiteSpace()
            guard try peek() == UInt8(ascii: ":") else { throw JSONError(.unexpectedByte, at: position) }
            position += 1
            members.append((key: key, value: try value()))
            if try isLast(before: UInt8(ascii: "}")) {
                return JSONObject(uniqueMembers: members)
            }
        }
    }

    /// Steps over the comma (false) or the closing bracket (true) after an element.
    private mutating func isLast(before bracket: UInt8) throws(JSONError) -> Bool {
        skipWhiteSpace()
        switch try peek() {
        case UInt8(ascii: ","):
            position += 1
            return false
        case bracket:
            close()
            return true
        default:
            throw JSONError(.unexpectedByte, at: position)
        }
    }

    private mutating func open() throws(JSONError) {
        guard depth < JSON.maximumDepth else { throw JSONError(.tooDeep, at: position) }
        depth += 1
        position += 1
    }

    private mutating func close() {
        depth -= 1
        position += 1
    }

    private mutating func word(_ word: StaticString, is value: JSON) throws(JSONError) -> JSON {
        for index in 0..<word.utf8CodeUnitCount {
            guard try peek() == word.utf8Start[index] else { throw JSONError(.unexpectedByte, at: position) }
            position += 1
        }
        return value
    }

    private mutating func skipWhiteSpace() {
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\t"): position += 1
            default: return
            }
        }
    }

    /// The byte at the position, which stays.
    func peek() throws(JSONError) -> UInt8 {
        guard position < bytes.count else { throw JSONError(.unexpectedEnd, at: position) }
        return bytes[position]
    }
}

/// Finds duplicate keys: by comparing while there are few, by hashing once there are many, so that an object of ten
/// thousand members does not cost fifty million comparisons.
private struct DistinctKeys {
    private var seen: Set<ByteKey> = []

    /// False if one of `members` has the key already.
    mutating func insert(_ key: String, after members: [(key: String, value: JSON)]) -> Bool {
        if members.count < 16 {
            for member in members where member.key.hasSameBytes(as: key) {
                return false
            }
            return true
        }
        if seen.isEmpty {
            seen = Set(members.lazy.map { ByteKey($0.key) })
        }
        return seen.insert(ByteKey(key)).inserted
    }
}
