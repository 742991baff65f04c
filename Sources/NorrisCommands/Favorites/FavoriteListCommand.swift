import ArgumentParser
import NorrisProtocol
import NorrisTerminal

/// `norrisctl favorite list`: the user's favorites.
struct FavoriteListCommand: SessionCommand {
    static let configuration = CommandConfiguration.command(
        "list", of: "favorite", aliases: ["ls"], abstract: "List your favorites, newest first.",
        discussion: """
            Tab-separated in a pipe: kind, id, time, title.

            Examples:
              norrisctl favorite list
              norrisctl favorite list --kind gif --limit 10 --page 2
            """
    )

    @Option("Only this kind: fact, gif or post.", "kind", favoriteKind) var kind: String?
    @Option("Items per page, 1 to 100. (default: 50)", short: "n", in: 1...100) var limit: Int?
    @Option("Page number, 1 to 10.", in: 1...Paging.lastPage) var page: Int?
    @OptionGroup(title: GlobalOptions.title) var globals: GlobalOptions

    func run(in session: Session) throws(Failure) -> Report {
        let paging = Paging(
            session, page: page, limit: limit, noun: "favorites", command: "favorite", "list",
            options: optionWords(("--kind", kind), ("--limit", limit.map(String.init)))
        )
        var hasGifs = false
        var report = try paging.report(
            FavoriteList.self, FavoriteList.Parameters(kind: kind.map(Favorite.Kind.init(rawValue:))), source: "",
            nothing: "No \(kind.map { "favorite \($0)s" } ?? "favorites") yet. "
                + "Add the last \(kind ?? "fact") you were shown: norrisctl favorite add \(kind ?? "fact")"
        ) { screen, page in
            screen.favorites(page.items, now: session.system.now)
            hasGifs = page.items.contains { $0.kind == .gif }
        }
        // A terminal has it below the items.
        if hasGifs, session.layout.width == nil { report.remark(Gif.attribution) }
        return report
    }
}
