import NorrisClient
import NorrisProtocol
import NorrisTerminal

/// The output of `norrisctl` without a command: a fact or the start of the daemon, and three examples, which work
/// without a network.
///
/// The welcome waits at most 100 ms for the daemon, and is shown without a daemon too. Its fact is the next one of the
/// shuffle, so `norrisctl fact` does not repeat it.
struct Welcome {
    private let session: Session

    init(_ session: Session) {
        let isShort = session.timeout.duration < Timeout.moment.duration
        self.session = isShort ? session : session.with { $0.timeout = .moment }
    }

    var report: Report {
        var screen = Screen(layout: session.layout)
        let failure = greet(&screen)
        screen.paragraph("norrisctl shows Chuck Norris facts, GIFs and your feeds, which the daemon norrisd caches.")
        screen.line()
        screen.line("Three things to try:")
        let card: Advice = session.canDrawCards ? "norrisctl card" : "norrisctl fact --today"
        for command: Advice in ["norrisctl fact --category dev", "norrisctl search kernel", card] {
            screen.line([Span("  "), Span(session.text(command), .bold)])
        }
        screen.line()
        screen.paragraph("Facts in new shells and prompts: norrisctl init --help")
        screen.paragraph("All commands: norrisctl --help")
        var report = Report(output: screen.text)
        if let failure { report.add(failure) }
        return report
    }

    /// Returns the failure of the connection, if there is one.
    private func greet(_ screen: inout Screen) -> Failure? {
        do throws(Failure) {
            let line = Session.line(FactRandom.name, JSON?.none)
            let outcome = try session.send(line, to: session.sockets)
            // An error, or a reply of another version, is no text for a welcome.
            let reply: Reply<FactRandom.Result>? = try? session.read(outcome, of: FactRandom.self)
            screen.paragraph(reply?.value.items.first?.text ?? "norrisd is running.")
            screen.line()
            return nil
        } catch {
            guard case .timedOut? = error.connection else { return error }
            // No timeout makes the welcome wait longer.
            var failure = error
            failure.hint = "Find out why: norrisctl doctor"
            return failure
        }
    }
}
