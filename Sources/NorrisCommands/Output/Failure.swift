import NorrisClient
import NorrisProtocol
import NorrisTerminal

/// Why a command failed: what is said about it, and the exit status.
struct Failure: Error, Equatable {
    var status: ExitStatus
    /// One sentence.
    var message: String
    /// What to do, best of all a command.
    var hint: Advice?
    /// Further lines below the hint, where one command does not do.
    var steps: [String] = []
    /// The daemon's own error, where it replied with one.
    var response: ResponseError?
    /// Why the daemon could not be reached.
    private(set) var connection: ClientError?

    init(_ status: ExitStatus, _ message: String, hint: Advice? = nil, response: ResponseError? = nil) {
        self.status = status
        self.message = message
        self.hint = hint
        self.response = response
    }

    /// The same with another hint where the daemon does not have what was asked for.
    func notFound(_ hint: Advice?) -> Failure {
        guard let hint, response?.code == .notFound else { return self }
        var failure = self
        failure.hint = hint
        return failure
    }

    /// A reply that is not what the method promises.
    static func unreadable(_ detail: String) -> Failure {
        Failure(
            .internalError, "norrisd sent a reply that cannot be read: \(detail)",
            hint: "Compare the versions: norrisctl doctor"
        )
    }
}

// MARK: Errors of the daemon

extension Failure {
    /// An error that the daemon replied with. `method` is the one that was called; an unknown one means an older
    /// daemon, for norrisctl calls none that the daemon of its own version does not know.
    init(_ error: ResponseError, method: String) {
        self.init(ExitStatus(error), error.message, hint: error.hint.map { Advice($0) }, response: error)
        if error.code == .unknownMethod {
            status = .unavailable
            message = "This norrisd does not know \(method); it is older than norrisctl \(NorrisVersion.current)."
            hint = "Update norrisd, then: \(command: "systemctl restart norrisd")"
        }
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
    /// Whether the source could not be fetched for want of a key.
    var lacksCredentials: Bool {
        guard case .object(let failure)? = details["last_error"] else { return false }
        return failure["kind"] == .string(SourceFailure.Kind.credentials.rawValue)
    }
}

// MARK: Errors of the connection

/// Whose choice the sockets were that norrisctl tried.
enum SocketChoice {
    case flag, environment, standard

    init(flag: String?, environment: Environment) {
        if flag != nil {
            self = .flag
        } else {
            self = environment.value(of: "NORRISD_SOCKET") == nil ? .standard : .environment
        }
    }

    /// How to get back to the standard sockets; nil if those were tried.
    fileprivate var remedy: String? {
        switch self {
        case .flag: "leave out --socket"
        case .environment: "unset NORRISD_SOCKET"
        case .standard: nil
        }
    }
}

extension Failure {
    /// Each way in which the daemon cannot be reached, with the command that fixes it.
    init(_ error: ClientError, choice: SocketChoice, timeout: Timeout) {
        switch error {
        case .noSocket(let paths):
            let message = "norrisd is not running: there is no socket at \(paths.joined(separator: " or "))."
            self.init(.unavailable, message, hint: Self.start(paths, choice))
        case .refused(let path):
            let message = "norrisd is not running any more: nobody listens on \(path)."
            self.init(.unavailable, message, hint: "Start it again: \(DaemonCommands(socket: path).restart)")
        case .notPermitted(let path):
            self.init(
                .notPermitted, "You may not connect to \(path).",
                hint: """
                    See who may: \(command: "ls -l \(shellQuoted(path))"); \
                    or run one of your own: \(command: "systemctl --user start norrisd")
                    """
            )
        case .notASocket(let path):
            self.init(
                .unavailable, "\(path) is not a socket that norrisd listens on.",
                hint: choice.remedy.map { "Name another path, or \($0)." as Advice }
                    ?? "Move it away, then: \(DaemonCommands(socket: path).restart)"
            )
        case .pathTooLong(let path):
            let limit = SocketPath.maximumBytes
            self.init(
                .usage,
                path.utf8.count > limit
                    ? "The socket path \(path) is longer than \(limit) bytes."
                    : "The socket path is empty or holds a NUL byte.",
                hint: "Name another path, or \(choice.remedy ?? "a shorter XDG_RUNTIME_DIR")."
            )
        case .timedOut(let path):
            let message = "norrisd\(path.map { " at \($0)" } ?? "") did not answer within \(timeout.text)."
            let hint: Advice = "Find out why: norrisctl doctor; or allow more time: --timeout 30s"
            self.init(.unavailable, message, hint: hint)
        case .closed(let path):
            let message = "norrisd at \(path) closed the connection without an answer."
            self.init(.unavailable, message, hint: DaemonCommands(socket: path).log)
        case .malformedReply(let path, let detail):
            let message = "norrisd at \(path) sent a reply that cannot be read: \(detail)."
            self.init(.internalError, message, hint: DaemonCommands(socket: path).log)
        case .system(let path, let number):
            let message = "The connection to \(path) failed: \(SystemError(errno: number).reason)."
            self.init(.unavailable, message, hint: DaemonCommands(socket: path).log)
        }
        connection = error
    }

    private static func start(_ paths: [String], _ choice: SocketChoice) -> Advice {
        if let remedy = choice.remedy, let path = paths.first {
            return "Start one there: \(command: "norrisd --socket \(shellQuoted(path))"); or \(remedy)"
        }
        return """
            Start it: \(command: "systemctl start norrisd"), or \(command: "systemctl --user start norrisd"), \
            or just: \(command: "norrisd")
            """
    }
}
