import ArgumentParser
import NorrisProtocol
import NorrisTerminal

/// `norrisctl reload`: makes the daemon read its configuration again.
struct ReloadCommand: SessionCommand {
    static let configuration = CommandConfiguration.command(
        "reload", abstract: "Let norrisd read its configuration again.",
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
        return session.report(reply) { $0.line("reloaded") }
    }
}

/// `norrisctl clear-cache`: makes the daemon forget what it has fetched.
struct ClearCacheCommand: SessionCommand {
    static let configuration = CommandConfiguration.command(
        "clear-cache", abstract: "Let norrisd forget what it has fetched.", usage: "[<source>]",
        discussion: """
            Needs an administrator. Favourites stay, and what was forgotten is fetched again at the next run.

            Examples:
              norrisctl clear-cache facts
              norrisctl clear-cache && norrisctl refresh --wait
            """
    )

    @Argument(help: "The source, such as facts; norrisctl status lists them. (default: all)") var source: String?
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
        report(reply) { $0.line("removed \(countText(reply.value.removed, noun, plural: plural))") }
    }
}
