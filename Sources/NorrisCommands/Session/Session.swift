import NorrisArguments
import NorrisClient
import NorrisProtocol
import NorrisSystem
import NorrisTerminal
import NorrisText

/// A run of a command: the user's settings, the machine and the remaining time.
struct Session {
    private(set) var settings: Settings
    let system: System
    private let start: Duration

    init(settings: Settings, system: System) {
        self.settings = settings
        self.system = system
        start = system.clock.time
    }

    /// Returns a session with changed settings. Its time limit counts from the same start.
    func with(_ change: (inout Settings) -> Void) -> Session {
        var session = self
        change(&session.settings)
        return session
    }

    /// Returns the session with another default of the time limit.
    func with(defaultTimeout timeout: Timeout) -> Session { with { $0.timeout = $0.timeout ?? timeout } }

    var timeout: Timeout { settings.timeout ?? .standard }

    /// The remaining time of the whole command; zero or less after the timeout.
    var timeLeft: Duration { timeout.duration - (system.clock.time - start) }

    /// The sockets to try, in order.
    var sockets: [String] {
        SocketPath.connectCandidates(
            flag: settings.socket, environment: system.environment, userFolders: system.file("/run/user"))
    }

    var layout: Layout {
        let isTerminal = system.terminal.isTerminal && !settings.plain && settings.format == nil
        let width = isTerminal ? system.terminal.width(flag: settings.width, environment: system.environment) : nil
        let color = settings.color ?? .auto
        let usesEscapes = color.allowsEscapes(environment: system.environment, isTerminal: isTerminal)
        return Layout(width: width, usesEscapes: usesEscapes)
    }

    /// A sentence as it is shown to the user of this session.
    func text(_ advice: Advice) -> String { advice.text(socket: settings.socket) }

    /// Writes a line to standard error immediately, for commands that continue.
    func writeError(_ text: String) {
        system.writeError(Array(errorLines(sanitizedLine(text), columns: system.errorColumns).utf8))
    }

    /// Whether norrisctl can ask the user.
    var canAsk: Bool { system.isInputTerminal && system.isErrorTerminal }

    /// Asks a question until the answer is yes or no. An empty line means `standard`, the end of the input no.
    func asks(_ question: String, standard: Bool) -> Bool {
        while true {
            writeError("\(question) \(standard ? "[Y/n]" : "[y/N]")")
            switch system.readAnswer()?.lowercased() {
            case "y", "yes": return true
            case "n", "no", nil: return false
            case "": return standard
            default: continue
            }
        }
    }

    /// Asks for a number from 1 on. An empty line means 1; no, the end of the input, and a third other answer mean nil.
    func choice(_ question: String, of count: Int) -> Int? {
        for _ in 0..<3 {
            writeError("\(question) 1 to \(count), or n for none [1]")
            switch system.readAnswer()?.lowercased() {
            case "": return 1
            case "n", "no", nil: return nil
            case let answer?: if let number = wholeNumber(answer), 1...count ~= number { return number }
            }
        }
        return nil
    }

    /// Writes to standard output immediately, for commands that continue. Returns whether there still is a reader.
    func write(_ bytes: [UInt8]) throws(Failure) -> Bool {
        do throws(SystemError) {
            try system.writeOutput(bytes)
            return true
        } catch {
            if error.isClosedPipe { return false }
            throw Failure(.inputOutput, unwritable(error))
        }
    }
}

/// The message for output that cannot be written.
func unwritable(_ error: SystemError) -> String { "Standard output cannot be written: \(error.reason)." }

// MARK: Calls

/// The daemon's result of a call, as JSON and decoded.
struct Reply<Value> {
    let json: EncodedJSON
    let value: Value
}

extension Session {
    /// Calls a method and decodes its result. If the requested item does not exist, `hint` replaces the daemon's hint;
    /// if a category does not exist, the names of similar categories replace it.
    func call<M: Method>(
        _ method: M.Type, _ parameters: M.Parameters? = nil, notFound hint: @autoclosure () -> Advice? = nil
    ) throws(Failure) -> Reply<M.Result> {
        system.waiting.show(waitingText(M.name))
        do throws(Failure) { return try read(try send(Self.line(M.name, parameters), to: sockets), of: method) } catch {
            throw error.notFound(hint() ?? error.response?.detail("category").flatMap(categoryHint))
        }
    }

    /// Refuses an unknown field of `--format` before a call that changes something.
    func checkFormat<M: Method>(for method: M.Type) throws(Failure) { try settings.format?.check(M.Result.schema) }

    /// Returns the waiting message. The daemon may have to fetch GIFs and search results.
    private func waitingText(_ method: String) -> String {
        switch method {
        case GifSearch.name, GifTrending.name, GifRandom.name: "asking Giphy"
        case FactSearch.name: "searching"
        case SourceAdd.name, SourceEdit.name: "fetching the feed"
        default: "waiting for norrisd"
        }
    }

    func read<M: Method>(_ outcome: Response.Outcome, of method: M.Type) throws(Failure) -> Reply<M.Result> {
        switch outcome {
        case .failure(let error): throw Failure(error, method: M.name)
        case .success(let json):
            do {
                return Reply(json: json, value: try json.decoded())
            } catch {
                throw .unreadable("\(error)")
            }
        }
    }

