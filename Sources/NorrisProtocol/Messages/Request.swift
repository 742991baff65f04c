/// The `id` of a JSON-RPC 2.0 request, returned to the client unchanged.
///
/// Fractional numbers, which the specification discourages, are refused: they could not be returned exactly.
package enum RequestID: Sendable, Equatable, JSONEncodable {
    case null
    case integer(Int64)
    case string(String)

    /// Returns nil if the value is not an id.
    package init?(_ value: JSONValue) {
        switch value.kind {
        case .null: self = .null
        case .integer: self = .integer(value.integer ?? 0)
        case .string: self = .string(value.text ?? "")
        case .false, .true, .double, .array, .object: return nil
        }
    }

    package func encode(to json: inout JSONWriter) {
        switch self {
        case .null: json.null()
        case .integer(let integer): json.integer(integer)
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
    /// A string if ``isRequest`` is true.
    package private(set) var method: JSONToken?
    /// An object, an array or nil if ``isRequest`` is true. Arrays are refused later, with the parameters.
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
            // Only two names have the same length. A key with escapes can be any of the names.
            let length = key.isPlain ? key.content.count : 0
            if length == 2 || length == 0, name.hasText("id") {
                id = value
            } else if length == 6 || length == 0, name.hasText("method") {
                method = value
            } else if length == 6 || length == 0, name.hasText("params") {
                params = value
            } else if length == 7 || length == 0, name.hasText("jsonrpc") {
                hasVersion = JSONValue(value, of: bytes).hasText("2.0")
            }
        }
    }

    /// Whether the value is a request: ``fault(in:)`` returns nil.
    package var isRequest: Bool {
        isObject && hasVersion && method?.kind == .string && id?.isID != false && params?.isContainer != false
    }

    /// Returns the error for a value that is not a request, with its id if valid; nil for a request.
    package func fault(in bytes: UnsafeRawBufferPointer) -> (id: RequestID, error: ResponseError)? {
        if isRequest { return nil }
        let message =
            if !isObject {
                "A request is a JSON object."
            } else if id?.isID == false {
                "The id must be a string, an integer without fraction or exponent, or null."
            } else if !hasVersion {
                "The member jsonrpc must be the string \"2.0\"."
            } else if method?.kind != .string {
                "The member method must be a string."
            } else {
                "The member params must be an object."
            }
        return (id.flatMap { RequestID(JSONValue($0, of: bytes)) } ?? .null, .invalidRequest(message))
    }
}

extension JSONToken {
    fileprivate var isID: Bool { kind == .string || kind == .integer || kind == .null }
    fileprivate var isContainer: Bool { kind == .object || kind == .array }
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
