import Glibc
import NorrisClient
import NorrisProtocol
import NorrisSystem
import NorrisTerminal

/// The machine as values and functions, which tests replace.
struct System {
    var environment: Environment

    /// The facts about standard output, read anew each time, because users resize terminals.
    var terminal: TerminalFacts { terminalFacts() }
    var terminalFacts: () -> TerminalFacts
    var isErrorTerminal: Bool
    /// The current width of standard error in columns, or nil if it is no terminal.
    var errorColumns: () -> Int?
    /// Whether standard input is a terminal, so that the user has to type the input.
    var isInputTerminal: Bool
    var waiting: WaitingLine
    var now: Timestamp
    /// Formats a time in the user's time zone, with a format of strftime(3).
    var localText: (Timestamp, _ format: String) -> String = { $0.localText($1) }
    /// The process that listens on a socket, according to the kernel; nil without a listener.
    var listener: (_ socket: String) -> Int?
    /// The time since a fixed moment, from a monotonic clock.
    var elapsed: () -> Duration
    /// Sends a line to the first socket that accepts, and returns the reply within limits of bytes and time.
    var exchange: (_ line: [UInt8], _ sockets: [String], _ maximumReply: Int, Duration) throws(ClientError) -> [UInt8]
    /// Sends lines on several connections, as ``Client/spread(_:ticker:receive:)``.
    var spread:
        (_ lines: [[UInt8]], _ sockets: [String], Duration, _ receive: (Int, [UInt8]) -> Bool) throws(ClientError) ->
            Void
    /// Sends lines on one connection, as ``Client/follow(_:receive:)``. Returns nil if the closure stops.
    var follow: (_ lines: [[UInt8]], _ sockets: [String], Duration, _ receive: ([UInt8]) -> FollowStep) -> ClientError?
    /// Writes to standard output immediately, for commands that continue. Other commands return a report.
    var writeOutput: (_ bytes: [UInt8]) throws(SystemError) -> Void
    var writeError: (_ bytes: [UInt8]) -> Void
    /// Reads standard input to its end, or some bytes past the limit. Returns nil if the input is unreadable.
    var readInput: (_ limit: Int) -> [UInt8]?
    var readFile: (_ path: String, _ limit: Int) throws(SystemError) -> [UInt8]
    var fileStatus: (_ path: String) throws(SystemError) -> FileStatus
    var writeFile: (_ path: String, _ bytes: [UInt8]) throws(SystemError) -> Void
    /// Reads a line of standard input, without the LF. Returns nil at the end of the input.
    var readAnswer: () -> String?
    /// The folders of norrisctl's own programs, in the order of the search.
    var ownFolders: () -> [String]
    var run: (SubprocessRequest) -> SubprocessOutcome

    func localTime(_ moment: Timestamp) -> String { localText(moment, "%Y-%m-%d %H:%M:%S %Z") }

    init() {
        let environment = Environment.ofProcess
        let isErrorTerminal = isatty(STDERR_FILENO) == 1
        let isUTF8 = isUTF8Locale(environment)
        let output = TextWriter(descriptor: STDOUT_FILENO, isASCII: !isUTF8 && isatty(STDOUT_FILENO) == 1)
        let errors = TextWriter(descriptor: STDERR_FILENO, isASCII: !isUTF8 && isErrorTerminal)
        func errorColumns() -> Int {
            TerminalFacts(descriptor: STDERR_FILENO).width(flag: nil, environment: environment)
        }
        let waiting = WaitingLine(
            isOn: isErrorTerminal && !isDumbTerminal(environment), elapsed: monotonicTime, columns: errorColumns,
            // No channel remains for a failure to write to standard error, here and below.
            write: { try? errors.write(Array($0.utf8)) })
        self.environment = environment
        self.isErrorTerminal = isErrorTerminal
        self.errorColumns = { isErrorTerminal ? errorColumns() : nil }
        self.waiting = waiting
        terminalFacts = { TerminalFacts(descriptor: STDOUT_FILENO) }
        isInputTerminal = isatty(STDIN_FILENO) == 1
        now = .now()
        elapsed = monotonicTime
        listener = { Connection.listener(at: $0) }
        let connection = OpenConnection()
        exchange = { line, sockets, maximumReply, timeout throws(ClientError) in
            let client = Client(candidates: sockets, timeout: timeout)
            if connection.sockets != sockets { connection.connection = nil }
            connection.sockets = sockets
            return try client.call(
                line, maximumReply: maximumReply, ticker: waiting.tick, reusing: &connection.connection)
        }
        spread = { lines, sockets, timeout, receive throws(ClientError) in
            try Client(candidates: sockets, timeout: timeout).spread(lines, ticker: waiting.tick, receive: receive)
        }
        follow = { lines, sockets, timeout, receive in
            do throws(ClientError) {
                let client = Client(candidates: sockets, timeout: timeout)
                try client.follow(lines, ticker: waiting.tick, receive: receive)
                return nil
            } catch {
                return error
            }
        }
        writeOutput = { bytes throws(SystemError) in
            waiting.erase()
            try output.write(bytes)
        }
        writeError = { bytes in
            waiting.erase()
            try? errors.write(bytes)
        }
        readInput = { limit in try? readAll(STDIN_FILENO, limit: limit) }
        readFile = NorrisCommands.readFile
        fileStatus = NorrisCommands.fileStatus
        writeFile = NorrisCommands.writeFile
        readAnswer = { readLine() }
        ownFolders = NorrisCommands.ownFolders
        run = { request in
            waiting.erase()
            return runSubprocess(request) { _ = waiting.tick() }
        }
    }
}

/// The connection of a command, for all its calls to the same sockets.
private final class OpenConnection {
    var sockets: [String] = []
    var connection: Connection?
}
