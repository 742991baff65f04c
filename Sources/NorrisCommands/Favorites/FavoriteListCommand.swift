import NorrisArguments
import NorrisPages
import NorrisProtocol
import NorrisTerminal

struct FavoriteListCommand: SessionCommand {
    static let name = "list"
    static let aliases = ["ls"]
    static let help = CommandHelp(
        "List your favorites, newest first.",
        """
        A number before an item names the item in later commands: norrisctl favorite remove 2. Shows facts in full,
        and the titles of GIFs and posts.

        Tab-separated in a pipe: kind, id, time, text.

        Examples:
          norrisctl favorite list
          norrisctl favorite list --kind gif --limit 10 --page 2
        """)

    private var kind: Favorite.Kind?
    private var limit: Int?, page: Int?
    private var web = WebOutput()

    mutating func declare(_ arguments: inout CommandArguments) {
        arguments.option("kind", .kind, "Only this kind: fact, gif or post.", choices: Favorite.Kind.words) {
            assign(&kind, Favorite.Kind(argument: $0))
        }
        arguments.option(&limit, "limit", short: "n", in: 1...100, "Items per page, 1 to 100. (default: 50)")
        arguments.page(&page)
        web.declare(&arguments)
    }

    func validate(_ settings: Settings) throws(UsageError) { try web.validate(settings) }

    func run(in session: Session) throws(Failure) -> Report {
        let paging = Paging(
            session, page: page, limit: limit, noun: "favorites", command: "favorite", "list",
            options: optionWords(("--kind", kind?.rawValue), ("--limit", limit.map(String.init))), web: web)
        var hasGifs = false
        var report = try paging.report(
            FavoriteList.self, FavoriteList.Parameters(kind: kind), source: "",
            nothing: """
                No \(value: kind.map { "favorite \($0.rawValue)s" } ?? "favorites") yet. Add the last \
                \(value: kind?.rawValue ?? "item") you were shown: \
                norrisctl favorite add\(value: kind.map { " \($0.rawValue)" } ?? "")
                """,
            html: { page, next in
                WebPage(title: "Favorites", now: session.system.now, next: next).favorites(page.items)
            }
        ) { screen, page, first in
            screen.favorites(page.items, now: session.system.now, numberedFrom: first)
            hasGifs = page.items.contains { $0.kind == .gif }
        }
        // A terminal shows the attribution below the items.
        if hasGifs, session.layout.width == nil { report.remark("\(value: Gif.attribution)") }
        return report
    }
}
