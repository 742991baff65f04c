package import NorrisProtocol

extension JSONDecodable {
    /// Decodes a value that a test wrote as a tree.
    package init(json: JSON) throws(JSONDecodingError) { self = try EncodedJSON(json).decoded() }

    package init(parsing text: String) throws { self = try Self(parsing: Array(text.utf8)) }
}

extension JSON {
    /// The members of an object. Throws an error for other values.
    package func objectValue() throws(JSONDecodingError) -> JSONObject { try JSONObject(json: self) }
}

extension JSONObject: JSONDecodable {
    package init(json: JSONValue) throws(JSONDecodingError) {
        guard json.kind == .object else { throw JSONDecodingError(message: "must be an object") }
        self.init(members: json)
    }

    /// Decodes a member that must be present.
    package func required<Value: JSONDecodable>(
        _ key: String, as type: Value.Type = Value.self
    ) throws(JSONDecodingError) -> Value {
        guard let json = self[key] else { throw JSONDecodingError(path: key, message: "is missing") }
        return try Value(json: json)
    }

    /// Decodes a member that may be absent.
    package func optional<Value: JSONDecodable>(
        _ key: String, as type: Value.Type = Value.self
    ) throws(JSONDecodingError) -> Value? {
        try self[key].map { json throws(JSONDecodingError) in try Value(json: json) }
    }
}

extension Response: JSONEncodable {
    package func encode(to json: inout JSONWriter) {
        switch outcome {
        case .failure(let error): Response.write(id: id, error: error, to: &json)
        case .success(let result):
            json.beginObject()
            json.member("jsonrpc", "2.0")
            json.member("id", id)
            json.member("result", result)
            json.endObject()
        }
    }
}
