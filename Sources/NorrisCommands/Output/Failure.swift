import NorrisClient
import NorrisProtocol
import NorrisSystem
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
    func notFound(_ hint: @autoclosure () -> Advice?) -> Failure {
        guard response?.code == .notFound, let hint = hint() else { return self }
        var failure = self
        failure.hint = hint
        return failure
    }

    /// A reply that is not what the method promises.
    static func unreadable(_ detail: String) -> Failure {
        Failure(
            .internalError, "Unreadable reply from norrisd: \(detail)", hint: "Compare the versions: norrisctl doctor")
    }

    /// A reply with the id of another request.
    static var otherReply: Failure { unreadable("it answers another request") }
}

// MARK: Errors of the daemon

extension Failure {
    /// An error that the daemon replied with. `method` is the one that was called; an unknown one means an older
    /// daemon, for norrisctl calls none that the daemon of its own version does not know.
    init(_ error: ResponseError, method: String) {
        self.init(ExitStatus(error), error.message, hint: error.hint.map { Advice($0) }, response: error)
        if error.code == .unknownMethod {
            status = .unavailable
            message = "norrisd is older than norrisctl \(NorrisVersion.current), and too old for this command."
            hint = "Update norrisd and restart it. See how: norrisctl doctor"
        } else if error.code == .permissionDenied, message.hasPrefix("\(method) ") {
            // The daemon names its method.
            message = "Only an administrator may do that."
        } else if case .string(let name)? = error.details["parameter"], let word = Self.words[name],
            message.hasPrefix("\(name) ")
        {
            message = word + message.dropFirst(name.count)
        }
    }

    /// What norrisctl calls the parameters whose values it leaves to the daemon to check.
    private static let words = [
        "author": "--author", "category": "--category", "id": "The id", "ids": "The ids", "name": "--name",
        "query": "The query", "source": "The source",
    ]
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

extension Failure {
    /// Each way in which the daemon cannot be reached, with the command that fixes it.
    ///
    /// - Parameters:
    ///   - remedy: how to get back to the standard sockets; nil if those were tried.
    ///   - option: `--socket`, where it was given.
    init(_ error: ClientError, remedy: String?, option: String?, timeout: Timeout) {
        func log(_ path: String) -> Advice { DaemonCommands(socket: path).log }
        let (status, message, hint): (ExitStatus, String, Advice) =
            switch error {
            case .noSocket(let paths):
                (
                    .unavailable, "norrisd is not running: there is no socket at \(paths.joined(separator: " or ")).",
                    Self.start(paths, remedy)
                )
            case .refused(let path):
                (
                    .unavailable, "norrisd has stopped: nothing listens on \(path).",
                    "Start it again: \(DaemonCommands(socket: path).restart)"
                )
            case .notPermitted(let path):
                (
                    .notPermitted, "You are not permitted to connect to \(path).",
                    """
                    Check its permissions: \(command: "ls -l \(shellQuoted(path))"); \
                    or run your own daemon: \(command: "systemctl --user start norrisd")
                    """
                )
            case .notASocket(let path):
                (
                    .unavailable, "\(path) is not a socket of norrisd.",
                    remedy.map { "Name another path, or \($0)." }
                        ?? "Move it away, then: \(DaemonCommands(socket: path).restart)"
                )
            case .pathTooLong(let path):
                (
                    .usage,
                    path.utf8.count > SocketPath.maximumBytes
                        ? "The socket path \(path) is longer than \(SocketPath.maximumBytes) bytes."
                        : "The socket path is empty or holds a NUL byte.",
                    "Name another path, or \(remedy ?? "a shorter XDG_RUNTIME_DIR")."
                )
            case .timedOut(let path):
                (
                    .unavailable, "norrisd\(path.map { " at \($0)" } ?? "") did not answer within \(timeout.text).",
                    """
                    Find out why: \(command: DaemonCommands(socket: "", option: option).norrisctl("doctor")); \
                    or allow more time: \(command: "--timeout 30s")
                    """
                )
            case .closed(let path):
                (.unavailable, "norrisd at \(path) closed the connection without an answer.", log(path))
            case .malformedReply(let path, let detail):
                (.internalError, "Unreadable reply from norrisd at \(path): \(detail).", log(path))
            case .system(let path, let errno):
                (.unavailable, "The connection to \(path) failed: \(SystemError.reason(errno)).", log(path))
            }
        self.init(status, message, hint: hint)
        connection = error
    }

    private static func start(_ paths: [String], _ remedy: String?) -> Advice {
        if let remedy, let path = paths.first {
            return """
                Start it there, with any other options it has: \(command: "norrisd --socket \(shellQuoted(path))"); \
                or \(remedy)
                """
        }
        return """
            Start it: \(command: "systemctl start norrisd"), or \(command: "systemctl --user start norrisd"), \
            or, with any options you use: \(command: "norrisd")
            """
    }
}

// MARK: Advice

/// What to do about something, in one sentence: words, and among them commands, which a page shows on lines of their
/// own so that they can be copied.
///
/// Written as a text: `"Rewrite it: \(command: "norrisd")"`.
struct Advice: Equatable, ExpressibleByStringInterpolation {
    struct Part: Equatable {
        fileprivate(set) var text: String
        let isCommand: Bool
    }

    /// No words stand beside other words.
    private(set) var parts: [Part] = []

    /// All of it in one line.
    var text: String { parts.map(\.text).joined() }

    init(_ words: String) { add(words) }
    init(stringLiteral words: String) { add(words) }
    init(stringInterpolation: StringInterpolation) { self = stringInterpolation.advice }

    fileprivate mutating func add(_ text: String, isCommand: Bool = false) {
        if !isCommand, parts.last?.isCommand == false {
            parts[parts.count - 1].text += text
        } else if !text.isEmpty {
            parts.append(Part(text: text, isCommand: isCommand))
        }
    }

    struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var advice = Advice("")

        init(literalCapacity: Int, interpolationCount: Int) {}

        mutating func appendLiteral(_ literal: String) { advice.add(literal) }
        mutating func appendInterpolation(_ value: some Any) { advice.add("\(value)") }
        mutating func appendInterpolation(_ other: Advice) {
            other.parts.forEach { advice.add($0.text, isCommand: $0.isCommand) }
        }
        mutating func appendInterpolation(command: String) { advice.add(command, isCommand: true) }
    }
}
