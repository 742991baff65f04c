/// The error object of a JSON-RPC 2.0 response: `{"code":…,"message":…,"data":{"reason":…,"hint":…}}`.
package struct ResponseError: Error, Equatable, Sendable {
    package var code: ErrorCode
    /// One sentence for the user.
    package var message: String
    /// A stable word for programs, in `snake_case`.
    package var reason: String
    /// Advice for the user, if there is any.
    package var hint: String?
    /// Further members of `data`, such as `parameter`; never `reason` or `hint`.
    package var details: JSONObject

    /// - Parameter reason: nil for the reason of the code.
    package init(
        _ code: ErrorCode, reason: String? = nil, _ message: String, hint: String? = nil,
        details: JSONObject = JSONObject()
    ) {
        let reason = reason ?? ErrorCode.reasons.first { $0.code == code }?.reason ?? ""
        (self.code, self.message, self.reason, self.hint, self.details) = (code, message, reason, hint, details)
    }
}

extension ResponseError {
    /// A further member of `data`; nil if it is absent or of another type.
    package func detail<Value: JSONDecodable>(_ key: String, as type: Value.Type = Value.self) -> Value? {
        details[key].flatMap { try? EncodedJSON($0).decoded() }
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

    package init(json: JSONValue) throws(JSONDecodingError) {
        let members = try JSONMembers(json)
        code = ErrorCode(rawValue: Int64(try members.required("code") as Int))
        message = try members.required("message")
        // Another server may send no `data`, or `data` of another shape; the code and the message remain valid.
        (reason, hint, details) = ("", nil, JSONObject())
        guard let data = json.member("data").map(JSONObject.init(members:)) else { return }
        if case .string(let word)? = data["reason"] { reason = word }
        if case .string(let text)? = data["hint"] { hint = text }
        details = JSONObject(uniqueMembers: data.members.filter { $0.key != "reason" && $0.key != "hint" })
    }
}

/// The named errors of the protocol, so that each reason always has the same wording.
extension ResponseError {
    package static func parseError(_ error: JSONError) -> ResponseError {
        ResponseError(.parseError, error.description)
    }

    package static func invalidRequest(_ message: String, hint: String? = nil) -> ResponseError {
        ResponseError(.invalidRequest, message, hint: hint)
    }

    package static func lineTooLong(maximum: Int) -> ResponseError {
        ResponseError(
            .invalidRequest, reason: "line_too_long", "The request line is longer than \(maximum) bytes.",
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
        details["parameter"] = parameter.map { .string($0.cutForMessage) }
        return ResponseError(.invalidParams, message, hint: hint, details: details)
    }

    package static func internalError(
        _ message: String = "Internal error. The daemon's log has the details."
    ) -> ResponseError {
        ResponseError(.internalError, message)
    }

    /// - Parameter category: the category of facts that is unknown or hidden.
    package static func notFound(_ message: String, hint: String? = nil, category: String? = nil) -> ResponseError {
        var details = JSONObject()
        details["category"] = category.map(JSON.string)
        return ResponseError(.notFound, message, hint: hint, details: details)
    }

    /// - Parameter lastError: the last failure of the source, if it is known.
    package static func nothingCached(_ message: String, source: String, lastError: SourceFailure?) -> ResponseError {
        var details = JSONObject()
        details["source"] = .string(source)
        details["last_error"] = lastError.map { EncodedJSON($0).tree }
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
        .shuttingDown, "The daemon is stopping.", hint: "Connect again; the new daemon will answer.")
}

extension String {
    /// The longest quotation in a message, in code points, so that a hostile name cannot fill the reply.
    static let longestQuotation = 80

    fileprivate var cutForMessage: String {
        let scalars = unicodeScalars.prefix(Self.longestQuotation)
        return scalars.endIndex == endIndex ? self : String(scalars) + "…"
    }

    /// The text in quotation marks for an error message.
    package var quotedForMessage: String { "\"\(cutForMessage)\"" }
}

/// The `code` of an error object. The set is open, because a newer peer may send unknown codes.
package struct ErrorCode: RawRepresentable, Hashable, Sendable {
    package let rawValue: Int64

    package init(rawValue: Int64) { self.rawValue = rawValue }

    /// The line is not the strict JSON of this protocol.
    package static let parseError = ErrorCode(rawValue: -32700)
    /// The line is JSON but not a request.
    package static let invalidRequest = ErrorCode(rawValue: -32600)
    package static let unknownMethod = ErrorCode(rawValue: -32601)
    /// A parameter is unknown, missing or of the wrong type.
    package static let invalidParams = ErrorCode(rawValue: -32602)
    package static let internalError = ErrorCode(rawValue: -32603)
    /// The id, category or source does not exist.
    package static let notFound = ErrorCode(rawValue: -32001)
    /// The cache is empty and the upstream cannot be asked.
    package static let nothingCached = ErrorCode(rawValue: -32002)
    /// Only an administrator may call the method.
    package static let permissionDenied = ErrorCode(rawValue: -32003)
    /// A limit of the daemon is reached.
    package static let busy = ErrorCode(rawValue: -32004)
    /// The storage cannot be written now.
    package static let storage = ErrorCode(rawValue: -32005)
    /// The daemon is stopping; a new connection reaches the next daemon.
    package static let shuttingDown = ErrorCode(rawValue: -32006)
    /// An error of norrisctl itself, such as a daemon that does not answer. Never sent.
    package static let client = ErrorCode(rawValue: -32000)

    /// The values of `data.reason`; the first one of a code is its usual one. The set is closed, so that each value has
    /// a counter and clients cannot add counters.
    package static let reasons: [(reason: String, code: ErrorCode)] = [
        ("busy", .busy), ("internal", .internalError), ("invalid_params", .invalidParams),
        ("invalid_request", .invalidRequest), ("line_too_long", .invalidRequest), ("not_found", .notFound),
        ("nothing_cached", .nothingCached), ("parse_error", .parseError), ("permission_denied", .permissionDenied),
        ("shutting_down", .shuttingDown), ("storage", .storage), ("unknown_method", .unknownMethod),
    ]
}
