import Glibc
package import NorrisClient
package import NorrisProtocol
package import NorrisTerminal

/// All that a command may ask of the machine, as values and functions, so that tests can stand in for it.
package struct System {
    package var environment: Environment

    /// About standard output; asked anew each time, for a terminal may be resized.
    package var terminal: TerminalFacts { lookAtTerminal() }
    private let lookAtTerminal: () -> TerminalFacts
    package var isErrorTerminal: Bool

    /// What is shown on standard error while the daemon is waited for.
    package var waiting: WaitingLine

    /// Whether somebody would have to type what is read from standard input.
    package var isInputTerminal: Bool
    package var now: Timestamp

    /// The time since some fixed moment, on a clock that never jumps.
    package var elapsed: () -> Duration

    /// Sends a line to the first socket that accepts and returns the reply, of at most so many bytes, within the time.
    package var exchange:
        (_ line: [UInt8], _ sockets: [String], _ maximumReply: Int, Duration) throws(ClientError) -> [UInt8]

    /// Sends lines on one connection and hands over every line that comes, as ``Client/follow(_:receive:)``; nil where
    /// the closure has stopped it.
    package var follow:
        (_ lines: [[UInt8]], _ sockets: [String], Duration, _ receive: ([UInt8]) -> FollowStep) -> ClientError?

    /// Writes to standard output at once; the report of a command does for all but those that go on.
    package var writeOutput: (_ bytes: [UInt8]) throws(WriteError) -> Void

    /// Writes to standard error at once.
    package var writeError: (_ bytes: [UInt8]) -> Void

    /// Standard input up to its end or one byte past the limit; nil if it cannot be read.
    package var readInput: (_ limit: Int) -> [UInt8]?

    /// A file up to its end, or some bytes past the limit.
    package var readFile: (_ path: String, _ limit: Int) throws(ReadError) -> [UInt8]

    package var fileStatus: (_ path: String) throws(ReadError) -> FileStatus

    package var writeFile: (_ path: String, _ bytes: [UInt8]) throws(FileWriteError) -> Void

    /// Whether the command line is UTF-8; in what is not, U+FFFD stands for other bytes.
    package var areArgumentsUTF8: () -> Bool = { true }

    /// The folders of programs that belong to norrisctl, in which they are looked for in this order.
    package var ownFolders: () -> [String]

    /// Runs another program and waits for it.
    package var run: (SubprocessRequest) -> SubprocessOutcome

    package init(
        environment: Environment,
        terminal: @autoclosure @escaping () -> TerminalFacts,
        isErrorTerminal: Bool,
        waiting: WaitingLine = .off,
        isInputTerminal: Bool,
        now: Timestamp,
        elapsed: @escaping () -> Duration,
        exchange: @escaping (
            _ line: [UInt8], _ sockets: [String], _ maximumReply: Int, Duration
        ) throws(ClientError) -> [UInt8],
        follow: @escaping (
            _ lines: [[UInt8]], _ sockets: [String], Duration, _ receive: ([UInt8]) -> FollowStep
        ) -> ClientError?,
        writeOutput: @escaping (_ bytes: [UInt8]) throws(WriteError) -> Void,
        writeError: @escaping (_ bytes: [UInt8]) -> Void,
        readInput: @escaping (_ limit: Int) -> [UInt8]?,
        readFile: @escaping (_ path: String, _ limit: Int) throws(ReadError) -> [UInt8],
        fileStatus: @escaping (_ path: String) throws(ReadError) -> FileStatus,
        writeFile: @escaping (_ path: String, _ bytes: [UInt8]) throws(FileWriteError) -> Void,
        ownFolders: @escaping () -> [String],
        run: @escaping (SubprocessRequest) -> SubprocessOutcome
    ) {
        self.environment = environment
        lookAtTerminal = terminal
        self.isErrorTerminal = isErrorTerminal
        self.waiting = waiting
        self.isInputTerminal = isInputTerminal
        self.now = now
        self.elapsed = elapsed
        self.exchange = exchange
        self.follow = follow
        self.writeOutput = writeOutput
        self.writeError = writeError
        self.readInput = readInput
        self.readFile = readFile
        self.fileStatus = fileStatus
        self.writeFile = writeFile
        self.ownFolders = ownFolders
        self.run = run
    }
}

extension System {
    /// The machine itself.
    package static func real() -> System {
        let environment = Environment { name in getenv(name).map { String(cString: $0) } }
        let isErrorTerminal = isatty(STDERR_FILENO) == 1
        let isUTF8 = isUTF8Locale(environment)
        let output = TextWriter(descriptor: STDOUT_FILENO, isASCII: !isUTF8 && isatty(STDOUT_FILENO) == 1)
        let errors = TextWriter(descriptor: STDERR_FILENO, isASCII: !isUTF8 && isErrorTerminal)
        let waiting = WaitingLine(
            isOn: isErrorTerminal && !isDumbTerminal(environment),
            elapsed: monotonicTime,
            columns: { TerminalFacts(descriptor: STDERR_FILENO).width(flag: nil, environment: environment) },
            // Where standard error cannot be written there is no one left to tell; so it is below.
            write: { try? errors.write(Array($0.utf8)) }
        )
        var system = System(
            environment: environment,
            terminal: TerminalFacts(descriptor: STDOUT_FILENO),
            isErrorTerminal: isErrorTerminal,
            waiting: waiting,
            isInputTerminal: isatty(STDIN_FILENO) == 1,
            now: .now(),
            elapsed: monotonicTime,
            exchange: { line, sockets, maximumReply, timeout throws(ClientError) in
                let client = Client(candidates: sockets, timeout: timeout)
                return try client.call(line, maximumReply: maximumReply, ticker: waiting.tick)
            },
            follow: { lines, sockets, timeout, receive in
                do throws(ClientError) {
                    let client = Client(candidates: sockets, timeout: timeout)
                    try client.follow(lines, ticker: waiting.tick, receive: receive)
                    return nil
                } catch {
                    return error
                }
            },
            writeOutput: { bytes throws(WriteError) in
                waiting.erase()
                try output.write(bytes)
            },
            writeError: { bytes in
                waiting.erase()
                try? errors.write(bytes)
            },
            readInput: { limit in try? readAll(STDIN_FILENO, limit: limit) },
            readFile: NorrisCommands.readFile,
            fileStatus: NorrisCommands.fileStatus,
            writeFile: NorrisCommands.writeFile,
            ownFolders: NorrisCommands.ownFolders,
            run: { request in
                waiting.erase()
                return runSubprocess(request) { _ = waiting.tick() }
            }
        )
        system.areArgumentsUTF8 = {
            // The standard library keeps as many as it counts for the whole run.
            (0..<Int(CommandLine.argc)).allSatisfy { number in
                CommandLine.unsafeArgv[number].map { String(validatingCString: $0) != nil } ?? true
            }
        }
        return system
    }

    private static func monotonicTime() -> Duration {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
