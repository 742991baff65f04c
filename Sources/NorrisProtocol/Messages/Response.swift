/// One JSON-RPC 2.0 response, as a client reads it.
package struct Response: Equatable, Sendable {
    package var id: RequestID
    package var outcome: Outcome

    package typealias Outcome = Result<EncodedJSON, ResponseError>

    package init(id: RequestID, outcome: Outcome) { (self.id, self.outcome) = (id, outcome) }

    /// Whether this response answers the request with an id. An error with a null id does, because the daemon refused
    /// the connection or the line before it knew the id.
    package func answers(_ id: Int64) -> Bool {
        if self.id == .integer(id) { return true }
        guard case .failure = outcome else { return false }
        return self.id == .null
    }
}

extension Response: JSONDecodable {
    package init(json: JSONValue) throws(JSONDecodingError) {
        let members = try JSONMembers(json)
        guard let id = members["id"].flatMap(RequestID.init) else {
            throw JSONDecodingError(path: "id", message: "is missing or of the wrong type")
        }
        self.id = id
        if let result = members["result"] {
            outcome = .success(EncodedJSON(result))
        } else {
            outcome = .failure(try members.required("error"))
        }
    }

    /// Returns the text of the first item in a line's result page. Returns nil if there is no such text, or if the line
    /// is not the response to the request with this id.
    ///
    /// Builds no values, because a shell prompt must be fast.
    package static func firstItemText(_ line: [UInt8], of id: Int64) -> String? {
        line[...].withRawBytes { bytes in
            // Not by `JSONValue.member(_:)`, which would read the line twice more.
            var parser = JSONParser(bytes)
            var answered: JSONValue?
            var result: JSONValue?
            do throws(JSONError) {
                try parser.begin()
                guard try parser.peek() == UInt8(ascii: "{") else { return nil }
                try parser.members { (key, value) throws(JSONError) in
                    let name = JSONValue(key, of: bytes)
                    if name.hasText("id") { answered = JSONValue(value, of: bytes) }
                    if name.hasText("result") { result = JSONValue(value, of: bytes) }
                }
                try parser.end()
            } catch {
                return nil
            }
            return answered?.integer == id ? result?.member("items")?.first?.member("text")?.text : nil
        }
    }

    /// Writes an error response.
    package static func write(id: RequestID, error: ResponseError, to json: inout JSONWriter) {
        json.beginObject()
        json.member("jsonrpc", "2.0")
        json.member("id", id)
        json.member("error", error)
        json.endObject()
    }
}
