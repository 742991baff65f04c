import NorrisClient
import NorrisProtocol
import NorrisTerminal

/// One run of a command: what the user chose, the machine, and the time that is left.
struct Session {
    let settings: Settings
    let system: System
    private let start: Duration

    init(settings: Settings, system: System) {
        self.settings = settings
        self.system = system
        start = system.elapsed()
    }

    /// The sockets to try, in order.
    var sockets: [String] {
        SocketPath.connectCandidates(flag: settings.socket, environment: system.environment)
    }

    var layout: Layout {
        let isTerminal = system.terminal.isTerminal && !settings.plain
        return Layout(
            width: isTerminal
                ? system.terminal.width(flag: settings.width, environment: system.environment) : nil,
            usesEscapes: settings.color.allowsEscapes(environment: system.environment, isTerminal: isTerminal)
        )
    }

    /// What is left of the time for the whole command; zero or less when it is over.
    var timeLeft: Duration { settings.timeout.duration - (system.elapsed() - start) }
}

/// What the daemon answered: the result as it came, and what was read from it.
struct Reply<Value> {
    let json: JSON
    let value: Value
}

extension Session {
    /// Calls a method and reads its result.
    func call<M: Method>(_ method: M.Type, _ parameters: M.Parameters? = nil) throws(Failure) -> Reply<M.Result> {
        try read(try send(M.name, parameters), of: method)
    }

    /// Reads the outcome of a call.
    func read<M: Method>(_ outcome: Response.Outcome, of method: M.Type) throws(Failure) -> Reply<M.Result> {
        switch outcome {
        case .failure(let error):
            throw Failure(error, method: M.name)
        case .success(let json):
            do {
                return Reply(json: json, value: try M.Result(json: json))
            } catch {
                throw .unreadable("\(error)")
            }
        }
    }

    /// Sends one request to the first socket that accepts.
    func send(
        _ method: String,
        _ parameters: (some JSONEncodable)? = JSON?.none
    ) throws(Failure) -> Response.Outcome {
        system.waiting.show(waitingText(method))
        do {
            return try send(Self.line(method, parameters), to: sockets)
        } catch {
            throw failure(error)
        }
    }

    /// What is waited for: GIFs and searches the daemon may have to ask for itself.
    private func waitingText(_ method: String) -> String {
        switch method {
        case GifSearch.name, GifTrending.name, GifRandom.name: "asking Giphy"
        case FactSearch.name: "searching"
        default: "waiting for norrisd"
        }
    }

    /// Sends a line to one of the sockets and reads the reply's envelope.
    func send(
        _ line: [UInt8], to sockets: [String], maximumReply: Int = Connection.maximumReply
    ) throws(SendError) -> Response.Outcome {
        let reply: [UInt8]
        do {
            reply = try system.exchange(line, sockets, maximumReply, timeLeft)
        } catch {
            throw .connection(error)
        }
        do {
            return try Response(json: JSON.parse(reply)).outcome
        } catch {
            throw .reply("\(error)")
        }
    }

    /// The request line of a call, without its end.
    static func line(_ method: String, _ parameters: (some JSONEncodable)?, id: Int64 = 1) -> [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.key("jsonrpc")
        json.string("2.0")
        json.key("id")
        json.integer(id)
        json.key("method")
        json.string(method)
        json.member("params", parameters)
        json.endObject()
        return json.bytes
    }

    func failure(_ error: SendError) -> Failure {
        switch error {
        case .connection(let error):
            let choice = SocketChoice(flag: settings.socket, environment: system.environment)
            return Failure(error, choice: choice, timeout: settings.timeout)
        case .reply(let detail):
            return .unreadable(detail)
        }
    }
}

/// Why a request brought no outcome.
enum SendError: Error {
    case connection(ClientError)
    /// The reply is no response; the text says why.
    case reply(String)
}
