import Glibc
import NorrisClient
import NorrisProtocol
import NorrisSystem
import NorrisTerminal

/// All that a command may ask of the machine, as values and functions, so that tests can stand in for it.
struct System {
    var environment: Environment

    /// About standard output; asked anew each time, for a terminal may be resized.
    var terminal: TerminalFacts { terminalFacts() }
    var terminalFacts: () -> TerminalFacts
    var isErrorTerminal: Bool
    /// The width of standard error, at the moment; nil where it is no terminal.
    var errorColumns: () -> Int?
    /// Whether somebody would have to type what is read from standard input.
    var isInputTerminal: Bool
    /// What is shown on standard error while the daemon is waited for.
    var waiting: WaitingLine
    var now: Timestamp
    /// A moment in the time zone of whoever reads it, by a format of strftime(3).
    var localText: (Timestamp, _ format: String) -> String = { $0.localText($1) }
    /// The process that listens on a socket, as the kernel knows it; nil where nobody does.
    var listener: (_ socket: String) -> Int?
    /// The time since some fixed moment, on a clock that never jumps.
    var elapsed: () -> Duration
    /// Sends a line to the first socket that accepts and returns the reply, of at most so many bytes, within the time.
    var exchange: (_ line: [UInt8], _ sockets: [String], _ maximumReply: Int, Duration) throws(ClientError) -> [UInt8]
    /// Sends lines on one connection and hands over every line that comes, as ``Client/follow(_:receive:)``; nil where
    /// the closure has stopped it.
    var follow: (_ lines: [[UInt8]], _ sockets: [String], Duration, _ receive: ([UInt8]) -> FollowStep) -> ClientError?
    /// Writes to standard output at once; the report of a command does for all but those that go on.
    var writeOutput: (_ bytes: [UInt8]) throws(SystemError) -> Void
    /// Writes to standard error at once.
    var writeError: (_ bytes: [UInt8]) -> Void
    /// Standard input up to its end or one byte past the limit; nil if it cannot be read.
    var readInput: (_ limit: Int) -> [UInt8]?
    /// A file up to its end, or some bytes past the limit.
    var readFile: (_ path: String, _ limit: Int) throws(SystemError) -> [UInt8]
    var fileStatus: (_ path: String) throws(SystemError) -> FileStatus
    var writeFile: (_ path: String, _ bytes: [UInt8]) throws(SystemError) -> Void
    /// Writes a new file that nobody else may read, and the folders it lies in.
    var createFile: (_ path: String, _ bytes: [UInt8]) throws(SystemError) -> Void
    var removeFile: (_ path: String) -> Void
    /// Whether a file may be replaced or made.
    var mayReplace: (_ path: String) -> Bool
    /// A line of standard input, without its end; nil at the end of it.
    var readAnswer: () -> String?
    /// The folders of programs that belong to norrisctl, in which they are looked for in this order.
    var ownFolders: () -> [String]
    /// Runs another program and waits for it.
    var run: (SubprocessRequest) -> SubprocessOutcome

    /// Date, time and zone of a moment for a person.
    func localTime(_ moment: Timestamp) -> String { localText(moment, "%Y-%m-%d %H:%M:%S %Z") }

    /// The machine itself.
    init() {
        let environment = Environment { name in getenv(name).map { String(cString: $0) } }
        let isErrorTerminal = isatty(STDERR_FILENO) == 1
        let isUTF8 = isUTF8Locale(environment)
        let output = TextWriter(descriptor: STDOUT_FILENO, isASCII: !isUTF8 && isatty(STDOUT_FILENO) == 1)
        let errors = TextWriter(descriptor: STDERR_FILENO, isASCII: !isUTF8 && isErrorTerminal)
        func errorColumns() -> Int {
            TerminalFacts(descriptor: STDERR_FILENO).width(flag: nil, environment: environment)
        }
        let waiting = WaitingLine(
            isOn: isErrorTerminal && !isDumbTerminal(environment), elapsed: monotonicTime, columns: errorColumns,
            // Where standard error cannot be written there is no one left to tell; so it is below.
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
        exchange = { line, sockets, maximumReply, timeout throws(ClientError) in
            let client = Client(candidates: sockets, timeout: timeout)
            return try client.call(line, maximumReply: maximumReply, ticker: waiting.tick)
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
        createFile = { path, bytes throws(SystemError) in
            try NorrisCommands.createFile(path, bytes, home: environment.value(of: "HOME"))
        }
        removeFile = { unlink($0) }
        mayReplace = NorrisCommands.mayReplace
        readAnswer = { readLine() }
        ownFolders = NorrisCommands.ownFolders
        run = { request in
            waiting.erase()
            return runSubprocess(request) { _ = waiting.tick() }
        }
    }
}
