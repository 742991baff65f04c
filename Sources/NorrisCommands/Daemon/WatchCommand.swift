import NorrisArguments
import NorrisClient
import NorrisProtocol
import NorrisTerminal

struct WatchCommand: SessionCommand {
    static let name = "watch"
    static let help = CommandHelp(
        "Follow what norrisd does.",
        """
        Prints fetches, reloads and new items until Ctrl-C, or until norrisd stops. --timeout limits only the
        wait for the connection. On a terminal times are local, and the titles of new items follow. Tab-separated
        in a pipe: time in UTC, source, event.

        Examples:
          norrisctl watch
          norrisctl watch --json | jq -r 'select(.phase == "failed") | .source'
        """)

    func run(in session: Session) throws(Failure) -> Report {
        try session.settings.format?.check(Event.schema)
        var isStopping = false
        let end = try session.follow((EventSubscribe.name, EventSubscribe.Parameters())) { incoming throws(Failure) in
            // Hides the waiting message, because the next event may be hours away.
            session.system.waiting.hide()
            guard case .event(let params, let event) = incoming else { return .goOn(within: nil) }
            isStopping = event.topic == .server && event.phase == .stopping
            return try session.write(text(params, event, session)) ? .goOn(within: nil) : .stop
        }
        guard let end else { return Report() }
        guard isStopping, case .closed = end else { throw session.lost(end) }
        var report = Report()
        report.note("norrisd has stopped.")
        return report
    }

    private func text(_ params: EncodedJSON, _ event: Event, _ session: Session) -> [UInt8] {
        let time = event.at.localText("%H:%M:%S")
        return session.report(params, schema: Event.schema) { $0.event(event, time: time) }.output
    }
}
