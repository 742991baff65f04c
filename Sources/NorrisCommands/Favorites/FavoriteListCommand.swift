import ArgumentParser
import NorrisProtocol
import NorrisTerminal

/// `norrisctl favorite list`: the user's favorites.
struct FavoriteListCommand: SessionCommand {
    static let configuration = CommandConfiguration.command(
        "list", of: "favorite", aliases: ["ls"], abstract: "List what you keep, newest first.",
        usage: "[--kind <kind>] [--limit <n>] [--page <n>]",
        discussion: """
            To a pipe each line is a kind, a tab, an id, a tab, a time, a tab and a title.

            Examples:
              norrisctl favorite list
              norrisctl favorite list --kind gif --limit 10 --page 2
            """
    )

    @Option("Only fact, gif or post.", "kind", favoriteKind) var kind: String?
    @Option("How many a page, 1 to 100.", short: "n", in: 1...100) var limit: Int?
    @Option("Which page, 1 to 10.", in: 1...Paging.lastPage) var page: Int?
    @OptionGroup(title: GlobalOptions.title) var globals: GlobalOptions

    func run(in session: Session) throws(Failure) -> Report {
        let paging = Paging(
            session, page: page, limit: limit, noun: "favourites", command: "favorite", "list",
            options: optionWords(("--kind", kind), ("--limit", limit.map(String.init)))
        )
        var hasGifs = false
        var report = try paging.report(
            FavoriteList.self, FavoriteList.Parameters(kind: kind.map(Favorite.Kind.init(rawValue:))), source: "",
            nothing: "You keep no \(kind.map { "\($0)s" } ?? "favourites") yet; "
                + "keep the last \(kind ?? "fact") you were shown: norrisctl favorite add \(kind ?? "fact")"
        ) { screen, page in
            screen.favorites(page.items, now: session.system.now)
            hasGifs = page.items.contains { $0.kind == .gif }
        }
        // A terminal has it below the items.
        if hasGifs, session.layout.width == nil { report.remark(Gif.attribution) }
        return report
    }
}
