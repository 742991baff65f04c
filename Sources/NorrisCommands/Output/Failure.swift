import Glibc
import NorrisClient
import NorrisProtocol
import NorrisSystem
import NorrisTerminal
import NorrisText

/// The failure of a command: message, advice and exit status.
struct Failure: Error, Equatable {
    var status: ExitStatus
    /// A single sentence.
    var message: String
    /// The advice, preferably a command.
    var hint: Advice?
    /// The lines below the hint, if one command is not enough.
    var steps: [Advice] = []
    /// The daemon's error reply, if any.
    private(set) var response: ResponseError?
    /// The connection error, if the daemon was unreachable.
    private(set) var connection: ClientError?

    init(_ status: ExitStatus, _ message: String, hint: Advice? = nil, response: ResponseError? = nil) {
        self.status = status
        self.message = message
        self.hint = hint
        self.response = response
    }

    /// Replaces the hint if the daemon has not found the requested item.
    func notFound(_ hint: @autoclosure () -> Advice?) -> Failure {
        guard response?.code == .notFound, let hint = hint() else { return self }
        var failure = self
        failure.hint = hint
        return failure
    }

    /// The hint and the steps in one sentence.
    var advice: Advice? {
        guard let hint else { return nil }
        return steps.reduce(hint) { "\($0)\($0.endsSentence ? " " : "; ")\($1)" }
    }

    /// The error object for programs: the daemon's, or one with the code of norrisctl's own errors.
    func object(socket: String?) -> ResponseError {
        response
            ?? ResponseError(
                .client, reason: connection == nil ? "failed" : "unreachable", message,
                hint: advice?.text(socket: socket))
    }

    /// A reply that does not match the method's result.
    static func unreadable(_ detail: String) -> Failure {
        Failure(
            .internalError, "Unreadable reply from norrisd: \(detail)", hint: "Compare the versions: norrisctl doctor")
    }

    /// A reply with the id of another request.
    static var otherReply: Failure { unreadable("it answers another request") }
}

// MARK: Errors of the daemon

extension Failure {
    /// An error reply to `method`. An unknown method means an older daemon, because norrisctl calls only methods of its
    /// own version.
    init(_ error: ResponseError, method: String) {
        self.init(ExitStatus(error), error.message, hint: error.hint.map { Advice($0) }, response: error)
        if error.code == .unknownMethod {
            status = .unavailable
            message = "norrisd is older than norrisctl \(NorrisVersion.current), and too old for this command."
            hint = "Update norrisd and restart it. See how: norrisctl doctor"
        } else if method == ServerReload.name, error.code == .invalidParams {
            // The method has no parameters; its error is about the file.
            status = .configuration
        } else if let word = error.detail("parameter").flatMap({ Self.words[$0] }),
            ![SourceEdit.name, SourceRemove.name].contains(method)
        {
            message = "\(word): \(message)"
        }
    }

    /// The words of norrisctl for the parameters that only the daemon checks.
    private static let words = [
        "author": "--author", "category": "--category", "id": "ID", "ids": "ID", "name": "--name", "query": "QUERY",
    ]
}

/// The exit statuses of norrisctl: 0, 1, and values of sysexits.h on which scripts rely.
enum ExitStatus: Int32, CaseIterable, Sendable {
    case done = 0
    case nothing = 1
    case usage = 64
    case unavailable = 69
    case internalError = 70
    case inputOutput = 74
    case temporary = 75
    case notPermitted = 77
    case configuration = 78

    /// The meaning in the help.
    var meaning: String {
        switch self {
        case .done: "done"
        case .nothing: "nothing matched"
        case .usage: "wrong usage"
        case .unavailable: "norrisd or another program is not available"
        case .internalError: "internal error"
        case .inputOutput: "a file cannot be read or written"
        case .temporary: "try again later"
        case .notPermitted: "not permitted"
        case .configuration: "the configuration has a fault or lacks a key"
        }
    }

    /// The exit status for an error reply. An unknown code from a newer daemon counts as a fault of the daemon.
    init(_ error: ResponseError) {
        switch error.code {
        case .invalidRequest, .unknownMethod, .invalidParams: self = .usage
        case .notFound: self = .nothing
        case .nothingCached: self = .ofFailedFetches([error.lastFailure])
        case .permissionDenied: self = .notPermitted
        case .busy, .shuttingDown: self = .temporary
        case .storage: self = .inputOutput
        default: self = .internalError
        }
    }

    /// The exit status after failed fetches. Another attempt does not help if all of them lack a key.
    static func ofFailedFetches(_ failures: [SourceFailure?]) -> ExitStatus {
        failures.allSatisfy { $0?.kind == .credentials } ? .configuration : .temporary
    }
}

