import NorrisClient
import NorrisCommands
import NorrisProtocol
import NorrisTerminal
import Testing

/// Swift Testing has a type of that name too.
typealias ExitStatus = NorrisCommands.ExitStatus

/// A machine made up for a test: what the daemon answers, one reply a call, and everything else a command may ask.
final class Machine {
    var environment: [String: String] = [:]
    var terminal = TerminalFacts(isTerminal: false)
    var input: [UInt8]? = []

    /// How long each call takes.
    var delay: Duration = .zero
    private var elapsed: Duration = .zero

    private var replies: [Result<[UInt8], ClientError>]
    private(set) var requests: [JSON] = []
    private(set) var sockets: [[String]] = []
    private(set) var timeouts: [Duration] = []

    static let now = Timestamp("2026-11-21T12:00:00Z")!

    init(_ replies: [Result<[UInt8], ClientError>] = []) {
        self.replies = replies
    }

    /// A daemon that answers with these results.
    convenience init(results: String...) {
        self.init(results.map { .success(Array(#"{"jsonrpc":"2.0","id":1,"result":\#($0)}"#.utf8)) })
    }

    /// A daemon that answers with an error.
    convenience init(error: ResponseError) {
        self.init([.success(Array(Response(id: .integer(1), outcome: .failure(error)).jsonText.utf8))])
    }

    convenience init(failure: ClientError) {
        self.init([.failure(failure)])
    }

    /// Makes standard output a terminal without colours.
    func onTerminal(columns: Int = 80) -> Machine {
        terminal = TerminalFacts(isTerminal: true, columns: columns)
        environment["NO_COLOR"] = "1"
        return self
    }

    func run(_ arguments: String...) -> Outcome {
        run(arguments)
    }

    func run(_ arguments: [String]) -> Outcome {
        let system = System(
            environment: environment,
            terminal: terminal,
            now: Self.now,
            elapsed: { self.elapsed },
            exchange: { line, sockets, timeout in
                self.elapsed += self.delay
                self.sockets.append(sockets)
                self.timeouts.append(timeout)
                do {
                    self.requests.append(try JSON.parse(line))
                } catch {
                    Issue.record("The request is no JSON: \(String(decoding: line, as: UTF8.self))")
                }
                guard !self.replies.isEmpty else {
                    Issue.record("There is no reply left for \(String(decoding: line, as: UTF8.self))")
                    return .failure(.closed(path: "/nowhere"))
                }
                return self.replies.removeFirst()
            },
            readInput: { limit in self.input.map { Array($0.prefix(limit + 1)) } }
        )
        return Outcome(Program.report(arguments: arguments, system: system))
    }

    /// The parameters of the calls, as text.
    var parameters: [String] {
        requests.map { request in
            guard case .object(let object) = request else { return "" }
            return object["params"]?.jsonText ?? ""
        }
    }

    var methods: [String] {
        requests.map { request in
            guard case .object(let object) = request, case .string(let method)? = object["method"] else { return "" }
            return method
        }
    }
}

/// What a run leaves behind, as text.
struct Outcome: Equatable {
    var output: String
    var errors: String
    var status: ExitStatus

    init(output: String = "", errors: String = "", status: ExitStatus = .done) {
        self.output = output
        self.errors = errors
        self.status = status
    }

    init(_ report: Report) {
        output = String(decoding: report.output, as: UTF8.self)
        errors = report.notes.map { $0 + "\n" }.joined()
        status = report.status
    }
}
