import Glibc
import NorrisClient
import NorrisProtocol
import NorrisSystem
import NorrisTerminal
import NorrisText

/// The machine: its files, sockets and clock. Tests replace them by a folder, replies and another clock.
struct System {
    let environment: Environment
    /// The folder that replaces `/` in paths of files; empty for `/` itself.
    private let root: String
    /// Standard input, output and error.
    let input, output, errors: CInt
    let sockets: Sockets
    let now: Timestamp
    let clock: Clock
    /// Waits between two attempts.
    let pause: (Duration) -> Void
    let waiting: WaitingLine

    init(
        environment: Environment = .ofProcess, root: String = "", input: CInt = STDIN_FILENO,
        output: CInt = STDOUT_FILENO, errors: CInt = STDERR_FILENO, sockets: Sockets = Sockets(),
        now: Timestamp = .now(), elapsed: @escaping () -> Duration = monotonicTime,
        pause: @escaping (Duration) -> Void = { poll(nil, 0, CInt($0.components.seconds) * 1_000) }
    ) {
        (self.environment, self.root, self.sockets) = (environment, root, sockets)
        (self.input, self.output, self.errors, self.now, self.pause) = (input, output, errors, now, pause)
        let clock = Clock(elapsed)
        self.clock = clock
        waiting = WaitingLine(
            isOn: isatty(errors) == 1 && !isDumbTerminal(environment), elapsed: { clock.time },
            columns: { TerminalFacts(descriptor: errors).width(flag: nil, environment: environment) },
            // No channel remains for a failure to write to standard error, here and below.
            write: { try? writeText(Array($0.utf8), to: errors, environment) })
    }

    // MARK: Terminals

    /// The properties of standard output, read anew each time, because users resize terminals.
    var terminal: TerminalFacts { TerminalFacts(descriptor: output) }
    var isErrorTerminal: Bool { isatty(errors) == 1 }
    /// Whether standard input is a terminal, so that the user has to type the input.
    var isInputTerminal: Bool { isatty(input) == 1 }
    /// The current width of standard error in columns, or nil if it is no terminal.
    var errorColumns: Int? {
        isErrorTerminal ? TerminalFacts(descriptor: errors).width(flag: nil, environment: environment) : nil
    }

    /// Writes to standard output immediately.
    func writeOutput(_ bytes: [UInt8]) throws(SystemError) {
        waiting.erase()
        try clock.pause { () throws(SystemError) in try writeText(bytes, to: output, environment) }
    }

    func writeError(_ bytes: [UInt8]) {
        waiting.erase()
        clock.pause { try? writeText(bytes, to: errors, environment) }
    }

    /// Reads a line of standard input, without the LF. Returns nil at the end of the input.
    func readAnswer() -> String? {
        clock.pause {
            var line: [UInt8] = []
            var byte: UInt8 = 0
            while read(input, &byte, 1) == 1 {
                if byte == UInt8(ascii: "\n") { return String(decoding: line, as: UTF8.self) }
                line.append(byte)
            }
            return line.isEmpty ? nil : String(decoding: line, as: UTF8.self)
        }
    }

    // MARK: Files

    /// Returns the path of a file in the machine.
    func file(_ path: String) -> String { root.isEmpty ? path : "\(root)/\(path)" }

    /// Whether a file exists, also if it is not accessible.
    func exists(_ path: String) -> Bool { access(file(path), F_OK) == 0 || errno != ENOENT }

    func readFile(_ path: String, _ limit: Int) throws(SystemError) -> [UInt8] {
        try NorrisCommands.readFile(file(path), limit: limit)
    }

    /// Returns the folders of norrisctl's own programs: the folder of its executable, as after a build, and the folder
    /// of the packages. Returns none if proc(5) is unavailable.
    var ownFolders: [String] {
        guard let program = realPath(file("/proc/self/exe")), let slash = program.utf8.lastIndex(of: UInt8(ascii: "/"))
        else { return [] }
        let folder = program[..<slash]
        return [String(folder), "\(folder)/../libexec/norrisd"]
    }

    /// Runs one of norrisctl's own programs, because a program in `PATH` may belong to another norrisctl.
    func runOwn(_ request: SubprocessRequest) -> SubprocessOutcome {
        for folder in ownFolders {
            var request = request
            request.program = "\(folder)/\(request.program)"
            let outcome = run(request)
            if outcome != .missing { return outcome }
        }
        return .missing
    }
}

extension Timestamp {
    var localTime: String { localText("%Y-%m-%d %H:%M:%S %Z") }
}

/// Writes whole characters to a descriptor, in ASCII if a terminal at its other end cannot show UTF-8.
private func writeText(_ bytes: [UInt8], to descriptor: CInt, _ environment: Environment) throws(SystemError) {
    let isASCII = isatty(descriptor) == 1 && !isUTF8Locale(environment)
    try writeAll(isASCII ? Array(asciiText(String(decoding: bytes, as: UTF8.self)).utf8) : bytes, to: descriptor)
}

/// The time of a command that counts for its timeout. Waiting for a person, a file or a pipe does not count.
final class Clock {
    private let elapsed: () -> Duration
    private var paused: Duration = .zero

    /// - Parameter elapsed: the time since a fixed moment, from a monotonic clock.
    init(_ elapsed: @escaping () -> Duration) { self.elapsed = elapsed }

    var time: Duration { elapsed() - paused }

    func pause<Value, Failure>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value {
        let start = elapsed()
        defer { paused += elapsed() - start }
        return try body()
    }
}

/// The connections to a daemon. Tests replace it by replies.
class Sockets {
    private var paths: [String] = []
    /// The client of all calls to the same paths.
    private var client = Client(candidates: [])

    private func choose(_ paths: [String]) {
        guard self.paths != paths else { return }
        (self.paths, client) = (paths, Client(candidates: paths))
    }

    /// Sends a line to the first socket that accepts, and returns the reply within a time.
    func exchange(
        _ line: [UInt8], with paths: [String], within timeout: Duration, _ waiting: WaitingLine
    ) throws(ClientError) -> [UInt8] {
        choose(paths)
        return try client.call(line, by: Deadline(after: timeout), ticker: waiting.tick)
    }

    /// Sends lines on several connections, as ``Client/spread(_:by:ticker:receive:)``.
    func spread(
        _ lines: [[UInt8]], with paths: [String], within timeout: Duration, _ waiting: WaitingLine,
        receive: (Int, [UInt8]) -> Bool
    ) throws(ClientError) {
        choose(paths)
        try client.spread(lines, by: Deadline(after: timeout), ticker: waiting.tick, receive: receive)
    }

    /// Sends lines on one connection, as ``Client/follow(_:by:ticker:output:receive:)``.
    func follow(
        _ lines: [[UInt8]], with paths: [String], within timeout: Duration, _ waiting: WaitingLine, output: CInt,
        receive: ([UInt8]) -> FollowStep
    ) throws(ClientError) {
        choose(paths)
        try client.follow(
            lines, by: Deadline(after: timeout), ticker: waiting.tick, output: output, receive: receive)
    }

    /// The process that listens on a socket, according to the kernel; nil without a listener.
    func listener(at path: String) -> Int? { Connection.listener(at: path) }
}
