import CLinux
import NorrisProtocol
package import NorrisSystem

/// Calls the daemon: one line out, one line in.
package struct Client {
    /// The sockets to try. After the first connection only the socket of that daemon, because another daemon has other
    /// favorites.
    private var candidates: [String]
    /// The open connection of the last call.
    private var connection: Connection?

    package init(candidates: [String]) { self.candidates = candidates }

    /// Returns the reply to a request line, both without LF.
    ///
    /// A daemon that restarts closes the connection before the first byte of a reply, or answers `shutting_down`; then
    /// the line is sent once more on a new connection. The daemon may have performed the request before the connection
    /// ended, for example `fact.random`, whose facts then count as shown.
    ///
    /// - Parameter deadline: of connecting, sending, waiting, and the second attempt.
    package mutating func call(
        _ line: [UInt8], by deadline: Deadline, ticker: Ticker? = nil
    ) throws(ClientError) -> [UInt8] {
        do {
            let (reply, isLast) = try exchange(line, deadline, ticker)
            if !isLast { return reply }
        } catch .closed {
            // The second attempt reports any error.
        }
        connection = nil
        return try exchange(line, deadline, ticker).line
    }

    private mutating func exchange(
        _ line: [UInt8], _ deadline: Deadline, _ ticker: Ticker?
    ) throws(ClientError) -> Reply {
        let connection: Connection
        if let known = self.connection {
            (connection, self.connection) = (known, nil)
            connection.deadline = deadline
        } else {
            connection = try open(deadline, ticker)
        }
        try connection.send(line: line)
        let reply = try Self.reply(on: connection)
        self.connection = connection
        return reply
    }

    private mutating func open(_ deadline: Deadline, _ ticker: Ticker?) throws(ClientError) -> Connection {
        let connection = try Connection.open(candidates: candidates, deadline: deadline, ticker: ticker)
        if candidates.count > 1 { candidates = [connection.path] }
        return connection
    }

    /// Sends lines on up to four connections, because the daemon answers the lines of one connection in turn, and calls
    /// `receive` with the index of each line and its reply, in the order of the lines, until it returns false.
    ///
    /// As in ``call(_:by:ticker:)``, a daemon that restarts is tried once more. It may then perform each
    /// line without a reply twice.
    package mutating func spread(
        _ lines: [[UInt8]], by deadline: Deadline, ticker: Ticker? = nil, receive: (Int, [UInt8]) -> Bool
    ) throws(ClientError) {
        var (answered, interruption) = (0, -1)
        while true {
            do {
                return try spread(lines, from: &answered, deadline, ticker, receive)
            } catch .closed where answered > interruption {
                interruption = answered
            }
        }
    }

    /// - Parameter answered: the number of lines with a reply.
    private mutating func spread(
        _ lines: [[UInt8]], from answered: inout Int, _ deadline: Deadline, _ ticker: Ticker?,
        _ receive: (Int, [UInt8]) -> Bool
    ) throws(ClientError) {
        var connections: [Connection] = []
        for _ in 0..<min(lines.count - answered, 4) { connections.append(try open(deadline, ticker)) }
        // At most eight lines of a connection are unanswered, so that no sending waits for the daemon.
        let window = 8 * connections.count
        for index in answered..<(lines.count + window) {
            if index - window >= answered {
                let connection = connections[answered % connections.count]
                let (reply, isLast) = try Self.reply(on: connection)
                if isLast { throw .closed(path: connection.path) }
                guard receive(answered, reply) else { return }
                answered += 1
            }
            if index < lines.count { try connections[index % connections.count].send(line: lines[index]) }
        }
    }

    /// A line, and whether it says that the daemon is shutting down.
    private typealias Reply = (line: [UInt8], isLast: Bool)

    /// Receives the next line that is not an event. An event has no id, and may arrive between replies.
    private static func reply(on connection: Connection) throws(ClientError) -> Reply {
        while true {
            let line = try connection.receiveLine()
            let meaning = meaning(of: line)
            if meaning != .event { return (line, meaning == .shuttingDown) }
        }
    }

    /// The kind of a received line.
    private enum Meaning { case reply, shuttingDown, event }

    private static func meaning(of line: [UInt8]) -> Meaning {
        line[...].withRawBytes { bytes in
            // Nearly all replies contain neither, and a shell prompt must be fast.
            guard let start = bytes.baseAddress,
                memmem(start, min(bytes.count, 4_096), "-32006", 6) != nil
                    || memmem(start, bytes.count, "\"method\"", 8) != nil,
                let message = try? JSONValue(parsing: bytes)
            else { return .reply }
            if message.member("method") != nil { return message.member("id") == nil ? .event : .reply }
            let code = message.member("error")?.member("code")?.integer
            return code == ErrorCode.shuttingDown.rawValue ? .shuttingDown : .reply
        }
    }
}

extension Client {
    /// Sends lines on one connection and calls `receive` with every received line, without LF, until it stops.
    ///
    /// The deadline applies until the first received line; later the time of each step applies. As in
    /// ``call(_:by:ticker:)``, a daemon that restarts is tried once more.
    ///
    /// - Parameter output: the descriptor to which the caller writes the lines. A pipe that has lost its reader ends
    ///   the waiting, as `receive` does.
    /// - Throws: also when the connection ends, even after received lines.
    package mutating func follow(
        _ lines: [[UInt8]], by deadline: Deadline, ticker: Ticker? = nil, output: CInt = -1,
        receive: ([UInt8]) -> FollowStep
    ) throws(ClientError) {
        var connection = try begin(lines, deadline, ticker, output)
        var line: [UInt8]?
        do {
            let first = try connection.receiveLine()
            if Self.meaning(of: first) != .shuttingDown { line = first }
        } catch .closed {
            // The second attempt reports any error.
        }
        if line == nil { connection = try begin(lines, deadline, ticker, output) }
        while true {
            // Not `??`, whose operand cannot throw this type of error.
            let next: [UInt8]
            do { if let line { next = line } else { next = try connection.receiveLine() } } catch {
                if connection.hasLostReader { return }
                throw error
            }
            line = nil
            switch receive(next) {
            case .stop: return
            case .goOn(let time): connection.deadline = time.map { Deadline(after: $0) } ?? .never
            case .send(let line): try connection.send(line: line)
            }
        }
    }

    private mutating func begin(
        _ lines: [[UInt8]], _ deadline: Deadline, _ ticker: Ticker?, _ output: CInt
    ) throws(ClientError) -> Connection {
        let connection = try open(deadline, ticker)
        connection.output = output
        for line in lines { try connection.send(line: line) }
        return connection
    }
}

/// The next step after a received line.
package enum FollowStep: Equatable, Sendable {
    /// Wait for the next line, at most for this time; nil for no limit.
    case goOn(within: Duration?)
    /// Send another line, and wait as before.
    case send([UInt8])
    case stop
}
