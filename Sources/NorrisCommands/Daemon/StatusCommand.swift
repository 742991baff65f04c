import NorrisArguments
import NorrisProtocol
import NorrisTerminal
import NorrisText

struct StatusCommand: SessionCommand {
    static let name = "status"
    static let help = CommandHelp(
        "Show the state of norrisd and its sources.",
        """
        UNREAD has your unread posts. Tab-separated in a pipe: key, value.

        Examples:
          norrisctl status
          norrisctl status --plain | grep ^source.facts
          norrisctl status --metrics
          norrisctl status --json
        """)

    private var showsMetrics = false

    mutating func declare(_ arguments: inout CommandArguments) {
        arguments.flag(&showsMetrics, "metrics", "Print metrics for a monitoring system (OpenMetrics).")
    }

    func run(in session: Session) throws(Failure) -> Report {
        if showsMetrics { return try figures(session) }
        let reply = try session.call(ServerStatus.self)
        let unread = unread(session, reply.value.sources)
        return session.report(reply) { $0.status(reply.value, unread: unread, now: session.system.now) }
    }

    /// Returns the user's unread posts of each source of posts. Empty if the daemon does not know them, so that the
    /// status is still shown; only text output takes this second call.
    private func unread(_ session: Session, _ sources: [SourceStatus]) -> [String: Int] {
        guard sources.contains(where: { ![SourceStatus.facts, SourceStatus.gifs].contains($0.name) }),
            !session.settings.json, session.settings.format == nil,
            let reply = try? session.call(PostSources.self)
        else { return [:] }
        return Dictionary(reply.value.items.map { ($0.name, $0.unread) }) { first, _ in first }
    }

    /// Returns the metrics without a layout, even on a terminal, because programs read them.
    private func figures(_ session: Session) throws(Failure) -> Report {
        let reply = try session.call(ServerMetrics.self)
        return session.settings.json ? Report(json: reply.json) : Report(output: sanitizedText(reply.value.text))
    }
}
