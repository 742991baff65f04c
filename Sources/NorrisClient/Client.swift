import NorrisProtocol

/// Calls the daemon: one line out, one line in, on a connection of its own.
package struct Client: Sendable {
    let candidates: [String]
    let timeout: Duration

    /// `timeout` bounds each whole call: connecting, sending, waiting, and the second attempt.
    package init(candidates: [String], timeout: Duration) {
        self.candidates = candidates
        self.timeout = timeout
    }

    /// The reply to a request line, both without their ends.
    ///
    /// A daemon that is being restarted closes the connection before the first byte of a reply or answers
    /// `shutting_down`; the line is then sent once more on a new connection. A clean stop answers every line it has
    /// taken, so nothing is done twice; after a crash that is possible.
    ///
    /// - Parameter maximumReply: in bytes. A longer reply is refused as soon as one byte more has come.
    package func call(
        _ line: [UInt8], maximumReply: Int = Connection.maximumReply, ticker: Ticker? = nil
    ) throws(ClientError) -> [UInt8] {
        let deadline = Deadline(after: timeout)
        do {
            let reply = try exchange(line, maximumReply, deadline, ticker)
            if !Self.saysShuttingDown(reply) { return reply }
        } catch .closed {
            // The second attempt reports what is wrong, if something is.
        }
        return try exchange(line, maximumReply, deadline, ticker)
    }

    private func exchange(
        _ line: [UInt8], _ maximumReply: Int, _ deadline: Deadline, _ ticker: Ticker?
    ) throws(ClientError) -> [UInt8] {
        // No list of lines: its metadata would cost a prompt an eighth of its instructions.
        var connection = try Connection.open(candidates: candidates, deadline: deadline, ticker: ticker)
        connection.maximumReply = maximumReply
        try connection.send(line: line)
        return try connection.receiveLine()
    }

    /// Whether the reply is an error of code -32006. A reply too long for an error is not parsed.
    static func saysShuttingDown(_ reply: [UInt8]) -> Bool {
        guard reply.count <= Connection.maximumError, Response.isError(reply),
            let object = try? JSON.parse(reply).objectValue(), case .object(let error) = object["error"]
        else { return false }
        return error["code"] == -32006
    }
}

extension Client {
    /// Sends lines on one connection and hands over every line that comes, without its end, until told to stop.
    ///
    /// The client's timeout bounds everything up to the first line that comes; from there on it is as each step says.
    /// As in ``call(_:ticker:)``, a daemon that is being restarted is tried once more.
    ///
    /// - Throws: also when the connection ends, however much has come before.
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
            // The second attempt reports what is wrong, if something is.
        }
        if line == nil { connection = try begin(lines, deadline, ticker) }
        while true {
            // Not by `??`, whose operand cannot throw an error of this type.
            let next: [UInt8]
            if let line { next = line } else { next = try connection.receiveLine() }
            line = nil
            guard case .goOn(let time) = receive(next) else { return }
            connection.deadline = time.map { Deadline(after: $0) } ?? .never
        }
    }

    private func begin(_ lines: [[UInt8]], _ deadline: Deadline, _ ticker: Ticker?) throws(ClientError) -> Connection {
        var connection = try Connection.open(candidates: candidates, deadline: deadline, ticker: ticker)
        for line in lines { try connection.send(line: line) }
        return connection
    }
}

/// What to do after a line that has come.
package enum FollowStep: Equatable, Sendable {
    /// Wait for the next one, so long from now; nil for however long it takes.
    case goOn(within: Duration?)
    case stop
}
