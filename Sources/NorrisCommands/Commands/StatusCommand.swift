import ArgumentParser
import NorrisProtocol
import NorrisTerminal

/// `norrisctl status`: how the daemon, its sources and its databases are.
struct StatusCommand: SessionCommand {
    static let configuration = CommandConfiguration.command(
        "status",
        abstract: "Show how norrisd, its sources and its databases are.",
        usage: "",
        discussion: """
            To a pipe each line is a key, a tab and a value.

            Examples:
              norrisctl status
              norrisctl status --plain | grep ^source.facts
              norrisctl status --json
            """
    )

    @OptionGroup(title: GlobalOptions.title) var globals: GlobalOptions

    func run(in session: Session) throws(Failure) -> Report {
        let reply = try session.call(ServerStatus.description, as: ServerStatus.Result.self)
        if session.settings.json {
            return Report(json: reply.json)
        }
        var screen = Screen(layout: session.layout)
        screen.status(reply.value, now: session.system.now)
        return Report(screen)
    }
}
