/// A type that can be read from its form on the wire.
package protocol JSONDecodable {
    init(json: JSON) throws(JSONDecodingError)
}

extension JSON {
    /// The members, if this is an object.
    package func objectValue() throws(JSONDecodingError) -> JSONObject {
        guard case .object(let object) = self else { throw JSONDecodingError(message: "must be an object") }
        return object
    }

    /// The elements, if this is an array.
    package func arrayValue() throws(JSONDecodingError) -> [JSON] {
        guard case .array(let elements) = self else { throw JSONDecodingError(message: "must be an array") }
        return elements
    }
}

extension JSONObject {
    /// The value of a member that must be there. Errors carry the key in their path.
    package func required<Value: JSONDecodable>(
        _ key: String,
        as type: Value.Type = Value.self
    ) throws(JSONDecodingError) -> Value {
        guard let json = self[key] else { throw JSONDecodingError(path: key, message: "is missing") }
        return try Value(json: json, below: key)
    }

    /// The value of a member that may be absent or `null`. Errors carry the key in their path.
    package func optional<Value: JSONDecodable>(
        _ key: String,
        as type: Value.Type = Value.self
    ) throws(JSONDecodingError) -> Value? {
        switch self[key] {
        case nil, .null: nil
        case let json?: try Value(json: json, below: key)
        }
    }
}

extension JSONDecodable {
    /// Decodes, and puts the step that led to the value before the path of an error.
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
            append(try Element(json: element, below: String(index)))
        }
    }
}

extension Dictionary: JSONDecodable where Key == String, Value: JSONDecodable {
    /// Keys that differ in bytes but are canonically equivalent cannot both be kept and are an error.
    package init(json: JSON) throws(JSONDecodingError) {
        self = [:]
        for (key, value) in try json.objectValue().members {
            guard updateValue(try Value(json: value, below: key), forKey: key) == nil else {
                throw JSONDecodingError(message: "must not have keys that look the same")
            }
        }
    }
}
