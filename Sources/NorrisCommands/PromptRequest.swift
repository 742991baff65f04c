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
        guard let reply = try? reply(session) else { return report }
        if session.settings.json {
            report.output = Report(json: reply.json).output
        } else if let fact = reply.value.items.first, fact.text.unicodeScalars.count <= maxLength {
            let line = promptText(fact.text)
            report.output = line.isEmpty ? [] : Array((line + "\n").utf8)
        }
        return report
    }

    private func reply(_ session: Session) throws -> Reply<FactRandom.Result> {
        let line = Session.line(FactRandom.description.name, FactRandom.Parameters(maxLength: maxLength))
        // A fact is far shorter, and parsing a long reply would delay the prompt.
        let outcome = try session.send(line, to: session.sockets, maximumReply: 65_536)
        return try session.read(outcome, of: FactRandom.description)
    }
}
