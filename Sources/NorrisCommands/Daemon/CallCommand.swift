import NorrisArguments
import NorrisProtocol
import NorrisTerminal

struct CallCommand: SessionCommand {
    static let name = "call"
    static let help = CommandHelp(
        "Send one request of the protocol.",
        """
        Prints the result as one line of JSON, or the error on standard error. PROTOCOL.md describes the
        methods; man norrisd-protocol says where it is installed.

        Examples:
          norrisctl call server.info
          norrisctl call fact.random '{"category":"dev","count":2}'
          echo '{"query":"code"}' | norrisctl call fact.search -
          norrisctl call rpc.discover
        """)

    private var method = ""
    private var parameters: String?

    mutating func declare(_ arguments: inout CommandArguments) {
        arguments.positional(&method, .method, "The method, such as fact.random. rpc.discover lists them.")
        arguments.positional(
            .json, "The parameters as a JSON object, or - for standard input.", isOptional: true
        ) { assign(&parameters, $0) }
    }

    func run(in session: Session) throws(Failure) -> Report {
        let line = Session.line(method, try readParameters(session))
        do {
            // The request nests the parameters one level deeper, so valid parameters may exceed the depth limit here.
            _ = try JSON.parse(line)
        } catch {
            throw Failure(.usage, "The parameters nest more than \(JSON.maximumDepth - 1) levels deep.")
        }
        session.system.waiting.show("waiting for norrisd")
        switch try session.send(line, to: session.sockets) {
        case .success(let result):
            guard session.settings.format != nil else { return Report(json: result) }
            return session.report(result, schema: MethodTable.methods.first { $0.name == method }?.result ?? .any)
        case .failure(let error): return Report(Failure(ExitStatus(error), error.message, response: error), json: true)
        }
    }

    private func readParameters(_ session: Session) throws(Failure) -> JSON? {
        guard let parameters else { return nil }
        let bytes = parameters == "-" ? try session.readInput(LineSplitter.maximumRequest) : Array(parameters.utf8)
        if bytes.count > LineSplitter.maximumRequest {
            throw Failure(.usage, "The parameters are longer than \(LineSplitter.maximumRequest) bytes.")
        }
        do {
            return try JSON.parse(bytes)
        } catch {
            throw Failure(.usage, "\(error)", hint: "See 'norrisctl call --help'.")
        }
    }
}
