// The wire forms of the standard library's types.

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
    /// Literals without fraction and exponent only: `1.0` is not an integer here.
    package init(json: JSON) throws(JSONDecodingError) {
        guard case .integer(let value) = json else { throw JSONDecodingError(message: "must be an integer") }
        self = value
    }

    package func encode(to json: inout JSONWriter) { json.integer(self) }
}

extension Int: JSONEncodable, JSONDecodable {
    /// Literals without fraction and exponent only: `1.0` is not an integer here.
    package init(json: JSON) throws(JSONDecodingError) { self = Int(try Int64(json: json)) }

    package func encode(to json: inout JSONWriter) { json.integer(self) }
}

extension Double: JSONEncodable, JSONDecodable {
    /// Any number.
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
        for element in self {
            element.encode(to: &json)
        }
        json.endArray()
    }
}

extension Dictionary: JSONEncodable where Key == String, Value: JSONEncodable {
    /// An object with its keys in ascending order, so that equal values have equal texts.
    package func encode(to json: inout JSONWriter) {
        json.beginObject()
        for (key, value) in sorted(by: { $0.key < $1.key }) {
            json.key(key)
            value.encode(to: &json)
        }
        json.endObject()
    }
}
