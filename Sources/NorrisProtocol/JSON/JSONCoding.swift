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
    init(json: JSON) throws(JSONDecodingError)

    /// Reads a token that was parsed from these bytes.
    init(token: JSONToken, of bytes: UnsafeRawBufferPointer) throws(JSONDecodingError)
}

extension JSONDecodable {
    package init(token: JSONToken, of bytes: UnsafeRawBufferPointer) throws(JSONDecodingError) {
        var parser = JSONParser(rereading: token, of: bytes)
        // The value is valid JSON, because it was parsed before.
        try self.init(json: (try? parser.value()) ?? .null)
    }
}

extension JSON {
    /// The members of an object. Throws an error for other values.
    package func objectValue() throws(JSONDecodingError) -> JSONObject {
        guard case .object(let object) = self else { throw JSONDecodingError(message: "must be an object") }
        return object
    }

    /// The elements of an array. Throws an error for other values.
    package func arrayValue() throws(JSONDecodingError) -> [JSON] {
        guard case .array(let elements) = self else { throw JSONDecodingError(message: "must be an array") }
        return elements
    }
}

extension JSONObject {
    /// Reads a member that must be present. The path of an error contains the key.
    package func required<Value: JSONDecodable>(
        _ key: String, as type: Value.Type = Value.self
    ) throws(JSONDecodingError) -> Value {
        guard let json = self[key] else { throw JSONDecodingError(path: key, message: "is missing") }
        return try Value(json: json, below: key)
    }

    /// Reads a member that may be absent or `null`. The path of an error contains the key.
    package func optional<Value: JSONDecodable>(
        _ key: String, as type: Value.Type = Value.self
    ) throws(JSONDecodingError) -> Value? {
        switch self[key] {
        case nil, .null: nil
        case let json?: try Value(json: json, below: key)
        }
    }
}

extension JSONDecodable {
    /// Decodes a value, and prepends a step to the path of an error.
    fileprivate init(json: JSON, below step: String) throws(JSONDecodingError) {
        do {
            try self.init(json: json)
        } catch {
            throw error.below(step)
        }
    }
}

extension Array: JSONDecodable where Element: JSONDecodable {
    package init(json: JSON) throws(JSONDecodingError) {
        self = []
        for (index, element) in try json.arrayValue().enumerated() {
            do throws(JSONDecodingError) { append(try Element(json: element)) } catch { throw error.below("\(index)") }
        }
    }

    package init(token: JSONToken, of bytes: UnsafeRawBufferPointer) throws(JSONDecodingError) {
        guard token.kind == .array else { throw JSONDecodingError(message: "must be an array") }
        self = []
        var fault: JSONDecodingError?
        JSONParser(bytes).forEachElement(of: token) { element in
            do throws(JSONDecodingError) { append(try Element(token: element, of: bytes)) } catch {
                fault = error.below("\(count)")
            }
            return fault == nil
        }
        if let fault { throw fault }
    }
}

extension Dictionary: JSONDecodable where Key == String, Value: JSONDecodable {
    /// Throws an error for different keys that are canonically equivalent, because `String` treats them as equal.
    package init(json: JSON) throws(JSONDecodingError) {
        self = [:]
        for (key, value) in try json.objectValue().members {
            guard updateValue(try Value(json: value, below: key), forKey: key) == nil else {
                throw JSONDecodingError(message: "must not have canonically equivalent keys")
            }
        }
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
    package init(json: JSON) { self = json }

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

extension JSONObject: JSONEncodable, JSONDecodable {
    package init(json: JSON) throws(JSONDecodingError) { self = try json.objectValue() }

    package func encode(to json: inout JSONWriter) {
        json.beginObject()
        for member in members {
            json.key(member.key)
            member.value.encode(to: &json)
        }
        json.endObject()
    }
}

extension String: JSONEncodable, JSONDecodable {
    package init(json: JSON) throws(JSONDecodingError) {
        guard case .string(let value) = json else { throw JSONDecodingError(message: "must be a string") }
        self = value
    }

    package init(token: JSONToken, of bytes: UnsafeRawBufferPointer) throws(JSONDecodingError) {
        guard token.kind == .string else { throw JSONDecodingError(message: "must be a string") }
        self = token.text(in: bytes)
    }

    package func encode(to json: inout JSONWriter) { json.string(self) }
}

extension Bool: JSONEncodable, JSONDecodable {
    package init(json: JSON) throws(JSONDecodingError) {
        guard case .bool(let value) = json else { throw JSONDecodingError(message: "must be true or false") }
        self = value
    }

    package func encode(to json: inout JSONWriter) { json.bool(self) }
}

extension Int64: JSONEncodable, JSONDecodable {
    /// Accepts only literals without fraction and exponent: `1.0` is not an integer.
    package init(json: JSON) throws(JSONDecodingError) {
        guard case .integer(let value) = json else { throw JSONDecodingError(message: "must be an integer") }
        self = value
    }

    package func encode(to json: inout JSONWriter) { json.integer(self) }
}

extension Int: JSONEncodable, JSONDecodable {
    package init(json: JSON) throws(JSONDecodingError) { self = Int(try Int64(json: json)) }

    package func encode(to json: inout JSONWriter) { json.integer(self) }
}

extension Double: JSONEncodable, JSONDecodable {
    package init(json: JSON) throws(JSONDecodingError) {
        switch json {
        case .integer(let value): self = Double(value)
        case .double(let value): self = value
        default: throw JSONDecodingError(message: "must be a number")
        }
    }

    package func encode(to json: inout JSONWriter) { json.double(self) }
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