    /// Calls a method many times, several at once, and passes each outcome with the index of its parameters.
    func spread<M: Method>(
        _ method: M.Type, _ parameters: [M.Parameters],
        receive: (Int, Response.Outcome) throws(Failure) -> Void
    ) throws(Failure) {
        let lines = parameters.map { Self.line(M.name, $0) }
        var failure: Failure?
        do throws(ClientError) {
            try system.sockets.spread(lines, with: sockets, within: timeLeft, system.waiting) { index, line in
                do throws(Failure) {
                    try receive(index, try outcome(of: line))
                    return true
                } catch {
                    failure = error
                    return false
                }
            }
        } catch {
            throw self.failure(error)
        }
        if let failure { throw failure }
    }

    /// Sends a line to the first socket that accepts, and reads the envelope of the reply.
    func send(_ line: [UInt8], to sockets: [String]) throws(Failure) -> Response.Outcome {
        let reply: [UInt8]
        do {
            reply = try exchange(line, sockets)
        } catch {
            throw failure(error)
        }
        return try outcome(of: reply)
    }

    /// Returns the line of the reply.
    func exchange(_ line: [UInt8], _ sockets: [String]) throws(ClientError) -> [UInt8] {
        try system.sockets.exchange(line, with: sockets, within: timeLeft, system.waiting)
    }

    private func outcome(of reply: [UInt8]) throws(Failure) -> Response.Outcome {
        let response: Response
        do {
            response = try Response(parsing: reply)
        } catch {
            throw .unreadable("\(error)")
        }
        guard response.answers(1) else { throw .otherReply }
        return response.outcome
    }

    /// Returns the request line of a call, without the final LF.
    static func line(_ method: String, _ parameters: (some JSONEncodable)?, id: Int64 = 1) -> [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.member("jsonrpc", "2.0")
        json.member("id", RequestID.integer(id))
        json.member("method", method)
        json.member("params", parameters)
        json.endObject()
        return json.bytes
    }

    func failure(_ error: ClientError) -> Failure {
        let isInEnvironment = system.environment.value(of: "NORRISD_SOCKET") != nil
        let remedy = settings.socket != nil ? "leave out --socket" : isInEnvironment ? "unset NORRISD_SOCKET" : nil
        return Failure(error, remedy: remedy, timeout: timeout, system: system)
    }
}

// MARK: Events

/// A line from a connection that has subscribed to events.
enum Incoming {
    case result(EncodedJSON, id: Int64)
    /// The parameters as JSON, and the decoded event.
    case event(EncodedJSON, Event)
    /// A message of a newer daemon, which norrisctl ignores.
    case unknown
}

extension Session {
    /// Sends requests with ids from 1 on one connection, and passes each received line to `receive` until it stops.
    ///
    /// - Returns: The error that ended the connection after the first reply, or nil if `receive` stopped.
    /// - Throws: The error that prevented a reply, an error of the daemon, or an error of `receive`.
    func follow(
        _ requests: (method: String, parameters: any JSONEncodable)...,
        receive: (Incoming) throws(Failure) -> FollowStep
    ) throws(Failure) -> ClientError? {
        func line(_ method: String, _ parameters: some JSONEncodable, _ index: Int) -> [UInt8] {
            Self.line(method, parameters, id: Int64(index) + 1)
        }
        let lines = requests.enumerated().map { line($1.method, $1.parameters, $0) }
        var failure: Failure?
        var hasBegun = false
        system.waiting.show("waiting for norrisd")
        var end: ClientError?
        do throws(ClientError) {
            try system.sockets.follow(
                lines, with: sockets, within: timeLeft, system.waiting, output: system.output
            ) { line in
                hasBegun = true
                system.waiting.erase()
                do throws(Failure) { return try receive(try incoming(line, methods: requests.map(\.method))) } catch {
                    failure = error
                    return .stop
                }
            }
        } catch {
            if !hasBegun { throw self.failure(error) }
            end = error
        }
        if let failure { throw failure }
        return end
    }

    private func incoming(_ line: [UInt8], methods: [String]) throws(Failure) -> Incoming {
        var response: Response?
        do {
            let notification = try line[...].withRawBytes { bytes -> Incoming? in
                let message = try JSONValue(parsing: bytes)
                guard message.member("method") != nil else {
                    response = try Response(json: message)
                    return nil
                }
                guard let params = Event.params(of: message), let event = try? Event(json: params) else {
                    return .unknown
                }
                return .event(EncodedJSON(params), event)
            }
            if let notification { return notification }
        } catch {
            throw .unreadable("\(error)")
        }
        guard let response, let position = (1...Int64(methods.count)).first(where: response.answers) else {
            throw .otherReply
        }
        switch response.outcome {
        case .success(let result): return .result(result, id: position)
        case .failure(let error): throw Failure(error, method: methods[Int(position) - 1])
        }
    }

    /// The failure of a connection that ended after the first reply.
    func lost(_ error: ClientError) -> Failure {
        guard case .closed(let path) = error else { return failure(error) }
        let message = "The connection to norrisd at \(path) was lost."
        return Failure(.unavailable, message, hint: DaemonCommands(socket: path).log)
    }
}
