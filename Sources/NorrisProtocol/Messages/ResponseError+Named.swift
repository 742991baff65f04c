/// The errors of the protocol by name, so that one reason is always worded alike.
extension ResponseError {
    package static func parseError(_ error: JSONError) -> ResponseError {
        ResponseError(.parseError, reason: "parse_error", message: error.description)
    }

    package static func invalidRequest(_ message: String, hint: String? = nil) -> ResponseError {
        ResponseError(.invalidRequest, reason: "invalid_request", message: message, hint: hint)
    }

    package static func lineTooLong(maximum: Int) -> ResponseError {
        ResponseError(
            .invalidRequest,
            reason: "line_too_long",
            message: "The request line is longer than \(maximum) bytes.",
            hint: "Send smaller requests, one on each line."
        )
    }

    package static func unknownMethod(_ name: String) -> ResponseError {
        ResponseError(
            .unknownMethod,
            reason: "unknown_method",
            message: "There is no method \(name.quotedForMessage).",
            hint: "rpc.discover lists the methods of this daemon."
        )
    }

    package static func invalidParams(_ message: String, parameter: String? = nil, hint: String? = nil) -> ResponseError {
        var details = JSONObject()
        if let parameter {
            details["parameter"] = .string(parameter)
        }
        return ResponseError(.invalidParams, reason: "invalid_params", message: message, hint: hint, details: details)
    }

    package static func internalError(_ message: String = "The daemon failed; its log says how.") -> ResponseError {
        ResponseError(.internalError, reason: "internal", message: message)
    }

    package static func notFound(_ message: String, hint: String? = nil) -> ResponseError {
        ResponseError(.notFound, reason: "not_found", message: message, hint: hint)
    }

    /// - Parameter lastError: why the source has nothing, where it is known.
    package static func nothingCached(_ message: String, source: String, lastError: SourceFailure?) -> ResponseError {
        var details = JSONObject()
        details["source"] = .string(source)
        details["last_error"] = lastError.flatMap { try? JSON.parse($0.jsonBytes) }
        return ResponseError(.nothingCached, reason: "nothing_cached", message: message, details: details)
    }

    package static func permissionDenied(method: String) -> ResponseError {
        ResponseError(
            .permissionDenied,
            reason: "permission_denied",
            message: "\(method) needs an administrator.",
            hint: "Use root, the daemon's own user, or a member of one of its admin_groups."
        )
    }

    package static func busy(_ message: String, hint: String? = nil, retryAt: Timestamp? = nil) -> ResponseError {
        var details = JSONObject()
        details["retry_at"] = retryAt.map { .string($0.description) }
        return ResponseError(.busy, reason: "busy", message: message, hint: hint, details: details)
    }

    package static func storage(_ message: String, hint: String? = nil) -> ResponseError {
        ResponseError(.storage, reason: "storage", message: message, hint: hint)
    }

    package static let shuttingDown = ResponseError(
        .shuttingDown,
        reason: "shutting_down",
        message: "The daemon is stopping.",
        hint: "Connect again; the next daemon answers."
    )
}

extension String {
    /// The text in quotation marks for an error message, cut so that a hostile name cannot fill the reply.
    package var quotedForMessage: String {
        let limit = 80
        guard let end = unicodeScalars.index(unicodeScalars.startIndex, offsetBy: limit, limitedBy: unicodeScalars.endIndex),
            end < unicodeScalars.endIndex
        else {
            return "\"\(self)\""
        }
        return "\"\(String(unicodeScalars[..<end]))…\""
    }
}
