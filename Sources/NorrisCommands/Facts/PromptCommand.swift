import NorrisArguments
import NorrisProtocol
import NorrisText

struct PromptCommand: SessionCommand {
    static let name = "prompt"
    static let help = CommandHelp(
        "Print one short fact on one line, or nothing.",
        """
        For prompts and status lines that run a program, such as starship and tmux. Gives up after 50ms (see
        --timeout), prints nothing if norrisd is not running, and always exits with 0. Facts are never changed:
        facts that contain ` $ \\ % or !, flags or joined emoji are skipped, and so are texts of several lines
        and drawings. Shells need no program: see norrisctl init --help.

        Examples:
          norrisctl prompt
          norrisctl prompt --max-length 60 --timeout 20ms
        """)

    private var maxLength: Int?

    mutating func declare(_ arguments: inout CommandArguments) {
        arguments.option(
            &maxLength, "max-length", in: 1...Fact.maximumLength,
            "Only facts of at most this many characters. (default: 80)")
    }

    /// The maximum number of requests, each for one fact, until a fact is suitable. More than one fact a request would
    /// use up facts that are not shown.
    private static let attempts = 8

    /// Reports one line or nothing. A prompt has no room for errors and waiting messages.
    func run(in session: Session) -> Report {
        let maxLength = maxLength ?? 80
        var report = Report()
        report.isForPrompt = true
        let session = session.with(defaultTimeout: .prompt)
        let request = Self.request(maxLength: maxLength)
        for _ in 0..<Self.attempts {
            guard let reply = try? session.exchange(request, session.sockets) else { break }
            if session.settings.json {
                report.output = result(reply)
                break
            }
            guard let text = Response.firstItemText(reply, of: 1), text.unicodeScalars.count <= maxLength else { break }
            // The next fact may be suitable. `--max-length` limits the characters, so the columns have no limit.
            guard let line = promptLine(text, columns: .max) else { continue }
            report.output = Array((line + "\n").utf8)
            break
        }
        return report
    }

    /// Returns the request for one fact, as text, because ``FactRandom/Parameters`` would cost a sixth of the
    /// instructions of this command.
    private static func request(maxLength: Int) -> [UInt8] {
        Array(
            #"{"jsonrpc":"2.0","id":1,"method":"\#(FactRandom.name)","params":{"max_length":\#(maxLength)}}"#.utf8)
    }

    /// Returns the result of a reply as a line of JSON, or nothing if the reply has no result.
    private func result(_ reply: [UInt8]) -> [UInt8] {
        guard let response = try? Response(parsing: reply), response.answers(1),
            case .success(let json) = response.outcome, (try? json.decoded(as: FactRandom.Result.self)) != nil
        else { return [] }
        return Report(json: json).output
    }
}
