import NorrisClient
import NorrisProtocol
import NorrisTerminal

/// The output of `norrisctl` without a command: the fact of the day or the start of the daemon, and three examples.
///
/// The welcome never fails, waits at most 100 ms for the daemon, and uses up no random fact.
struct Welcome {
    private let session: Session

    init(_ session: Session) {
        let isShort = session.timeout.duration < Timeout.moment.duration
        self.session = isShort ? session : session.with { $0.timeout = .moment }
    }

    var report: Report {
        var screen = Screen(layout: session.layout)
        greet(&screen)
        screen.line()
        screen.paragraph("norrisctl shows Chuck Norris facts, GIFs and your feeds, which the daemon norrisd caches.")
        screen.line()
        screen.line("Three things to try:")
        for command in ["norrisctl fact --category dev", "norrisctl gif round house kick", "norrisctl feed"] {
            screen.line([Span("  "), Span(command, .bold)])
        }
        screen.line()
        screen.paragraph("Facts in new shells and prompts: norrisctl init --help")
        screen.paragraph("All commands: norrisctl --help")
        return Report(output: screen.text)
    }

    private func greet(_ screen: inout Screen) {
        do throws(Failure) {
            let line = Session.line(FactToday.name, JSON?.none)
            let outcome = try session.send(line, to: session.sockets)
            // An error, or a reply of another version, is no text for a welcome.
            let reply: Reply<FactToday.Result>? = try? session.read(outcome, of: FactToday.self)
            screen.paragraph(reply?.value.fact.text ?? "norrisd is running.")
        } catch {
            if case .timedOut? = error.connection {
                let doctor = DaemonCommands(socket: "", option: session.settings.socket).norrisctl("doctor")
                screen.paragraph("norrisd is slow to answer. Find out why: \(doctor)", .warning)
            } else {
                screen.paragraph(error.message, .warning)
                screen.paragraph(error.hint?.text ?? "")
            }
        }
    }
}
