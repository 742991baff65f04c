/// What to do after a line that has come.
package enum FollowStep: Equatable, Sendable {
    /// Wait for the next one, so long from now; nil for however long it takes.
    case goOn(within: Duration?)
    case stop
}

extension Client {
    /// Sends lines on one connection and hands over every line that comes, without its end, until told to stop.
    ///
    /// The client's time-out bounds everything up to the first line that comes; from there on it is as each step says.
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
            // The second attempt tells what is wrong, if something is.
        }
        if line == nil {
            connection = try begin(lines, deadline, ticker)
        }
        while true {
            // Not by `??`, whose operand cannot throw an error of this type.
            let next: [UInt8]
            if let line { next = line } else { next = try connection.receiveLine() }
            line = nil
            guard case .goOn(let time) = receive(next) else { return }
            connection.deadline = time.map { Deadline(after: $0) } ?? .never
        }
    }

    private func begin(
        _ lines: [[UInt8]], _ deadline: Deadline, _ ticker: Ticker?
    ) throws(ClientError) -> Connection {
        var connection = try Connection.open(candidates: candidates, deadline: deadline, ticker: ticker)
        for line in lines {
            try connection.send(line: line)
        }
        return connection
    }
}
