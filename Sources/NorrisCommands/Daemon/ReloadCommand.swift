import ArgumentParser
import NorrisProtocol
import NorrisTerminal

/// `norrisctl reload`: makes the daemon read its configuration again.
struct ReloadCommand: SessionCommand {
    static let configuration = CommandConfiguration.command(
        "reload", abstract: "Apply a changed configuration.",
        discussion: """
            norrisd reads its configuration again. If the file has a fault, nothing changes. Only for administrators:
            root, the user norrisd runs as, and the members of admin_groups.

            Examples:
              norrisctl reload
              norrisctl config check && norrisctl reload
            """
    )

    static var statuses: [ExitStatus] { [.done, .usage, .unavailable, .notPermitted] }

    @OptionGroup(title: GlobalOptions.title) var globals: GlobalOptions

    func run(in session: Session) throws(Failure) -> Report {
        try session.checkFormat(for: ServerReload.self)
        let reply = try session.call(ServerReload.self)
        return session.report(reply) { $0.line("reloaded") }
    }
}

/// `norrisctl clear-cache`: makes the daemon forget what it has fetched.
struct ClearCacheCommand: SessionCommand {
    static let configuration = CommandConfiguration.command(
        "clear-cache", abstract: "Delete what norrisd has fetched.",
        discussion: """
            Favorites stay. Enabled sources are fetched again as soon as their limits allow. Only for administrators:
            root, the user norrisd runs as, and the members of admin_groups.

            Examples:
              norrisctl clear-cache facts
              norrisctl clear-cache && norrisctl refresh --wait
            """
    )

    @Argument(help: "The source, such as facts. See norrisctl status. (default: all)") var source: String?
    @OptionGroup(title: GlobalOptions.title) var globals: GlobalOptions

    func run(in session: Session) throws(Failure) -> Report {
        try session.checkFormat(for: CacheClear.self)
        let reply = try session.call(CacheClear.self, CacheClear.Parameters(source: source))
        return session.report(reply, of: "item")
    }
}

extension Session {
    /// `removed 9,000 items`.
    func report(_ reply: Reply<Removed>, of noun: String, plural: String? = nil) -> Report {
        report(reply) { $0.line("removed \(countText(reply.value.removed, noun, plural: plural))") }
    }
}
