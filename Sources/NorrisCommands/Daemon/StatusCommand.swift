import NorrisArguments
import NorrisProtocol
import NorrisTerminal
import NorrisText

struct StatusCommand: SessionCommand {
    static let name = "status"
    static let help = CommandHelp(
        "Show the state of norrisd and its sources.",
        """
        Tab-separated in a pipe: key, value.

        Examples:
          norrisctl status
          norrisctl status --verbose
          norrisctl status --plain | grep ^source.facts
          norrisctl status --metrics
          norrisctl status --json
        """)

    private var isVerbose = false, showsMetrics = false

    mutating func declare(_ arguments: inout CommandArguments) {
        arguments.flag(&isVerbose, "verbose", "Show connections, requests and quotas too.")
        arguments.flag(&showsMetrics, "metrics", "Print metrics for a monitoring system (OpenMetrics).")
    }

    func run(in session: Session) throws(Failure) -> Report {
        if showsMetrics {
            // Without a layout, even on a terminal, because programs read the metrics.
            let reply = try session.call(ServerMetrics.self)
            return session.settings.json ? Report(json: reply.json) : Report(output: sanitizedText(reply.value.text))
        }
        let reply = try session.call(ServerStatus.self)
        return session.report(reply) { $0.status(reply.value, now: session.system.now, isVerbose: isVerbose) }
    }
}
