import ArgumentParser
import NorrisProtocol
import NorrisTerminal

/// `norrisctl refresh`: fetches from the sources now.
struct RefreshCommand: SessionCommand {
    static let configuration = CommandConfiguration.command(
        "refresh",
        abstract: "Let norrisd fetch from its sources now.",
        usage: "[<source>] [--wait]",
        discussion: """
            Everybody may do so once in five minutes for each source, administrators any time.
            With --wait it ends when all sources have, with status 75 if one failed (78 for want of a key),
            after 10 minutes at most unless --timeout says otherwise; --json then gives the event of each source.

            Examples:
              norrisctl refresh
              norrisctl refresh facts --wait
              norrisctl refresh --wait --timeout 1m && norrisctl fact
            """
    )

    @Argument(help: "The source, such as facts; norrisctl status lists them. (default: all)")
    var source: String?

    @Flag(help: "Wait until it is done, and say what came of it.")
    var wait = false

    @OptionGroup(title: GlobalOptions.title) var globals: GlobalOptions

    func run(in session: Session) throws(Failure) -> Report {
        let parameters = SourceRefresh.Parameters(source: source)
        do throws(Failure) {
            if wait {
                let patience = session.forManyCalls.settings.timeout
                return try RefreshWait(session: session, patience: patience).report(parameters)
            }
            let reply = try session.call(SourceRefresh.self, parameters)
            return report(session, reply)
        } catch {
            throw error.withTimeOfRetry(now: session.system.now)
        }
    }

    private func report(_ session: Session, _ reply: Reply<SourceRefresh.Result>) -> Report {
        if session.settings.json {
            return Report(json: reply.json, status: reply.value.started.isEmpty ? .nothing : .done)
        }
        var screen = Screen(layout: session.layout)
        guard let text = reply.value.text else { return .nothingToRefresh }
        screen.line(text)
        return Report(screen)
    }
}

extension SourceRefresh.Result {
    /// `started: facts, planet`; nil where nothing was.
    var text: String? {
        started.isEmpty ? nil : "started: \(started.joined(separator: ", "))"
    }
}

extension Report {
    /// The daemon has no source that it could ask.
    static var nothingToRefresh: Report {
        var report = Report(status: .nothing)
        report.note("There is no source to fetch from; norrisctl status shows which are off.")
        return report
    }
}

extension Failure {
    /// Says when a limit of the daemon ends, where it knows.
    fileprivate func withTimeOfRetry(now: Timestamp) -> Failure {
        guard let response, response.code == .busy,
            let time = response.details["retry_at"].flatMap({ try? Timestamp(json: $0) })
        else { return self }
        var failure = self
        failure.hint = "Try again \(upcomingTime(of: time, at: now))."
        return failure
    }
}
