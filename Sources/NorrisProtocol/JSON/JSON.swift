/// A JSON value of the wire protocol.
///
/// Numbers without fraction and exponent are integers; all others are doubles. `.integer(1)` and `.double(1)` are
/// different values, because the protocol refuses, for example, an `id` of `1.0`.
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
    /// Compares strings by their bytes, and objects regardless of the order of their members.
    ///
    /// Not synthesized, because `String.==` treats canonically equivalent texts as equal, unlike JSON.
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

// Literals are for tests and for the few fixed documents of the daemon.

extension JSON: ExpressibleByNilLiteral { package init(nilLiteral: ()) { self = .null } }

extension JSON: ExpressibleByBooleanLiteral { package init(booleanLiteral value: Bool) { self = .bool(value) } }

extension JSON: ExpressibleByIntegerLiteral { package init(integerLiteral value: Int64) { self = .integer(value) } }

extension JSON: ExpressibleByFloatLiteral { package init(floatLiteral value: Double) { self = .double(value) } }

extension JSON: ExpressibleByStringLiteral { package init(stringLiteral value: String) { self = .string(value) } }

extension JSON: ExpressibleByArrayLiteral { package init(arrayLiteral elements: JSON...) { self = .array(elements) } }

extension JSON: ExpressibleByDictionaryLiteral {
    package init(dictionaryLiteral elements: (String, JSON)...) {
        self = .object(JSONObject(uniqueMembers: elements.map { (key: $0.0, value: $0.1) }))
    }
}

extension JSON {
    /// The members of shared values whose texts can have several lines.
    package static let multilineMembers: Set = ["text", "markdown"]

    /// The value with each string replaced by another one, but not the keys of objects.
    ///
    /// - Parameter change: called with the key of the innermost member, which is empty outside of objects.
    package func mapStrings(key: String = "", _ change: (_ key: String, String) -> String) -> JSON {
        switch self {
        case .null, .bool, .integer, .double: self
        case .string(let text): .string(change(key, text))
        case .array(let elements): .array(elements.map { $0.mapStrings(key: key, change) })
        case .object(let object):
            .object(
                JSONObject(uniqueMembers: object.members.map { ($0.key, $0.value.mapStrings(key: $0.key, change)) }))
        }
    }

    /// The maximum number of nested arrays and objects.
    package static let maximumDepth = 32

    /// The same for the document of an upstream.
    package static let maximumLenientDepth = 512

    /// The largest magnitude of an integer literal, 2^53. Up to this limit, peers that have only binary64 numbers read
    /// every integer exactly (RFC 8259, section 6).
    package static let maximumInteger: Int64 = 1 << 53

    /// Parses exactly one value, with optional white space around it, as strictly as ``JSONParser``.
    package static func parse(_ bytes: ArraySlice<UInt8>) throws(JSONError) -> JSON {
        try bytes.withRawBytes { bytes throws(JSONError) in JSON(json: try JSONValue(parsing: bytes)) }
    }

    /// Parses the document of an upstream as browsers do. The last one of repeated names counts, half of a surrogate
    /// pair is U+FFFD, and an integer beyond ±``maximumInteger`` is a string of its digits.
    package static func parseLeniently(_ bytes: ArraySlice<UInt8>) throws(JSONError) -> JSON {
        try bytes.withRawBytes { bytes throws(JSONError) in JSON(json: try JSONValue(lenientlyParsing: bytes)) }
    }

    package static func parse(_ bytes: [UInt8]) throws(JSONError) -> JSON { try parse(bytes[...]) }

    package static func parse(_ text: String) throws(JSONError) -> JSON { try parse(Array(text.utf8)) }
}
