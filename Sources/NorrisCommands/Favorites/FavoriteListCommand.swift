import ArgumentParser
import NorrisProtocol
import NorrisTerminal

/// `norrisctl favorite list`: what the user keeps.
struct FavoriteListCommand: SessionCommand {
    static let configuration = CommandConfiguration.command(
        "list", of: "favorite", abstract: "List what you keep, newest first.",
        usage: "[--kind <kind>] [--limit <n>] [--page <n>]",
        discussion: """
            To a pipe each line is a kind, a tab, an id, a tab, a time, a tab and a title.

            Examples:
              norrisctl favorite list
              norrisctl favorite list --kind gif --limit 10 --page 2
            """
    )

    @Option(help: ArgumentHelp("Only fact, gif or post.", valueName: "kind"), transform: favoriteKind) var kind: String?

    @Option(help: ArgumentHelp("How many a page, 1 to 100.", valueName: "n"), transform: integer(1...100))
    var limit: Int?

    @Option(help: ArgumentHelp("Which page, 1 to 10.", valueName: "n"), transform: integer(1...Paging.lastPage))
    var page: Int?

    @OptionGroup(title: GlobalOptions.title) var globals: GlobalOptions

    func run(in session: Session) throws(Failure) -> Report {
        let command = ["favorite", "list"]
            + optionWords(("--socket", globals.socket), ("--kind", kind), ("--limit", limit.map(String.init)))
        var hasGifs = false
        var report = try Paging(number: page ?? 1, noun: "favourites", command: (command, [])).report(
            session,
            source: "",
            nothing: "You keep no \(kind.map { "\($0)s" } ?? "favourites") yet; "
                + "keep the last \(kind ?? "fact") you were shown: norrisctl favorite add \(kind ?? "fact")",
            call: { (cursor) throws(Failure) in try call(session, cursor: cursor) },
            show: { screen, favorites in
                screen.favorites(favorites, now: session.system.now)
                hasGifs = favorites.contains { $0.kind == .gif }
            }
        )
        // A terminal has it below the items.
        if hasGifs, session.layout.width == nil { report.remark(Gif.attribution) }
        return report
    }

    private func call(_ session: Session, cursor: String?) throws(Failure) -> Reply<FavoriteList.Result> {
        let parameters = FavoriteList.Parameters(
            kind: kind.map(Favorite.Kind.init(rawValue:)), limit: limit, cursor: cursor
        )
        return try session.call(FavoriteList.self, parameters)
    }
}
