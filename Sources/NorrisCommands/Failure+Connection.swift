import Glibc
import NorrisClient
import NorrisProtocol
import NorrisTerminal

/// Whose choice the sockets were that norrisctl tried.
enum SocketChoice: Equatable {
    case flag, environment, standard

    init(flag: String?, environment: Environment) {
        if flag != nil {
            self = .flag
        } else {
            self = environment.value(of: "NORRISD_SOCKET") == nil ? .standard : .environment
        }
    }
}

extension Failure {
    /// Each way in which the daemon cannot be reached, with the command that fixes it.
    init(_ error: ClientError, choice: SocketChoice, timeout: Timeout) {
        switch error {
        case .noSocket(let paths):
            self.init(
                .unavailable,
                "norrisd is not running: there is no socket at \(paths.joined(separator: " or ")).",
                hint: Self.start(paths, choice)
            )
        case .refused(let path):
            self.init(
                .unavailable,
                "norrisd is not running any more: nobody listens on \(path).",
                hint: "Start it again: \(DaemonCommands(socket: path).restart)"
            )
        case .notPermitted(let path):
            self.init(
                .notPermitted,
                "You may not connect to \(path).",
                hint: """
                    See who may: \(command: "ls -l \(shellQuoted(path))"); \
                    or run one of your own: \(command: "systemctl --user start norrisd")
                    """
            )
        case .notASocket(let path):
            self.init(
                .unavailable,
                "\(path) is not a socket that norrisd listens on.",
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
            self.init(
                .unavailable,
                "norrisd\(path.map { " at \($0)" } ?? "") did not answer within \(timeout.text).",
                hint: "Find out why: norrisctl doctor; or allow more time: --timeout 30s"
            )
        case .closed(let path):
            self.init(
                .unavailable,
                "norrisd at \(path) closed the connection without an answer.",
                hint: DaemonCommands(socket: path).log
            )
        case .malformedReply(let path, let detail):
            self.init(
                .internalError,
                "norrisd at \(path) sent a reply that cannot be read: \(detail).",
                hint: DaemonCommands(socket: path).log
            )
        case .system(let path, let number):
            self.init(
                .unavailable,
                "The connection to \(path) failed: \(String(cString: strerror(number))).",
                hint: DaemonCommands(socket: path).log
            )
        }
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

extension SocketChoice {
    /// How to get back to the standard sockets; nil if those were tried.
    fileprivate var remedy: String? {
        switch self {
        case .flag: "leave out --socket"
        case .environment: "unset NORRISD_SOCKET"
        case .standard: nil
        }
    }
}
