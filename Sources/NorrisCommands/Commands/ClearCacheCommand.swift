import ArgumentParser
import NorrisProtocol
import NorrisTerminal

/// `norrisctl clear-cache`: lets the daemon forget what it has fetched.
struct ClearCacheCommand: SessionCommand {
    static let configuration = CommandConfiguration.command(
        "clear-cache",
        abstract: "Let norrisd forget what it has fetched.",
        usage: "[<source>]",
        discussion: """
            Needs an administrator. Favourites stay, and what was forgotten is fetched again at the next run.

            Examples:
              norrisctl clear-cache facts
              norrisctl clear-cache && norrisctl refresh --wait
            """
    )

    @Argument(help: "The source, such as facts; norrisctl status lists them. (default: all)")
    var source: String?

    @OptionGroup(title: GlobalOptions.title) var globals: GlobalOptions

    func run(in session: Session) throws(Failure) -> Report {
        let reply = try session.call(
            CacheClear.self, CacheClear.Parameters(source: source)
        )
        return session.report(reply, of: "item")
    }
}

extension Session {
    /// `removed 9,000 items`.
    func report(_ reply: Reply<Removed>, of noun: String, plural: String? = nil) -> Report {
        if settings.json {
            return Report(json: reply.json)
        }
        var screen = Screen(layout: layout)
        screen.line("removed \(countText(reply.value.removed, noun, plural: plural))")
        return Report(screen)
    }
}
