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

    package init(id: RequestID, outcome: Outcome) { (self.id, self.outcome) = (id, outcome) }

    /// Whether this is the response to the request with this id. An error without an id is too: it says why the
    /// connection or the line was refused before its id was known.
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

    /// Whether a line is a response with an error. Reads up to the key of the first member `result` or `error`, so that
    /// a long error is recognized without reading it.
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
                // Whoever reads the whole line is told what is wrong with it.
            }
            return false
        }
    }

    /// The text of the first item of the page that a line has as its result; nil where there is none, or the line is
    /// not the response to the request with this id.
    ///
    /// The line is checked as strictly as by ``JSON/parse(_:)``, but no value is built: a prompt has no time for that.
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
