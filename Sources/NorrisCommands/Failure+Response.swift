import NorrisProtocol

extension Failure {
    /// An error that the daemon answered with. `method` is the one that was called; an unknown one means an older
    /// daemon, for norrisctl calls none that the daemon of its own version does not know.
    init(_ error: ResponseError, method: String) {
        self.init(ExitStatus(error), error.message, hint: error.hint.map { Advice($0) }, response: error)
        if error.code == .unknownMethod {
            status = .unavailable
            message = "This norrisd does not know \(method); it is older than norrisctl \(NorrisVersion.current)."
            hint = "Update norrisd, then: \(command: "systemctl restart norrisd")"
        }
    }

    /// A reply that is not what the method promises.
    static func unreadable(_ detail: String) -> Failure {
        Failure(
            .internalError,
            "norrisd sent a reply that cannot be read: \(detail)",
            hint: "Compare the versions: norrisctl doctor"
        )
    }
}

extension ExitStatus {
    /// What an error of the daemon means to a script. A code from a newer daemon counts as a fault of its.
    init(_ error: ResponseError) {
        switch error.code {
        case .parseError, .internalError: self = .internalError
        case .invalidRequest, .unknownMethod, .invalidParams: self = .usage
        case .notFound: self = .nothing
        case .nothingCached: self = error.lacksCredentials ? .configuration : .temporary
        case .permissionDenied: self = .notPermitted
        case .busy, .shuttingDown: self = .temporary
        case .storage: self = .inputOutput
        default: self = .internalError
        }
    }
}

extension ResponseError {
    /// Whether the source could not be asked for want of a key.
    var lacksCredentials: Bool {
        guard case .object(let failure)? = details["last_error"] else { return false }
        return failure["kind"] == .string(SourceFailure.Kind.credentials.rawValue)
    }
}
