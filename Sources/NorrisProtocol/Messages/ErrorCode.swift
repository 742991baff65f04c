/// The `code` of an error object.
///
/// An open set: a peer may be newer and send a code that this build has no name for.
package struct ErrorCode: RawRepresentable, Hashable, Sendable {
    package let rawValue: Int64

    package init(rawValue: Int64) {
        self.rawValue = rawValue
    }

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
