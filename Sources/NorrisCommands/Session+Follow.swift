import NorrisClient
import NorrisProtocol
import NorrisTerminal
import NorrisText

/// A line of a connection that has subscribed to events.
enum Incoming {
    case result(JSON, id: Int64)
    /// The parameters as they came, and what was read from them.
    case event(JSON, Event)
    /// What a newer daemon may send, to be passed over.
    case unknown
}

extension Session {
    /// Sends requests on one connection, numbered from 1, and hands over what comes until told to stop.
    ///
    /// - Returns: why it ended by itself after the daemon had begun to answer; nil where it was told to stop.
    /// - Throws: where it did not come to that, an error of the daemon, and what `receive` throws.
    func follow(
        _ requests: [(method: String, parameters: any JSONEncodable)],
        receive: (Incoming) throws(Failure) -> FollowStep
    ) throws(Failure) -> ClientError? {
        let lines = requests.enumerated().map { index, request in
            Self.line(request.method, request.parameters, number: index + 1)
        }
        var failure: Failure?
        var hasBegun = false
        system.waiting.show("waiting for norrisd")
        let error = system.follow(lines, sockets, timeLeft) { line in
            hasBegun = true
            system.waiting.erase()
            do throws(Failure) {
                return try receive(try read(line, methods: requests.map(\.method)))
            } catch {
                failure = error
                return .stop
            }
        }
        if let failure {
            throw failure
        }
        if let error, !hasBegun {
            throw self.failure(.connection(error))
        }
        return error
    }

    private static func line(
        _ method: String, _ parameters: some JSONEncodable, number: Int
    ) -> [UInt8] {
        line(method, parameters, id: Int64(number))
    }

    private func read(_ line: [UInt8], methods: [String]) throws(Failure) -> Incoming {
        let message: JSON
        do {
            message = try JSON.parse(line)
        } catch {
            throw .unreadable("\(error)")
        }
        if case .object(let object) = message, object["method"] != nil {
            guard let params = Event.params(of: message), let event = try? Event(json: params) else { return .unknown }
            return .event(params, event)
        }
        do {
            let response = try Response(json: message)
            var position: Int64 = 1
            if case .integer(let id) = response.id, 1...Int64(methods.count) ~= id { position = id }
            switch response.outcome {
            case .success(let result): return .result(result, id: position)
            case .failure(let error): throw Failure(error, method: methods[Int(position) - 1])
            }
        } catch let failure as Failure {
            throw failure
        } catch {
            throw .unreadable("\(error)")
        }
    }

    /// A connection that ended in the middle of things.
    func lost(_ error: ClientError) -> Failure {
        guard case .closed(let path) = error else { return failure(.connection(error)) }
        return Failure(
            .unavailable, "The connection to norrisd at \(path) was lost.", hint: DaemonCommands(socket: path).log
        )
    }

    /// Writes a line to standard error at once, for commands that go on.
    func tell(_ text: String) {
        system.writeError(Array((sanitizedLine(text) + "\n").utf8))
    }

    /// Writes to standard output at once, for commands that go on.
    ///
    /// - Returns: false where nobody reads any more.
    func write(_ bytes: [UInt8]) throws(Failure) -> Bool {
        do {
            try system.writeOutput(bytes)
            return true
        } catch {
            guard let message = error.message else { return false }
            throw Failure(.inputOutput, message)
        }
    }
}
