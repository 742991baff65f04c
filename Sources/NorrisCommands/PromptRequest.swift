import NorrisProtocol
import NorrisText

/// The fact that `norrisctl prompt` shows, if there is one in time.
struct PromptRequest: Equatable {
    /// In characters.
    var maxLength = 80

    /// One line, or nothing and no word about why: a prompt is no place for that, nor for words about waiting.
    func report(_ session: Session) -> Report {
        var report = Report()
        report.isForPrompt = true
        let session = session.settings.hasTimeout ? session : session.with { $0.timeout = .prompt }
        let line = Session.line(FactRandom.name, FactRandom.Parameters(maxLength: maxLength))
        // A fact is far shorter, and reading a long reply would delay the prompt.
        guard let reply = try? session.system.exchange(line, session.sockets, 65_536, session.timeLeft) else {
            return report
        }
        if session.settings.json {
            report.output = result(reply)
        } else if let text = Response.firstItemText(reply), text.unicodeScalars.count <= maxLength {
            let line = promptText(text)
            report.output = line.isEmpty ? [] : Array((line + "\n").utf8)
        }
        return report
    }

    /// The result of a reply as a line; nothing where the reply has none.
    private func result(_ reply: [UInt8]) -> [UInt8] {
        guard let response = try? Response(json: JSON.parse(reply)), case .success(let json) = response.outcome,
            (try? FactRandom.Result(json: json)) != nil
        else { return [] }
        return Report(json: json).output
    }
}
