/// One JSON-RPC 2.0 request or notification.
package struct Request: Equatable, Sendable {
    /// nil for a notification, which never gets a reply.
    package var id: RequestID?
    package var method: String
    /// An object, an array or absent; anything else is no request. That arrays are refused is said with the
    /// parameters, after the method is known.
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

/// The `id` of a JSON-RPC 2.0 request, returned to the sender as it came.
///
/// The specification also lets a client send a fractional number and advises against it; this protocol refuses one,
/// because it could not be returned as it was sent.
package enum RequestID: Sendable, Equatable, JSONEncodable {
    case null
    case integer(Int64)
    case string(String)

    /// The id a value stands for, or nil where the value is none.
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
        try parser.open()
        parser.skipWhiteSpace()
        if try parser.peek() == UInt8(ascii: "}") {
            parser.close()
            return
        }
        // Other members are rare: what finds duplicates among them is made for the first.
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

    /// Whether this is a request: there is no ``fault(in:)``.
    package var isRequest: Bool {
        isObject && hasVersion && method?.kind == .string && id?.isID != false && params?.isContainer != false
    }

    /// What makes this no request, and the id that could be saved from it; nil for a request.
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

/// A value that is no request, with the id that could be saved from it.
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
        // Changed in place: a copy for each key would make the line's cost quadratic.
        return self?.insert(key, parser) == true
    }
}

/// The members of a request.
private enum EnvelopeMember { case id, method, params, version, other }

extension JSONParser {
    @inline(__always) fileprivate func member(_ key: JSONToken) -> EnvelopeMember {
        // The lengths of the names differ but for two; a key with escapes may be any of them.
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
    /// The id that a token stands for; null for what is none.
    package init(_ token: JSONToken, in bytes: UnsafeRawBufferPointer) {
        switch token.kind {
        case .integer: self = .integer(JSONParser(bytes).integer(of: token))
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
