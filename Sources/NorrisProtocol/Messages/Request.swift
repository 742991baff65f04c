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
