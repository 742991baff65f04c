/// A type with a wire form that can be written.
package protocol JSONEncodable {
    /// Writes exactly one value.
    func encode(to json: inout JSONWriter)
}

extension JSONEncodable {
    package var jsonBytes: [UInt8] {
        var json = JSONWriter()
        encode(to: &json)
        return json.bytes
    }

    /// The wire form as text, for logs, databases and tests.
    package var jsonText: String { String(decoding: jsonBytes, as: UTF8.self) }
}

extension JSONWriter {
    package mutating func value(_ value: some JSONEncodable) { value.encode(to: &self) }

    /// Writes a member of an object, or nothing if there is no value, because an absent member means unknown.
    package mutating func member<Value: JSONEncodable>(_ key: StaticString, _ value: Value?) {
        guard let value else { return }
        self.key(key)
        value.encode(to: &self)
    }
}

/// A type with a wire form that can be read.
package protocol JSONDecodable {
    init(json: JSONValue) throws(JSONDecodingError)
}

extension JSONDecodable {
    /// Parses and decodes exactly one value.
    ///
    /// - Throws: ``JSONError`` or ``JSONDecodingError``.
    package init(parsing bytes: UnsafeRawBufferPointer) throws { try self.init(json: try JSONValue(parsing: bytes)) }

    package init(parsing bytes: ArraySlice<UInt8>) throws {
        self = try bytes.withRawBytes { bytes in try Self(parsing: bytes) }
    }

    package init(parsing bytes: [UInt8]) throws { try self.init(parsing: bytes[...]) }
}

/// One valid JSON value as bytes, for a result whose type is known later.
package struct EncodedJSON: Equatable, Sendable, JSONEncodable {
    private let bytes: [UInt8]

    package init(_ value: JSONValue) { bytes = Array(value.encoded) }

    package init(_ value: some JSONEncodable) { bytes = value.jsonBytes }

    package func decoded<Value: JSONDecodable>(
        as type: Value.Type = Value.self
    ) throws(JSONDecodingError) -> Value {
        try bytes[...].withRawBytes { bytes throws(JSONDecodingError) in
            // Parsed before, so an object is not parsed again as a whole, and nothing fails.
            let value =
                bytes.first == UInt8(ascii: "{")
                ? JSONValue(JSONToken(.object, 0..<bytes.count), of: bytes) : try? JSONValue(parsing: bytes)
            guard let value else { throw JSONDecodingError(message: "must be JSON") }
            return try Value(json: value)
        }
    }

    /// The value as a tree, which is written again with all escapes of ``JSONWriter``.
    package var tree: JSON { (try? decoded()) ?? .null }

    package func encode(to json: inout JSONWriter) { tree.encode(to: &json) }
}

extension Array: JSONDecodable where Element: JSONDecodable {
    package init(json: JSONValue) throws(JSONDecodingError) {
        guard json.kind == .array else { throw JSONDecodingError(message: "must be an array") }
        self = []
        var fault: JSONDecodingError?
        json.forEachElement { element in
            do throws(JSONDecodingError) { append(try Element(json: element)) } catch {
                fault = error.below("\(count)")
            }
            return fault == nil
        }
        if let fault { throw fault }
    }
}

extension Dictionary: JSONDecodable where Key == String, Value: JSONDecodable {
    /// Throws an error for different keys that are canonically equivalent, because `String` treats them as equal.
    package init(json: JSONValue) throws(JSONDecodingError) {
        guard json.kind == .object else { throw JSONDecodingError(message: "must be an object") }
        self = [:]
        var fault: JSONDecodingError?
        json.forEachMember { key, value in
            let key = key.text ?? ""
            do throws(JSONDecodingError) {
                if updateValue(try Value(json: value), forKey: key) != nil {
                    fault = JSONDecodingError(message: "must not have canonically equivalent keys")
                }
            } catch {
                fault = error.below(key)
            }
            return fault == nil
        }
        if let fault { throw fault }
    }
}

