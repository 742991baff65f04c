import CLinux
import NorrisProtocol

/// Calls the daemon: one line out, one line in.
package struct Client: Sendable {
    let candidates: [String]
    let timeout: Duration

    /// - Parameter timeout: limits each whole call: connecting, sending, waiting, and the second attempt.
    package init(candidates: [String], timeout: Duration) {
        self.candidates = candidates
        self.timeout = timeout
    }

    /// Returns the reply to a request line, both without LF.
    ///
    /// A daemon that restarts closes the connection before the first byte of a reply, or answers `shutting_down`; then
    /// the line is sent once more on a new connection. The daemon may have performed the request before the connection
    /// ended, for example `fact.random`, whose facts then count as shown.
    ///
    /// - Parameters:
    ///   - maximumReply: in bytes. A longer reply is refused as soon as one byte more has arrived.
    ///   - open: the connection of an earlier call, if any; afterwards the connection of this call.
    package func call(
        _ line: [UInt8], maximumReply: Int = Connection.maximumReply, ticker: Ticker? = nil,
        reusing open: inout Connection?
    ) throws(ClientError) -> [UInt8] {
        let deadline = Deadline(after: timeout)
        do {
            let reply = try exchange(line, maximumReply, deadline, ticker, &open)
            if !Self.saysShuttingDown(reply) { return reply }
        } catch .closed {
            // The second attempt reports any error.
        }
        open = nil
        return try exchange(line, maximumReply, deadline, ticker, &open)
    }

    private func exchange(
        _ line: [UInt8], _ maximumReply: Int, _ deadline: Deadline, _ ticker: Ticker?, _ open: inout Connection?
    ) throws(ClientError) -> [UInt8] {
        // Not an array of lines, because its metadata would cost a prompt an eighth of its instructions.
        let connection: Connection
        if let known = open {
            (connection, open) = (known, nil)
            connection.deadline = deadline
        } else {
            connection = try Connection.open(candidates: candidates, deadline: deadline, ticker: ticker)
        }
        connection.maximumReply = maximumReply
        try connection.send(line: line)
        let reply = try connection.receiveLine()
        open = connection
        return reply
    }

    /// Sends lines on up to four connections, because the daemon answers the lines of one connection in turn, and calls
    /// `receive` with the index of each line and its reply, in the order of the lines, until it returns false.
    package func spread(
        _ lines: [[UInt8]], ticker: Ticker? = nil, receive: (Int, [UInt8]) -> Bool
    ) throws(ClientError) {
        let deadline = Deadline(after: timeout)
        var connections: [Connection] = []
        for _ in 0..<min(lines.count, 4) {
            connections.append(try Connection.open(candidates: candidates, deadline: deadline, ticker: ticker))
        }
        // At most eight lines of a connection are unanswered, so that no sending waits for the daemon.
        let window = 8 * connections.count
        for index in 0..<(lines.count + window) {
            let answered = index - window
            if answered >= 0 {
                guard receive(answered, try connections[answered % connections.count].receiveLine()) else { return }
            }
            if index < lines.count { try connections[index % connections.count].send(line: lines[index]) }
        }
    }

    /// Whether the reply is an error with the code -32006.
    static func saysShuttingDown(_ reply: [UInt8]) -> Bool {
        guard reply.count <= 4_096 else { return false }
        return reply[...].withRawBytes { bytes in
            // Nearly all replies have no such number, and a shell prompt must be fast.
            guard let start = bytes.baseAddress, memmem(start, bytes.count, "-32006", 6) != nil else { return false }
            let code = (try? JSONValue(parsing: bytes))?.member("error")?.member("code")?.integer
            return code == ErrorCode.shuttingDown.rawValue
        }
    }
}

extension Client {
    /// Sends lines on one connection and calls `receive` with every received line, without LF, until it stops.
    ///
    /// The client's timeout applies until the first received line; later the timeout of each step applies. As in
    /// ``call(_:maximumReply:ticker:)``, a daemon that restarts is tried once more.
    ///
    /// - Throws: also when the connection ends, even after received lines.
    package func follow(
        _ lines: [[UInt8]], ticker: Ticker? = nil, receive: ([UInt8]) -> FollowStep
    ) throws(ClientError) {
        let deadline = Deadline(after: timeout)
        var connection = try begin(lines, deadline, ticker)
        var line: [UInt8]?
        do {
            let first = try connection.receiveLine()
            if !Self.saysShuttingDown(first) { line = first }
        } catch .closed {
            // The second attempt reports any error.
        }
        if line == nil { connection = try begin(lines, deadline, ticker) }
        while true {
            // Not `??`, whose operand cannot throw this type of error.
            let next: [UInt8]
            if let line { next = line } else { next = try connection.receiveLine() }
            line = nil
            guard case .goOn(let time) = receive(next) else { return }
            connection.deadline = time.map { Deadline(after: $0) } ?? .never
        }
    }

    private func begin(_ lines: [[UInt8]], _ deadline: Deadline, _ ticker: Ticker?) throws(ClientError) -> Connection {
        let connection = try Connection.open(candidates: candidates, deadline: deadline, ticker: ticker)
        for line in lines { try connection.send(line: line) }
        return connection
    }
}

/// The next step after a received line.
package enum FollowStep: Equatable, Sendable {
    /// Wait for the next line, at most for this time; nil for no limit.
    case goOn(within: Duration?)
    case stop
}
