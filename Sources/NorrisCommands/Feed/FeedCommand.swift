import NorrisArguments
import NorrisPages
import NorrisProtocol
import NorrisTerminal
import NorrisText

struct FeedCommand: SessionCommand {
    static let name = "feed"
    static let help = CommandHelp(
        "Show the posts of your sources, newest first.",
        """
        A dot marks unread posts; norrisctl read marks them as read. On a terminal, a number before a post names the
        post in later commands: norrisctl post 3, norrisctl post 3 --open, norrisctl read 3.

        Tab-separated in a pipe: id, time, author, text.

        Examples:
          norrisctl feed
          norrisctl feed --source planet --limit 5
          norrisctl feed --author @ada@town.example --full
          norrisctl feed --open 1
          norrisctl feed --unread | cut -f 1 | xargs -r norrisctl read
        """)

    static func visitCommands(_ visit: (_ group: String, any SessionCommand.Type) -> Void) {
        visit("COMMANDS", FeedSourcesCommand.self)
        visit("COMMANDS", FeedAddCommand.self)
        visit("COMMANDS", FeedRemoveCommand.self)
        visit("COMMANDS", FeedImportCommand.self)
        visit("COMMANDS", FeedExportCommand.self)
    }

    static func correction(of word: String) -> String? {
        if word.hasPart("://") { return "feed add \(shellQuoted(word))" }
        return SourceName.isValid(word) ? "feed --source \(word)" : nil
    }

    private var source: String?, author: String?
    private var isUnreadOnly = false
    private var limit: Int?, page: Int?
    private var isFull = false
    /// The number of the post to open, as a terminal shows it.
    private var opened: Int?
    private var web = WebOutput()

    mutating func declare(_ arguments: inout CommandArguments) {
        arguments.option(&source, "source", .postSource, "Only posts of this source. See norrisctl status.")
        arguments.option(&author, "author", .author, "Only posts by authors with this in their handle or name.")
        arguments.flag(&isUnreadOnly, "unread", "Only unread posts.")
        arguments.option(&limit, "limit", short: "n", in: 1...100, "Posts per page, 1 to 100. (default: 20)")
        arguments.page(&page)
        arguments.flag(&isFull, "full", "Show whole texts, and content marked sensitive.")
        arguments.option(&opened, "open", in: 1...100, "Open the post with this number on the page in a browser.")
        web.declare(&arguments)
    }

    func validate(_ settings: Settings) throws(UsageError) {
        try settings.refuseJSON(besides: [("--open", opened != nil)])
        try web.validate(settings, besides: [("--open", opened != nil)])
    }

    func run(in session: Session) throws(Failure) -> Report {
        let now = session.system.now
        var posts: [Post] = []
        // The numbers continue from page to page.
        let before = ((page ?? 1) - 1) * (limit ?? PostList.defaultLimit)
        var paging = Paging(
            session, page: page, limit: limit, noun: "posts", command: "feed",
            options: optionWords(("--source", source), ("--author", author)) + flagWords([("--unread", isUnreadOnly)])
                + optionWords(("--limit", limit.map(String.init))) + flagWords([("--full", isFull)]), web: web)
        paging.hasFoot = opened == nil
        // The post to open is shown alone, so the numbers of the last list stay.
        if opened != nil { paging.isNumbered = false }
        var report = try paging.report(
            PostList.self, PostList.Parameters(source: source, author: author, unread: isUnreadOnly),
            notFound: source.map { _ in Self.sourceHint }, source: source ?? "posts",
            nothing: "No posts.", empty: { (reply) throws(Failure) in try empty(session, reply) },
            html: { page, next in
                WebPage(title: source ?? "Feed", now: now, freshness: page.freshness, next: next, showsAll: isFull)
                    .posts(page.items)
            }
        ) { screen, page, first in
            posts = page.items
            if let opened { posts = opened > before ? Array(posts.dropFirst(opened - before - 1).prefix(1)) : [] }
            screen.feed(posts, numberedFrom: first, showsAll: isFull, session)
            if opened == nil, let freshness = page.freshness { screen.badge(freshness, now: now) }
        }
        if let opened, report.status == .done {
            report.attempt { () throws(Failure) in
                guard let post = posts.first else { throw Failure(.nothing, "This page has no post \(opened).") }
                return try session.open(post.url, of: "The post")
            }
        }
        return report
    }

    private func empty(_ session: Session, _ reply: Reply<PostList.Result>) throws(Failure) -> Report {
        try EmptyFeed.report(session, reply, source: source, author: author, isUnreadOnly: isUnreadOnly)
    }

    /// The advice for an unknown source.
    static let sourceHint: Advice = "List the sources: norrisctl status"
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
