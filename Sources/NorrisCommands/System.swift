import Glibc
package import NorrisClient
package import NorrisProtocol
package import NorrisTerminal

/// All that a command may ask of the machine, as values and functions, so that tests can stand in for it.
package struct System {
    package var environment: [String: String]

    /// About standard output.
    package var terminal: TerminalFacts
    package var isErrorTerminal: Bool

    /// Whether somebody would have to type what is read from standard input.
    package var isInputTerminal: Bool
    package var now: Timestamp

    /// The time since some fixed moment, on a clock that never jumps.
    package var elapsed: () -> Duration

    /// Sends a line to the first socket that accepts and returns the reply, within the time.
    package var exchange: (_ line: [UInt8], _ sockets: [String], Duration) -> Result<[UInt8], ClientError>

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

    package init(
        environment: [String: String],
        terminal: TerminalFacts,
        isErrorTerminal: Bool,
        isInputTerminal: Bool,
        now: Timestamp,
        elapsed: @escaping () -> Duration,
        exchange: @escaping (_ line: [UInt8], _ sockets: [String], Duration) -> Result<[UInt8], ClientError>,
        follow: @escaping (
            _ lines: [[UInt8]], _ sockets: [String], Duration, _ receive: ([UInt8]) -> FollowStep
        ) -> ClientError?,
        writeOutput: @escaping (_ bytes: [UInt8]) throws(WriteError) -> Void,
        writeError: @escaping (_ bytes: [UInt8]) -> Void,
        readInput: @escaping (_ limit: Int) -> [UInt8]?,
        readFile: @escaping (_ path: String, _ limit: Int) throws(ReadError) -> [UInt8]
    ) {
        self.environment = environment
        self.terminal = terminal
        self.isErrorTerminal = isErrorTerminal
        self.isInputTerminal = isInputTerminal
        self.now = now
        self.elapsed = elapsed
        self.exchange = exchange
        self.follow = follow
        self.writeOutput = writeOutput
        self.writeError = writeError
        self.readInput = readInput
        self.readFile = readFile
    }
}

extension System {
    /// The machine itself.
    package static func real() -> System {
        System(
            environment: environmentVariables(),
            terminal: TerminalFacts(descriptor: STDOUT_FILENO),
            isErrorTerminal: isatty(STDERR_FILENO) == 1,
            isInputTerminal: isatty(STDIN_FILENO) == 1,
            now: .now(),
            elapsed: monotonicTime,
            exchange: { line, sockets, timeout in
                Result { () throws(ClientError) in try Client(candidates: sockets, timeout: timeout).call(line) }
            },
            follow: { lines, sockets, timeout, receive in
                do throws(ClientError) {
                    try Client(candidates: sockets, timeout: timeout).follow(lines, receive: receive)
                    return nil
                } catch {
                    return error
                }
            },
            writeOutput: { bytes throws(WriteError) in try writeAll(bytes, to: STDOUT_FILENO) },
            // Where standard error cannot be written there is no one left to tell.
            writeError: { bytes in try? writeAll(bytes, to: STDERR_FILENO) },
            readInput: { limit in try? readAll(STDIN_FILENO, limit: limit) },
            readFile: NorrisCommands.readFile
        )
    }

    /// The variables that norrisctl looks at; reading all of them would take longer.
    private static func environmentVariables() -> [String: String] {
        var environment: [String: String] = [:]
        for name in ["CLICOLOR_FORCE", "COLUMNS", "NORRISD_SOCKET", "NO_COLOR", "TERM", "XDG_RUNTIME_DIR"] {
            if let value = getenv(name) {
                environment[name] = String(cString: value)
            }
        }
        return environment
    }

    private static func monotonicTime() -> Duration {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
