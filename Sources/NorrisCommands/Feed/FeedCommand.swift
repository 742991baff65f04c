import NorrisArguments
import NorrisPages
import NorrisProtocol
import NorrisTerminal
import NorrisText

struct FeedCommand: SessionCommand {
    static let name = "feed"
    static let help = CommandHelp(
        "Show the posts of your sources, newest first.", usage: "[<command>] [options]",
        """
        A dot marks unread posts; norrisctl read marks them as read. On a terminal, a number before a post names the
        post in later commands: norrisctl post 3, norrisctl post 3 --open, norrisctl read 3.

        Tab-separated in a pipe: id, time, author, text.

        Examples:
          norrisctl feed
          norrisctl feed --source planet --limit 5
          norrisctl feed --author @ada@town.example --full
          norrisctl feed --unread | cut -f 1 | xargs -r norrisctl read
        """)

    static var groups: [(title: String, commands: [any SessionCommand.Type])] {
        [
            (
                "COMMANDS",
                [
                    FeedSourcesCommand.self, FeedAddCommand.self, FeedEditCommand.self, FeedRemoveCommand.self,
                    FeedImportCommand.self, FeedExportCommand.self,
                ]
            )
        ]
    }

    static func correction(of word: String) -> String? {
        if word.hasPart("://") { return "feed add \(shellQuoted(word))" }
        return SourceName.isValid(word) ? "feed --source \(word)" : nil
    }

    private var filters = PostList.Parameters()
    private var limit: Int?, page: Int?
    private var isFull = false
    private var web = WebOutput()

    mutating func declare(_ arguments: inout CommandArguments) {
        arguments.sources(&filters.source, &filters.tag)
        arguments.option(&filters.author, "author", .author, "Only posts by authors with this in their handle or name.")
        arguments.flag(&filters.unread, "unread", "Only unread posts.")
        arguments.option(&limit, "limit", short: "n", in: 1...100, "Posts per page, 1 to 100. (default: 20)")
        arguments.page(&page)
        arguments.flag(&isFull, "full", "Show whole texts, and content marked sensitive.")
        web.declare(&arguments)
    }

    func validate(_ settings: Settings) throws(UsageError) {
        try refuse(source: filters.source, tag: filters.tag)
        try web.validate(settings)
    }

    func run(in session: Session) throws(Failure) -> Report {
        let now = session.system.now
        let paging = Paging(
            session, page: page, limit: limit, noun: "posts", command: "feed",
            options: filters.filters.flatMap(\.words) + optionWords(("--limit", limit.map(String.init)))
                + flagWords([("--full", isFull)]), web: web)
        return try paging.report(
            PostList.self, filters, notFound: filters.source.map { _ in Self.sourceHint },
            source: filters.source ?? "posts", nothing: "No posts.",
            empty: { (reply) throws(Failure) in try EmptyFeed.report(session, reply, filters) },
            html: { page, next in
                WebPage(
                    title: filters.source ?? filters.tag ?? "Feed", now: now, freshness: page.freshness, next: next,
                    showsAll: isFull
                ).posts(page.items)
            }
        ) { screen, page, first in
            screen.feed(page.items, numberedFrom: first, showsAll: isFull, session)
            if let freshness = page.freshness { screen.badge(freshness, now: now) }
        }
    }

    /// The advice for an unknown source.
    static let sourceHint: Advice = "List the sources: norrisctl status"
}

extension PostList.Parameters {
    /// The filters of the list, as the words of the options of `norrisctl feed`, each of which has the name of its
    /// member.
    var filters: [(name: String, words: [String])] {
        var filters = self
        filters.page = PageRequest()
        guard case .object(let object) = EncodedJSON(filters).tree else { return [] }
        return object.members.map { name, value in
            guard case .string(let text) = value else { return (name, ["--\(name)"]) }
            return (name, ["--\(name)", text])
        }
    }
}

extension Screen {
    /// Posts as cards, or one a line in a pipe.
    mutating func feed(_ posts: [Post], numberedFrom first: Int?, showsAll: Bool = false, _ session: Session) {
        items(posts, numberedFrom: first) { screen, post in
            screen.posts([post], now: session.system.now, showsAll: showsAll) {
                PostCommand.command(id: $0, socket: session.settings.socket)
            }
        }
    }
}
