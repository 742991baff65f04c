/// One JSON-RPC 2.0 response, as a client reads it.
package struct Response: Equatable, Sendable {
    package var id: RequestID
    package var outcome: Outcome

    /// Not `Result`: for its `Error` type, the runtime would search all conformances of the program.
    package enum Outcome: Equatable, Sendable {
        case success(JSON)
        case failure(ResponseError)

        /// Returns the result or throws the error.
        package func get() throws(ResponseError) -> JSON {
            switch self {
            case .success(let result): return result
            case .failure(let error): throw error
            }
        }
    }

    package init(id: RequestID, outcome: Outcome) { (self.id, self.outcome) = (id, outcome) }

    /// Whether this response answers the request with an id. An error with a null id does, because the daemon refused
    /// the connection or the line before it knew the id.
    package func answers(_ id: Int64) -> Bool {
        if self.id == .integer(id) { return true }
        guard case .failure = outcome else { return false }
        return self.id == .null
    }
}

extension Response: JSONEncodable, JSONDecodable {
    package func encode(to json: inout JSONWriter) {
        switch outcome {
        case .success(let result): Response.write("result", result, id: id, to: &json)
        case .failure(let error): Response.write(id: id, error: error, to: &json)
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

    /// Whether a line is an error response. Reads only up to the first key `result` or `error` to limit the cost.
    package static func isError(_ line: [UInt8]) -> Bool {
        line.withUnsafeBytes { bytes in
            var parser = JSONParser(bytes)
            var keys = DistinctKeys()
            do throws(JSONError) {
                parser.skipWhiteSpace()
                guard try parser.peek() == UInt8(ascii: "{") else { return false }
                try parser.open()
                repeat {
                    let key = try parser.nextKey(&keys)
                    switch parser.text(of: key) {
                    case "error": return true
                    case "result": return false
                    default: _ = try parser.token()
                    }
                } while try !parser.isLast(before: UInt8(ascii: "}"))
            } catch {
                // An invalid line is reported when the whole line is parsed.
            }
            return false
        }
    }

    /// Returns the text of the first item in a line's result page. Returns nil if there is no such text, or if the line
    /// is not the response to the request with this id.
    ///
    /// Checks the line as strictly as ``JSON/parse(_:)`` but builds no values, because a shell prompt must be fast.
    package static func firstItemText(_ line: [UInt8], of id: Int64) -> String? {
        line.withUnsafeBytes { bytes in
            let reader = JSONParser(bytes)
            var parser = reader
            var (result, answered): (JSONToken?, JSONToken?)
            do throws(JSONError) {
                try parser.begin()
                parser.skipWhiteSpace()
                guard try parser.peek() == UInt8(ascii: "{") else { return nil }
                try parser.members { (key, value) throws(JSONError) in
                    if reader.isWord("result", key) { result = value }
                    if reader.isWord("id", key) { answered = value }
                }
                try parser.end()
            } catch {
                return nil
            }
            guard let answered, answered.kind == .integer, reader.integer(of: answered) == id else { return nil }
            guard let items = reader.member("items", of: result), items.kind == .array else { return nil }
            var first: JSONToken?
            reader.forEachElement(of: items) { item in
                first = item
                return false
            }
            guard let text = reader.member("text", of: first), text.kind == .string else { return nil }
            return reader.text(of: text)
        }
    }

    /// Writes an error response.
    package static func write(id: RequestID, error: ResponseError, to json: inout JSONWriter) {
        write("error", error, id: id, to: &json)
    }

    private static func write(
        _ key: StaticString, _ value: some JSONEncodable, id: RequestID, to json: inout JSONWriter
    ) {
        json.beginObject()
        json.member("jsonrpc", "2.0")
        json.member("id", id)
        json.member(key, value)
        json.endObject()
    }
}
