import ArgumentParser
import NorrisProtocol
import NorrisTerminal

/// `norrisctl reload`: lets the daemon read its configuration again.
struct ReloadCommand: SessionCommand {
    static let configuration = CommandConfiguration.command(
        "reload",
        abstract: "Let norrisd read its configuration again.",
        usage: "",
        discussion: """
            Needs an administrator. A configuration with faults changes nothing.

            Examples:
              norrisctl reload
              norrisd --check-config --config /etc/norrisd/config.yaml && norrisctl reload
            """
    )

    @OptionGroup(title: GlobalOptions.title) var globals: GlobalOptions

    func run(in session: Session) throws(Failure) -> Report {
        let reply = try session.call(ServerReload.self)
        if session.settings.json {
            return Report(json: reply.json)
        }
        var screen = Screen(layout: session.layout)
        screen.line("reloaded")
        return Report(screen)
    }
}
