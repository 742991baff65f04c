/// One JSON-RPC 2.0 request or notification.
package struct Request: Equatable, Sendable {
    /// nil for a notification, which never gets a reply.
    package var id: RequestID?
    package var method: String
    /// An object, an array or nil. Arrays are refused later, with the parameters, when the method is known.
    package var params: JSON?

    package init(id: RequestID?, method: String, params: JSON? = nil) {
        (self.id, self.method, self.params) = (id, method, params)
    }
}

extension Request: JSONEncodable {
    package func encode(to json: inout JSONWriter) {
        json.beginObject()
        json.member("jsonrpc", "2.0")
        json.member("id", id)
        json.member("method", method)
        json.member("params", params)
        json.endObject()
    }
}

/// The `id` of a JSON-RPC 2.0 request, returned to the client unchanged.
///
/// Fractional numbers, which the specification discourages, are refused: they could not be returned exactly.
package enum RequestID: Sendable, Equatable, JSONEncodable {
    case null
    case integer(Int64)
    case string(String)

    /// Returns nil if the value is not an id.
    package init?(_ json: JSON) {
        switch json {
        case .null: self = .null
        case .integer(let integer): self = .integer(integer)
        case .string(let string): self = .string(string)
        case .bool, .double, .array, .object: return nil
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

    /// - Throws: if the line is not the strict JSON of this protocol (see ``JSON/parse(_:)``).
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
        try parser.open()
        parser.skipWhiteSpace()
        if try parser.peek() == UInt8(ascii: "}") {
            parser.close()
            return
        }
        // Other members are rare, so the set that finds duplicates among them is created for the first.
        var others: DistinctKeys?
        var hasVersionMember = false
        repeat {
            parser.skipWhiteSpace()
            let key = try parser.keyToken()
            let member = parser.member(key)
            let isNew =
                switch member {
                case .id: id == nil
                case .method: method == nil
                case .params: params == nil
                case .version: !hasVersionMember
                case .other: others.insert(key, parser)
                }
            guard isNew else { throw JSONError(.duplicateKey, at: key.range.lowerBound) }
            try parser.colon()
            let value = try parser.token()
            switch member {
            case .id: id = value
            case .method: method = value
            case .params: params = value
            case .version: (hasVersionMember, hasVersion) = (true, parser.isVersion(value))
            case .other: break
            }
        } while try !parser.isLast(before: UInt8(ascii: "}"))
    }

    /// Whether the value is a request: ``fault(in:)`` returns nil.
    package var isRequest: Bool {
        isObject && hasVersion && method?.kind == .string && id?.isID != false && params?.isContainer != false
    }

    /// Returns the error for a value that is not a request, with its id if valid; nil for a request.
    package func fault(in bytes: UnsafeRawBufferPointer) -> EnvelopeError? {
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
        return EnvelopeError(id: id.map { RequestID($0, in: bytes) } ?? .null, error: .invalidRequest(message))
    }
}

/// The error for a value that is not a request. The id is null if the value has no valid id.
package struct EnvelopeError: Error, Equatable {
    package var id: RequestID
    package var error: ResponseError
}

extension JSONToken {
    fileprivate var isID: Bool { kind == .string || kind == .integer || kind == .null }
    fileprivate var isContainer: Bool { kind == .object || kind == .array }
}

extension DistinctKeys? {
    fileprivate mutating func insert(_ key: JSONToken, _ parser: JSONParser) -> Bool {
        if self == nil { self = DistinctKeys() }
        // Inserts in place, because a copy for each key would make the cost of a line quadratic.
        return self?.insert(key, parser) == true
    }
}

private enum EnvelopeMember { case id, method, params, version, other }

extension JSONParser {
    @inline(__always) fileprivate func member(_ key: JSONToken) -> EnvelopeMember {
        // Only two names have the same length. A key with escapes can be any of the names.
        let length = key.isPlain ? key.content.count : 0
        if length == 2 || length == 0, isWord("id", key) { return .id }
        if length == 6 || length == 0, isWord("method", key) { return .method }
        if length == 6 || length == 0, isWord("params", key) { return .params }
        if length == 7 || length == 0, isWord("jsonrpc", key) { return .version }
        return .other
    }

    fileprivate func isVersion(_ value: JSONToken) -> Bool { value.kind == .string && isWord("2.0", value) }
}

extension RequestID {
    /// The id in a token; null if the token is neither an integer nor a string.
    package init(_ token: JSONToken, in bytes: UnsafeRawBufferPointer) {
        switch token.kind {
        case .integer: self = .integer(JSONParser(bytes).integer(of: token))
        case .string: self = .string(JSONParser(bytes).text(of: token))
        default: self = .null
        }
    }
}

extension JSONWriter {
    /// Writes an id as the client sent it.
    package mutating func id(_ token: JSONToken, in bytes: UnsafeRawBufferPointer) {
        if token.kind != .string {
            raw(UnsafeRawBufferPointer(rebasing: bytes[token.range]))
        } else {
            string(JSONParser(bytes).text(of: token))
        }
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
