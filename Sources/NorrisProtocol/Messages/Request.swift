/// One JSON-RPC 2.0 request or notification.
package struct Request: Equatable, Sendable {
    /// nil for a notification, which never gets a reply.
    package var id: RequestID?
    package var method: String
    /// An object, an array or absent; anything else is no request. That arrays are refused is said with the
    /// parameters, after the method is known.
    package var params: JSON?

    package init(id: RequestID?, method: String, params: JSON? = nil) {
        self.id = id
        self.method = method
        self.params = params
    }
}

/// A value that is no request, with the id that could be saved from it.
package struct EnvelopeError: Error, Equatable {
    package var id: RequestID
    package var error: ResponseError
}

extension Request {
    /// Reads the envelope of a single request (JSON-RPC 2.0, section 4). Members it does not name are ignored.
    package init(json: JSON) throws(EnvelopeError) {
        guard case .object(let object) = json else {
            throw EnvelopeError(id: .null, error: .invalidRequest("A request is a JSON object."))
        }
        let sentID = object["id"]
        let id = sentID.flatMap(RequestID.init)
        func refusal(_ message: String) -> EnvelopeError {
            EnvelopeError(id: id ?? .null, error: .invalidRequest(message))
        }
        if sentID != nil && id == nil {
            throw refusal("The id must be a string, an integer without fraction or exponent, or null.")
        }
        guard case .string("2.0")? = object["jsonrpc"] else {
            throw refusal("The member jsonrpc must be the string \"2.0\".")
        }
        guard case .string(let method)? = object["method"] else {
            throw refusal("The member method must be a string.")
        }
        switch object["params"] {
        case nil, .object, .array: break
        default: throw refusal("The member params must be an object.")
        }
        self.init(id: id, method: method, params: object["params"])
    }
}

extension Request: JSONEncodable {
    package func encode(to json: inout JSONWriter) {
        json.beginObject()
        json.key("jsonrpc")
        json.string("2.0")
        json.member("id", id)
        json.key("method")
        json.string(method)
        json.member("params", params)
        json.endObject()
    }
}
