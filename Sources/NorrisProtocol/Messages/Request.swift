/// The `id` of a JSON-RPC 2.0 request, returned to the client unchanged.
///
/// Fractional numbers, which the specification discourages, are refused: they could not be returned exactly.
package enum RequestID: Sendable, Equatable, JSONEncodable {
    case null
    case integer(Int64)
    /// The integer `-0`, which an `Int64` would return as `0`.
    case negativeZero
    case string(String)

    /// Returns nil if the value is not an id.
    package init?(_ value: JSONValue) {
        switch value.kind {
        case .null: self = .null
        case .integer where value.encoded.elementsEqual("-0".utf8): self = .negativeZero
        case .integer: self = .integer(value.integer ?? 0)
        case .string: self = .string(value.text ?? "")
        case .false, .true, .double, .array, .object: return nil
        }
    }

    package func encode(to json: inout JSONWriter) {
        switch self {
        case .null: json.null()
        case .integer(let integer): json.integer(integer)
        case .negativeZero: json.literal("-0", endsValue: true)
        case .string(let string): json.string(string)
        }
    }
}

/// A line of JSON-RPC 2.0, parsed in place: a single request, or a batch of entries.
package enum RequestLine: Sendable {
    case single(RequestEnvelope)
    /// The ranges of the entries in the line. Every entry is strict JSON, but not necessarily a request.
    case batch([Range<Int>])

    /// - Throws: if the line is not the strict JSON of this protocol (``JSONParser``).
    package init(_ line: UnsafeRawBufferPointer) throws(JSONError) {
        var parser = JSONParser(line)
        try parser.begin()
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

/// The members of one request, as tokens of its line or batch entry (JSON-RPC 2.0, section 4). Ignores other members.
package struct RequestEnvelope: Sendable {
    /// nil for a notification, which never gets a reply.
    package private(set) var id: JSONToken?
    /// A string, unless there is a fault.
    package private(set) var method: JSONToken?
    /// An object, an array or nil, unless there is a fault. Arrays are refused later, with the parameters.
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
        let bytes = parser.bytes
        try parser.members { (key, value) throws(JSONError) in
            let name = JSONValue(key, of: bytes)
            if name.hasText("id") {
                id = value
            } else if name.hasText("method") {
                method = value
            } else if name.hasText("params") {
                params = value
            } else if name.hasText("jsonrpc") {
                hasVersion = JSONValue(value, of: bytes).hasText("2.0")
            }
        }
    }

    /// Returns the error for a value that is not a request, with its id if valid; nil for a request.
    package func fault(in bytes: UnsafeRawBufferPointer) -> (id: RequestID, error: ResponseError)? {
        let message: String? =
            if !isObject {
                "A request is a JSON object."
            } else if let id, id.kind != .string, id.kind != .integer, id.kind != .null {
                "The id must be a string, an integer without fraction or exponent, or null."
            } else if !hasVersion {
                "The member jsonrpc must be the string \"2.0\"."
            } else if method?.kind != .string {
                "The member method must be a string."
            } else if let params, params.kind != .object, params.kind != .array {
                "The member params must be an object."
            } else {
                nil
            }
        return message.map { (id.flatMap { RequestID(JSONValue($0, of: bytes)) } ?? .null, .invalidRequest($0)) }
    }
}

extension JSONWriter {
    /// Writes an id as the client sent it, with the escapes of this writer.
    package mutating func id(_ id: JSONValue) {
        if let text = id.text { string(text) } else { raw(id.encoded) }
    }
}

extension ArraySlice<UInt8> {
    /// Calls the body with these bytes. The offsets of tokens count from the first of them.
    package func withRawBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try withUnsafeBufferPointer { buffer throws(Failure) in try body(UnsafeRawBufferPointer(buffer)) }
    }
}
