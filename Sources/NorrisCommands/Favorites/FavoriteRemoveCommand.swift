import ArgumentParser
import NorrisProtocol
import NorrisTerminal

/// `norrisctl favorite remove`: lets go of an item.
struct FavoriteRemoveCommand: SessionCommand {
    static let configuration = CommandConfiguration.command(
        "remove",
        of: "favorite",
        abstract: "Let go of an item that was kept.",
        usage: "<kind> [<id>]",
        discussion: """
            Examples:
              norrisctl favorite remove gif
              norrisctl favorite remove fact builtin-8t1ie85ph93io
            """
    )

    @OptionGroup var item: FavoriteItem

    @OptionGroup(title: GlobalOptions.title) var globals: GlobalOptions

    func run(in session: Session) throws(Failure) -> Report {
        let parameters = try item.parameters(session, verb: "remove")
        let reply = try session.call(FavoriteRemove.self, parameters)
        let status: ExitStatus = reply.value.removed ? .done : .nothing
        if session.settings.json {
            return Report(json: reply.json, status: status)
        }
        var screen = Screen(layout: session.layout)
        if reply.value.removed {
            screen.paragraph("removed: \(parameters.id)")
        }
        var report = Report(screen, status: status)
        if !reply.value.removed {
            report.note("You do not keep a \(item.kind) of the id \(parameters.id.quotedForMessage).")
            report.hint("norrisctl favorite list --kind \(item.kind) lists those you do.")
        }
        return report
    }
}
