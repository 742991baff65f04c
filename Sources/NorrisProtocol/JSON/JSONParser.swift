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
        try begin()
        let value = try value()
        try end()
        return value
    }

    /// Refuses a byte order mark.
    mutating func begin() throws(JSONError) {
        if bytes.first == 0xEF, bytes.starts(with: [0xEF, 0xBB, 0xBF]) {
            throw JSONError(.byteOrderMark, at: 0)
        }
    }

    /// Refuses anything but white space behind the value.
    mutating func end() throws(JSONError) {
        skipWhiteSpace()
        guard position == bytes.count else { throw JSONError(.trailingBytes, at: position) }
    }

    private mutating func value() throws(JSONError) -> JSON {
        skipWhiteSpace()
        switch try peek() {
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "{"): return .object(try object())
        case UInt8(ascii: "["): return .array(try array())
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
        case UInt8(ascii: "t"):
            try word("true")
            return .bool(true)
        case UInt8(ascii: "f"):
            try word("false")
            return .bool(false)
        case UInt8(ascii: "n"):
            try word("null")
            return .null
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
        repeat {
            elements.append(try value())
        } while try !isLast(before: UInt8(ascii: "]"))
        return elements
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
        repeat {
            let key = try nextKey(&keys)
            members.append((key: text(of: key), value: try value()))
        } while try !isLast(before: UInt8(ascii: "}"))
        return JSONObject(uniqueMembers: members)
    }

    /// Steps over the comma (false) or the closing bracket (true) after an element.
    mutating func isLast(before bracket: UInt8) throws(JSONError) -> Bool {
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

    mutating func open() throws(JSONError) {
        guard depth < JSON.maximumDepth else { throw JSONError(.tooDeep, at: position) }
        depth += 1
        position += 1
    }

    mutating func close() {
        depth -= 1
        position += 1
    }

    mutating func word(_ word: StaticString) throws(JSONError) {
        for index in 0..<word.utf8CodeUnitCount {
            guard try peek() == word.utf8Start[index] else { throw JSONError(.unexpectedByte, at: position) }
            position += 1
        }
    }

    @inline(__always)
    mutating func skipWhiteSpace() {
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\t"): position += 1
            default: return
            }
        }
    }

    /// The byte at the position, which stays.
    @inline(__always)
    func peek() throws(JSONError) -> UInt8 {
        guard position < bytes.count else { throw JSONError(.unexpectedEnd, at: position) }
        return bytes[position]
    }
}
