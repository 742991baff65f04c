/// One JSON-RPC 2.0 response, as a client reads it.
package struct Response: Equatable, Sendable {
    package var id: RequestID
    package var outcome: Outcome

    /// Not the standard library's `Result`, for which the runtime would look among all conformances of the program for
    /// that of its error.
    package enum Outcome: Equatable, Sendable {
        case success(JSON)
        case failure(ResponseError)

        /// The result, where there is one.
        package func get() throws(ResponseError) -> JSON {
            switch self {
            case .success(let result): return result
            case .failure(let error): throw error
            }
        }
    }

    package init(id: RequestID, outcome: Outcome) {
        self.id = id
        self.outcome = outcome
    }
}

extension Response: JSONEncodable, JSONDecodable {
    package func encode(to json: inout JSONWriter) {
        switch outcome {
        case .success(let result):
            Response.write(id: id, to: &json) { $0.value(result) }
        case .failure(let error):
            Response.write(id: id, error: error, to: &json)
        }
    }

    package init(json: JSON) throws(JSONDecodingError) {
        let object = try json.objectValue()
        guard let id = object["id"].flatMap(RequestID.init) else {
            throw JSONDecodingError(path: "id", message: "is missing or of the wrong type")
        }
        self.id = id
        if let result = object["result"] {
            outcome = .success(result)
        } else {
            outcome = .failure(try object.required("error"))
        }
    }

    /// Writes a successful response around a result that is written in place, without building it as a value first.
    package static func write(id: RequestID, to json: inout JSONWriter, result: (inout JSONWriter) -> Void) {
        json.beginObject()
        json.key("jsonrpc")
        json.string("2.0")
        json.key("id")
        id.encode(to: &json)
        json.key("result")
        result(&json)
        json.endObject()
    }

    /// Writes an error response.
    package static func write(id: RequestID, error: ResponseError, to json: inout JSONWriter) {
        json.beginObject()
        json.key("jsonrpc")
        json.string("2.0")
        json.key("id")
        id.encode(to: &json)
        json.key("error")
        error.encode(to: &json)
        json.endObject()
    }
}
