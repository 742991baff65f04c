/// A line of JSON-RPC 2.0 read in place: a single request, or a batch whose entries are read one by one.
package enum RequestLine: Sendable {
    case single(RequestEnvelope)
    /// Where each entry stands in the line. All of them are strict JSON.
    case batch([Range<Int>])

    /// - Throws: where the line is not the strict JSON of this protocol (see ``JSON/parse(_:)``).
    package init(_ line: UnsafeRawBufferPointer) throws(JSONError) {
        var parser = JSONParser(line)
        try parser.begin()
        parser.skipWhiteSpace()
        if try parser.peek() == UInt8(ascii: "[") {
            var entries: [Range<Int>] = []
            try parser.elements { (entry) throws(JSONError) in entries.append(entry.range) }
            self = .batch(entries)
        } else {
            self = .single(try RequestEnvelope(&parser))
        }
        try parser.end()
    }
}

/// The members of one request, as tokens of its line or entry (JSON-RPC 2.0, section 4). Other members are ignored.
package struct RequestEnvelope: Sendable {
    /// nil for a notification, which never gets a reply.
    package private(set) var id: JSONToken?
    /// A string, where there is no ``fault(in:)``.
    package private(set) var method: JSONToken?
    /// An object, an array or nil, where there is no ``fault(in:)``. That arrays are refused is said with the
    /// parameters, after the method is known.
    package private(set) var params: JSONToken?
    private var isObject = false
    private var hasVersion = false

    /// - Parameter entry: an entry of a batch.
    package init(entry: UnsafeRawBufferPointer) throws(JSONError) {
        var parser = JSONParser(entry)
        try self.init(&parser)
    }

    fileprivate init(_ parser: inout JSONParser) throws(JSONError) {
        guard try parser.peek() == UInt8(ascii: "{") else {
            _ = try parser.token()
            return
        }
        isObject = true
        let text = JSONParser(parser.bytes)
        var (id, method, params, version): (JSONToken?, JSONToken?, JSONToken?, JSONToken?)
        try parser.members { (key, value) throws(JSONError) in
            if text.isText("jsonrpc", key) {
                version = value
            } else if text.isText("id", key) {
                id = value
            } else if text.isText("method", key) {
                method = value
            } else if text.isText("params", key) {
                params = value
            }
        }
        (self.id, self.method, self.params) = (id, method, params)
        if let version { hasVersion = version.kind == .string && text.isText("2.0", version) }
    }

    /// What makes this no request, and the id that could be saved from it; nil for a request.
    package func fault(in bytes: UnsafeRawBufferPointer) -> EnvelopeError? {
        let message: String
        if !isObject {
            message = "A request is a JSON object."
        } else if let id, !id.isID {
            message = "The id must be a string, an integer without fraction or exponent, or null."
        } else if !hasVersion {
            message = "The member jsonrpc must be the string \"2.0\"."
        } else if method?.kind != .string {
            message = "The member method must be a string."
        } else if let params, params.kind != .object, params.kind != .array {
            message = "The member params must be an object."
        } else {
            return nil
        }
        return EnvelopeError(id: id.map { RequestID($0, in: bytes) } ?? .null, error: .invalidRequest(message))
    }
}

/// A value that is no request, with the id that could be saved from it.
package struct EnvelopeError: Error, Equatable {
    package var id: RequestID
    package var error: ResponseError
}

extension JSONToken {
    fileprivate var isID: Bool { kind == .string || kind == .integer || kind == .null }
}

extension RequestID {
    /// The id that a token stands for; null for what is none.
    package init(_ token: JSONToken, in bytes: UnsafeRawBufferPointer) {
        switch token.kind {
        case .integer: self = .integer(token.integer)
        case .string: self = .string(JSONParser(bytes).text(of: token))
        default: self = .null
        }
    }
}

extension JSONWriter {
    /// An id as it was sent.
    package mutating func id(_ token: JSONToken, in bytes: UnsafeRawBufferPointer) {
        if token.kind != .string {
            raw(UnsafeRawBufferPointer(rebasing: bytes[token.range]))
        } else {
            string(JSONParser(bytes).text(of: token))
        }
    }
}

extension ArraySlice<UInt8> {
    /// Calls the body with these bytes, from which tokens count.
    package func withRawBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try withUnsafeBufferPointer { buffer throws(Failure) in try body(UnsafeRawBufferPointer(buffer)) }
    }
}