extension ResponseError {
    /// The failure of the last fetch from the source.
    var lastFailure: SourceFailure? { detail("last_error") }

    /// Whether a missing key prevented the fetch from the source.
    var lacksCredentials: Bool { lastFailure?.kind == .credentials }
}

// MARK: Errors of the connection

extension Failure {
    /// A connection error with the command that solves the problem. `remedy` is the way back to the standard sockets,
    /// if an option or the environment has named another socket.
    init(_ error: ClientError, remedy: String?, timeout: Timeout, system: System) {
        func log(_ path: String) -> Advice { DaemonCommands(socket: path).log }
        var steps: [Advice] = []
        let (status, message, hint): (ExitStatus, String, Advice) =
            switch error {
            case .noSocket(let paths):
                (
                    .unavailable,
                    "norrisd is not running: there is no socket at \(paths.joined(separator: " or "))."
                        + (remedy == nil && paths == [SocketPath.system] ? system.whyNotOwnDaemon : ""),
                    Self.start(paths, remedy, system, &steps)
                )
            case .refused(let path):
                (
                    .unavailable, "norrisd has stopped: nothing listens on \(path).",
                    "Start it again: \(DaemonCommands(socket: path).restart)"
                )
            case .notPermitted(let path):
                (
                    .notPermitted, "You are not permitted to connect to \(path).",
                    "Check its permissions: \(command: "ls -l \(shellQuoted(path))")"
                )
            case .notASocket(let path):
                (
                    .unavailable, "\(path) is not a socket of norrisd.",
                    remedy.map { "Name another path, or \(value: $0)." }
                        ?? "Move it away, then: \(DaemonCommands(socket: path).restart)"
                )
            case .pathTooLong(let path):
                (
                    .usage,
                    path.utf8.count > SocketPath.maximumBytes
                        ? "The socket path \(path) is longer than \(SocketPath.maximumBytes) bytes."
                        : "The socket path is empty or holds a NUL byte.",
                    "Name another path, or \(value: remedy ?? "a shorter XDG_RUNTIME_DIR")."
                )
            case .timedOut(let path):
                (
                    .unavailable, "norrisd\(path.map { " at \($0)" } ?? "") did not answer within \(timeout.text).",
                    """
                    Find out why: \(command: "norrisctl doctor")\
                    \(timeout.longer.map { "; or allow more time: \(command: "--timeout \($0.text)")" } ?? "")
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
        if case .notPermitted = error, system.hasRuntimeFolder || system.hasLoginFolder {
            steps = ["or run your own daemon: \(system.ownStart)"]
        }
        (self.steps, connection) = (steps, error)
    }

    /// Returns the first step that starts a daemon, and adds the others: each a command for a unit that is installed.
    private static func start(
        _ paths: [String], _ remedy: String?, _ system: System, _ steps: inout [Advice]
    ) -> Advice {
        if let remedy, let path = paths.first {
            steps = ["or \(value: remedy)"]
            return "Start it there, with any other options it has: \(command: "norrisd --socket \(shellQuoted(path))")"
        }
        let hasFolder = paths != [SocketPath.system]
        let hasOwnUnit = hasFolder && system.hasUnit("user")
        if system.hasUnit("system") {
            if hasOwnUnit { steps = ["or start your own: \(system.ownStart)"] }
            return "Start it: \(command: "sudo systemctl start norrisd.socket")"
        }
        if hasFolder { return "Start it\(hasOwnUnit ? "" : " in another terminal"): \(system.ownStart)" }
        steps = ["then start it in one: \(command: system.ownProgram)"]
        return "Set it in each terminal: \(command: system.runtimeFolderExport)"
    }
}

extension System {
    /// Whether a socket unit of norrisd is installed, in the folders of systemd.unit(5).
    ///
    /// - Parameter manager: `system` or `user`.
    fileprivate func hasUnit(_ manager: String) -> Bool {
        // Without systemd, as in a container, units are only files (sd_booted(3)).
        guard exists("/run/systemd/system") else { return false }
        let home = environment["HOME"] ?? ""
        let own = [
            environment.value(of: "XDG_CONFIG_HOME") ?? "\(home)/.config",
            environment.value(of: "XDG_DATA_HOME") ?? "\(home)/.local/share",
        ]
        return (["/etc", "/run", "/usr/local/lib", "/usr/lib"] + (manager == "user" ? own : [])).contains {
            exists("\($0)/systemd/\(manager)/norrisd.socket")
        }
    }

    /// Whether `XDG_RUNTIME_DIR` is set, which systemctl --user and norrisd need.
    fileprivate var hasRuntimeFolder: Bool { environment.value(of: "XDG_RUNTIME_DIR") != nil }

    /// Whether the user has a folder of logind(8). In a container there is none.
    fileprivate var hasLoginFolder: Bool { exists("/run/user/\(geteuid())") }

    /// The command that gives a shell, and a daemon that it starts, a folder for the socket and other files.
    var runtimeFolderExport: String {
        hasLoginFolder
            ? "export XDG_RUNTIME_DIR=/run/user/$(id -u)" : "mkdir -pm700 ~/.run; export XDG_RUNTIME_DIR=~/.run"
    }

    /// The command that starts a daemon of this user, who has a folder for its socket: the unit, else the program.
    fileprivate var ownStart: Advice {
        let folder = hasRuntimeFolder ? "" : "XDG_RUNTIME_DIR=/run/user/$(id -u) "
        return "\(command: folder + (hasUnit("user") ? "systemctl --user start norrisd.socket" : ownProgram))"
    }

    /// The daemon's program, which is beside norrisctl after a build.
    fileprivate var ownProgram: String {
        shellQuoted(["norrisd", "\(ownFolders.first ?? "")/norrisd"].first(where: hasProgram) ?? "norrisd")
    }

    /// The reason why only the system's socket was tried.
    fileprivate var whyNotOwnDaemon: String {
        let reason = hasRuntimeFolder ? "no folder of yours" : "not set"
        return " Your own daemon was not looked for, because XDG_RUNTIME_DIR is \(reason)."
    }
}

// MARK: Advice

/// A sentence for the user: words of norrisctl, values from elsewhere, and commands, as in
/// `"\(name) is old. Update it: \(command: "norrisctl doctor")"`.
///
/// Commands of norrisctl, in the words too, repeat the user's `--socket` when the sentence is shown. Values are shown
/// as they are, because they may contain what the user typed. A page shows the commands on separate lines.
struct Advice: Equatable, ExpressibleByStringInterpolation {
    struct Part: Equatable {
        enum Kind { case words, value, command }

        fileprivate(set) var text: String
        let kind: Kind
    }

    private(set) var parts: [Part] = []
    fileprivate var endsSentence: Bool { parts.last?.text.last.map { ".:".contains($0) } ?? true }

    init(_ words: String) { add(words, .words) }
    init(stringLiteral words: String) { add(words, .words) }
    init(stringInterpolation: StringInterpolation) { self = stringInterpolation.advice }

    /// Adds a part. Words that end in a command, such as most hints of the daemon, become two parts.
    fileprivate mutating func add(_ text: String, _ kind: Part.Kind) {
        guard kind == .words, let place = text.places(of: ": norrisctl ").last,
            !text[place.upperBound...].contains(where: { ".,;:".contains($0) })
        else {
            if !text.isEmpty { parts.append(Part(text: text, kind: kind)) }
            return
        }
        let start = text.index(place.lowerBound, offsetBy: 2)
        parts += [Part(text: String(text[..<start]), kind: .words), Part(text: String(text[start...]), kind: .command)]
    }

    /// The whole sentence on one line.
    ///
    /// - Parameter socket: the user's `--socket`.
    func text(socket: String?) -> String { repeating(socket: socket).parts.map(\.text).joined() }

    /// The sentence with the user's `--socket` in its commands.
    func repeating(socket: String?) -> Advice {
        // A path that users cannot type is not repeated.
        guard let socket = socket.flatMap({ shellCommand([$0]) }) else { return self }
        var advice = self
        for index in parts.indices where parts[index].kind != .value {
            advice.parts[index].text = repeating(socket, in: parts[index].text)
        }
        return advice
    }

    private func repeating(_ socket: String, in text: String) -> String {
        if text.hasPart("--socket") { return text }
        var text = text
        for place in text.places(of: "norrisctl ").reversed() {
            let word = text[place.upperBound...].prefix { $0.isLetter || $0 == "-" }
            // Not in `See 'norrisctl fact --help'`, which needs no daemon.
            guard Norrisctl.commands.contains(where: { $0.name == word }), !text[..<place.lowerBound].hasSuffix("'")
            else { continue }
            text.insert(contentsOf: "--socket \(socket) ", at: place.upperBound)
        }
        return text
    }

    struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var advice = Advice("")

        init(literalCapacity: Int, interpolationCount: Int) {}

        mutating func appendLiteral(_ literal: String) { advice.add(literal, .words) }
        mutating func appendInterpolation(value: some Any) { advice.add("\(value)", .value) }
        mutating func appendInterpolation(_ other: Advice) { advice.parts += other.parts }
        mutating func appendInterpolation(command: String) { advice.add(command, .command) }
    }
}