/// An error for valid JSON of an unexpected shape.
package struct JSONDecodingError: Error, Equatable, CustomStringConvertible {
    /// The keys and indices from the outermost value to the invalid value, joined by dots; can be empty.
    package var path: String

    /// The end of a sentence that begins with the path: "must be a string".
    package var message: String

    package init(path: String = "", message: String) { (self.path, self.message) = (path, message) }

    /// Returns this error with a step prepended to the path.
    package func below(_ step: String) -> JSONDecodingError {
        JSONDecodingError(path: path.isEmpty ? step : "\(step).\(path)", message: message)
    }

    /// One sentence, such as `items.0.text must be a string.`
    package var description: String { "\(path.isEmpty ? "The value" : path) \(message)." }
}

extension JSON: JSONEncodable, JSONDecodable {
    package init(json: JSONValue) {
        switch json.kind {
        case .null: self = .null
        case .false: self = .bool(false)
        case .true: self = .bool(true)
        case .integer: self = json.integer.map(JSON.integer) ?? .string(String(decoding: json.encoded, as: UTF8.self))
        case .double: self = .double(json.double ?? 0)
        case .string: self = .string(json.text ?? "")
        case .array:
            var elements: [JSON] = []
            json.forEachElement { element in
                elements.append(JSON(json: element))
                return true
            }
            self = .array(elements)
        case .object: self = .object(JSONObject(members: json))
        }
    }

    package func encode(to json: inout JSONWriter) {
        switch self {
        case .null: json.null()
        case .bool(let value): json.bool(value)
        case .integer(let value): json.integer(value)
        case .double(let value): json.double(value)
        case .string(let value): json.string(value)
        case .array(let elements): elements.encode(to: &json)
        case .object(let object): object.encode(to: &json)
        }
    }
}

extension JSONObject: JSONEncodable {
    /// The members of an object; none for another value.
    package init(members value: JSONValue) {
        var members: [(key: String, value: JSON)] = []
        var keys = DistinctKeys()
        var repeated: [(key: String, value: JSON)] = []
        value.forEachMember { key, value in
            let member = (key: key.text ?? "", value: JSON(json: value))
            if keys.insert(key.token, of: key.bytes) { members.append(member) } else { repeated.append(member) }
            return true
        }
        self.init(uniqueMembers: members)
        for (key, value) in repeated { self[key] = value }
    }

    package func encode(to json: inout JSONWriter) {
        json.beginObject()
        for member in members {
            json.key(member.key)
            member.value.encode(to: &json)
        }
        json.endObject()
    }
}

extension String: WireValue {
    package static var schema: Schema { .string }

    package init(json: JSONValue) throws(JSONDecodingError) {
        guard let text = json.text else { throw JSONDecodingError(message: "must be a string") }
        self = text
    }

    package func encode(to json: inout JSONWriter) { json.string(self) }
}

extension Bool: WireValue {
    package static var schema: Schema { .boolean }

    package init(json: JSONValue) throws(JSONDecodingError) {
        guard json.kind == .true || json.kind == .false else {
            throw JSONDecodingError(message: "must be true or false")
        }
        self = json.kind == .true
    }

    package func encode(to json: inout JSONWriter) { json.bool(self) }
}

extension Int: WireValue {
    /// A number of items, bytes or seconds. Members with a range have their own schema.
    package static var schema: Schema { .count }

    /// Accepts only literals without fraction and exponent: `1.0` is not an integer.
    package init(json: JSONValue) throws(JSONDecodingError) {
        guard json.kind == .integer, let value = json.integer else {
            throw JSONDecodingError(message: "must be an integer")
        }
        self = Int(value)
    }

    package func encode(to json: inout JSONWriter) { json.integer(self) }
}

extension Array: JSONEncodable where Element: JSONEncodable {
    package func encode(to json: inout JSONWriter) {
        json.beginArray()
        for element in self { element.encode(to: &json) }
        json.endArray()
    }
}

extension Dictionary: JSONEncodable where Key == String, Value: JSONEncodable {
    /// Writes an object with its keys in ascending order, so that equal values have equal texts.
    package func encode(to json: inout JSONWriter) {
        json.beginObject()
        for (key, value) in sorted(by: { $0.key < $1.key }) {
            json.key(key)
            value.encode(to: &json)
        }
        json.endObject()
    }
}
