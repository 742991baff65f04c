/// A JSON value as read from or written to a line of the wire protocol.
///
/// Numbers without fraction and exponent are integers, all others doubles: the wire protocol tells them apart (an `id`
/// of `1.0` is refused), so `.integer(1)` and `.double(1)` are different values.
package enum JSON: Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    case double(Double)
    case string(String)
    case array([JSON])
    case object(JSONObject)
}

extension JSON: Equatable {
    /// Compares strings by their bytes, and objects without regard to the order of their members.
    ///
    /// Written out because `String.==` takes canonically equivalent texts for equal, which JSON does not.
    package static func == (left: JSON, right: JSON) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let left), .bool(let right)): left == right
        case (.integer(let left), .integer(let right)): left == right
        case (.double(let left), .double(let right)): left == right
        case (.string(let left), .string(let right)): left.hasSameBytes(as: right)
        case (.array(let left), .array(let right)): left == right
        case (.object(let left), .object(let right)): left == right
        case (.null, _), (.bool, _), (.integer, _), (.double, _), (.string, _), (.array, _), (.object, _): false
        }
    }
}

// Literals build values in tests and in the few places that answer with a fixed document.

extension JSON: ExpressibleByNilLiteral { package init(nilLiteral: ()) { self = .null } }

extension JSON: ExpressibleByBooleanLiteral { package init(booleanLiteral value: Bool) { self = .bool(value) } }

extension JSON: ExpressibleByIntegerLiteral { package init(integerLiteral value: Int64) { self = .integer(value) } }

extension JSON: ExpressibleByFloatLiteral { package init(floatLiteral value: Double) { self = .double(value) } }

extension JSON: ExpressibleByStringLiteral { package init(stringLiteral value: String) { self = .string(value) } }

extension JSON: ExpressibleByArrayLiteral { package init(arrayLiteral elements: JSON...) { self = .array(elements) } }

extension JSON: ExpressibleByDictionaryLiteral {
    /// An object; a key that stands twice is a programming error and traps in debug builds.
    package init(dictionaryLiteral elements: (String, JSON)...) {
        self = .object(JSONObject(uniqueMembers: elements.map { (key: $0.0, value: $0.1) }))
    }
}

extension JSON {
    /// How many brackets may be open at one time.
    package static let maximumDepth = 32

    /// The largest magnitude of an integer literal, 2^53: up to here every integer is exact in a binary64 as well, so
    /// peers that know only doubles read the same number (RFC 8259, section 6).
    package static let maximumInteger: Int64 = 1 << 53

    /// Reads exactly one value, with white space around it.
    ///
    /// RFC 8259 and stricter where it leaves room: valid UTF-8 without byte order mark, no duplicate keys (compared
    /// after decoding, by bytes), at most `maximumDepth` open brackets, integer literals within ±`maximumInteger`, no
    /// number that overflows binary64 (underflow gives zero), no lone surrogate escapes.
    package static func parse(_ bytes: UnsafeRawBufferPointer) throws(JSONError) -> JSON {
        var parser = JSONParser(bytes)
        return try parser.document()
    }

    package static func parse(_ bytes: [UInt8]) throws(JSONError) -> JSON { try parse(bytes[...]) }

    package static func parse(_ bytes: ArraySlice<UInt8>) throws(JSONError) -> JSON {
        try bytes.withRawBytes { bytes throws(JSONError) in try parse(bytes) }
    }

    package static func parse(_ text: String) throws(JSONError) -> JSON { try parse(Array(text.utf8)) }
}
