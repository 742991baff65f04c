/// The error object of a JSON-RPC 2.0 response: `{"code":…,"message":…,"data":{"reason":…,"hint":…}}`.
package struct ResponseError: Error, Equatable, Sendable {
    package var code: ErrorCode
    /// One sentence for a person.
    package var message: String
    /// A stable word for programs, in `snake_case`.
    package var reason: String
    /// What to do about it, where there is something to do.
    package var hint: String?
    /// Further members of `data`, such as `parameter`; never `reason` or `hint`.
    package var details: JSONObject

    /// An error of another peer, or of a test.
    package init(
        _ code: ErrorCode, reason: String, message: String, hint: String? = nil, details: JSONObject = JSONObject()
    ) {
        (self.code, self.message, self.reason) = (code, message, reason)
        (self.hint, self.details) = (hint, details)
    }

    package init(_ reason: ErrorReason, _ message: String, hint: String? = nil, details: JSONObject = JSONObject()) {
        self.init(reason.code, reason: reason.rawValue, message: message, hint: hint, details: details)
    }
}

/// Why a request fails: the words in `data.reason`, each with its code. A closed set, so that each is counted and no
/// client can add to the counters.
package enum ErrorReason: String, CaseIterable, Sendable {
    case busy
    case `internal`
    case invalidParams = "invalid_params"
    case invalidRequest = "invalid_request"
    case lineTooLong = "line_too_long"
    case notFound = "not_found"
    case nothingCached = "nothing_cached"
    case parseError = "parse_error"
    case permissionDenied = "permission_denied"
    case shuttingDown = "shutting_down"
    case storage
    case unknownMethod = "unknown_method"

    var code: ErrorCode {
        switch self {
        case .busy: .busy
        case .internal: .internalError
        case .invalidParams: .invalidParams
        case .invalidRequest, .lineTooLong: .invalidRequest
        case .notFound: .notFound
        case .nothingCached: .nothingCached
        case .parseError: .parseError
        case .permissionDenied: .permissionDenied
        case .shuttingDown: .shuttingDown
        case .storage: .storage
        case .unknownMethod: .unknownMethod
        }
    }
}

extension ResponseError: JSONEncodable, JSONDecodable {
    package func encode(to json: inout JSONWriter) {
        json.beginObject()
        json.key("code")
        json.integer(code.rawValue)
        json.key("message")
        json.string(message)
        json.key("data")
        json.beginObject()
        json.key("reason")
        json.string(reason)
        json.member("hint", hint)
        for (key, value) in details.members {
            json.key(key)
            json.value(value)
        }
        json.endObject()
        json.endObject()
    }

    package init(json: JSON) throws(JSONDecodingError) {
        let object = try json.objectValue()
        code = ErrorCode(rawValue: try object.required("code"))
        message = try object.required("message")
        // Another server may send no data at all, or data of another shape: the code and message still stand.
        (reason, hint, details) = ("", nil, JSONObject())
        guard case .object(let data)? = object["data"] else { return }
        if case .string(let word)? = data["reason"] { reason = word }
        if case .string(let text)? = data["hint"] { hint = text }
        details = JSONObject(uniqueMembers: data.members.filter { $0.key != "reason" && $0.key != "hint" })
    }
}

/// The errors of the protocol by name, so that one reason is always worded alike.
extension ResponseError {
    package static func parseError(_ error: JSONError) -> ResponseError {
        ResponseError(.parseError, error.description)
    }

    package static func invalidRequest(_ message: String, hint: String? = nil) -> ResponseError {
        ResponseError(.invalidRequest, message, hint: hint)
    }

    package static func lineTooLong(maximum: Int) -> ResponseError {
        ResponseError(
            .lineTooLong, "The request line is longer than \(maximum) bytes.",
            hint: "Send smaller requests, one on each line.")
    }

    package static func unknownMethod(_ name: String) -> ResponseError {
        ResponseError(
            .unknownMethod, "There is no method \(name.quotedForMessage).",
            hint: "rpc.discover lists the methods of this daemon.")
    }

    package static func invalidParams(_ message: String, parameter: String? = nil, hint: String? = nil) -> ResponseError
    {
        var details = JSONObject()
        details["parameter"] = parameter.map(JSON.string)
        return ResponseError(.invalidParams, message, hint: hint, details: details)
    }

    package static func internalError(_ message: String = "The daemon failed; its log says how.") -> ResponseError {
        ResponseError(.internal, message)
    }

    package static func notFound(_ message: String, hint: String? = nil) -> ResponseError {
        ResponseError(.notFound, message, hint: hint)
    }

    /// - Parameter lastError: why the source has nothing, where it is known.
    package static func nothingCached(_ message: String, source: String, lastError: SourceFailure?) -> ResponseError {
        var details = JSONObject()
        details["source"] = .string(source)
        details["last_error"] = lastError.flatMap { try? JSON.parse($0.jsonBytes) }
        return ResponseError(.nothingCached, message, details: details)
    }

    package static let permissionDenied = ResponseError(
        .permissionDenied, "Only administrators may do this.",
        hint: "Use sudo, or join one of the admin_groups in norrisd's configuration.")

    package static func busy(_ message: String, hint: String? = nil, retryAt: Timestamp? = nil) -> ResponseError {
        var details = JSONObject()
        details["retry_at"] = retryAt.map { .string($0.description) }
        return ResponseError(.busy, message, hint: hint, details: details)
    }

    package static func storage(_ message: String, hint: String? = nil) -> ResponseError {
        ResponseError(.storage, message, hint: hint)
    }

    package static let shuttingDown = ResponseError(
        .shuttingDown, "The daemon is stopping.", hint: "Connect again; the next daemon answers.")
}

extension String {
    /// The text in quotation marks for an error message, cut so that a hostile name cannot fill the reply.
    package var quotedForMessage: String {
        let limit = 80
        let scalars = unicodeScalars.prefix(limit)
        return scalars.endIndex == endIndex ? "\"\(self)\"" : "\"\(String(scalars))…\""
    }
}

/// The `code` of an error object.
///
/// An open set: a peer may be newer and send a code that this build has no name for.
package struct ErrorCode: RawRepresentable, Hashable, Sendable {
    package let rawValue: Int64

    package init(rawValue: Int64) { self.rawValue = rawValue }

    /// The line is not the strict JSON of this protocol.
    package static let parseError = ErrorCode(rawValue: -32700)
    /// The line is JSON, but no request.
    package static let invalidRequest = ErrorCode(rawValue: -32600)
    /// No method has that name.
    package static let unknownMethod = ErrorCode(rawValue: -32601)
    /// A parameter is unknown, missing or of the wrong type.
    package static let invalidParams = ErrorCode(rawValue: -32602)
    /// The daemon is at fault.
    package static let internalError = ErrorCode(rawValue: -32603)
    /// No such id, category or source.
    package static let notFound = ErrorCode(rawValue: -32001)
    /// Nothing to serve, and the upstream cannot be asked.
    package static let nothingCached = ErrorCode(rawValue: -32002)
    /// The method needs an administrator.
    package static let permissionDenied = ErrorCode(rawValue: -32003)
    /// One of the daemon's own limits.
    package static let busy = ErrorCode(rawValue: -32004)
    /// Nothing can be written now.
    package static let storage = ErrorCode(rawValue: -32005)
    /// The daemon is stopping; a new connection reaches the next one.
    package static let shuttingDown = ErrorCode(rawValue: -32006)
}
