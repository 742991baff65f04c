import NorrisArguments
import NorrisProtocol
import NorrisTerminal
import NorrisText

struct ReloadCommand: SessionCommand {
    static let name = "reload"
    static let help = CommandHelp(
        "Apply a changed configuration.",
        """
        norrisd reads its configuration again. If the file has a fault, nothing changes. Only for administrators:
        root, the user norrisd runs as, and the members of admin_groups.

        Examples:
          norrisctl reload
          norrisctl config check && norrisctl reload
        """)

    func run(in session: Session) throws(Failure) -> Report {
        try session.checkFormat(for: ServerReload.self)
        let reply = try session.call(ServerReload.self)
        return session.report(reply) { $0.line("reloaded") }
    }
}

struct ClearCacheCommand: SessionCommand {
    static let name = "clear-cache"
    static let help = CommandHelp(
        "Delete what norrisd has fetched.",
        """
        Favorites stay. Enabled sources are fetched again as soon as their limits allow. On a terminal, norrisctl
        asks before it deletes the content of all sources. Only for administrators: root, the user norrisd runs
        as, and the members of admin_groups.

        Examples:
          norrisctl clear-cache facts
          norrisctl clear-cache --yes && norrisctl refresh --wait
        """)

    private var source: String?
    private var isConfirmed = false

    mutating func declare(_ arguments: inout CommandArguments) {
        arguments.positional(
            .source, "The source, such as facts. See norrisctl status. (default: all)", isOptional: true
        ) { assign(&source, $0) }
        arguments.flag(&isConfirmed, "yes", "Do not ask.")
    }

    func run(in session: Session) throws(Failure) -> Report {
        try session.checkFormat(for: CacheClear.self)
        if source == nil, !isConfirmed, session.canAsk {
            // An older daemon does not say who is an administrator.
            if try session.call(ServerInfo.self).value.isAdministrator == false {
                throw Failure(.permissionDenied, method: CacheClear.name)
            }
            guard session.asks("Remove all fetched content?", standard: false) else {
                var report = Report(status: .nothing)
                report.note("Nothing was removed. One source alone: norrisctl clear-cache facts")
                return report
            }
        }
        let reply = try session.call(CacheClear.self, CacheClear.Parameters(source: source))
        return session.report(reply, of: "item")
    }
}

extension Session {
    /// Returns a report such as `removed 9,000 items`.
    func report(_ reply: Reply<Removed>, of noun: String, plural: String? = nil) -> Report {
        report(reply) { $0.line("removed \(countText(reply.value.removed, noun, plural: plural))") }
    }
}
