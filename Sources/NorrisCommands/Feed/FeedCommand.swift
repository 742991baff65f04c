import NorrisArguments
import NorrisProtocol
import NorrisTerminal

struct FeedCommand: SessionCommand {
    static let name = "feed"
    static let help = CommandHelp(
        "Show the posts of your sources, newest first.",
        """
        A dot marks unread posts; norrisctl read marks them as read.
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
        if NewSource.isAddress(word) { return "feed add \(shellQuoted(word))" }
        return NewSource.isName(word) ? "feed --source \(word)" : nil
    }

    private var source: String?, author: String?
    private var isUnreadOnly = false
    private var limit: Int?, page: Int?
    private var isFull = false
    /// The position on the page of the post to open, from 1.
    private var opened: Int?

    mutating func declare(_ arguments: inout CommandArguments) {
        arguments.option(&source, "source", .postSource, "Only posts of this source. See norrisctl status.")
        arguments.option(&author, "author", .author, "Only posts by authors with this in their handle or name.")
        arguments.flag(&isUnreadOnly, "unread", "Only unread posts.")
        arguments.option(&limit, "limit", short: "n", in: 1...100, "Posts per page, 1 to 100. (default: 20)")
        arguments.page(&page)
        arguments.flag(&isFull, "full", "Show whole texts, and content marked sensitive.")
        arguments.option(&opened, "open", in: 1...100, "Open the n-th post of the page in a browser.")
    }

    func validate(_ settings: Settings) throws(UsageError) {
        try settings.refuseJSON(besides: [("--open", opened != nil)])
    }

    func run(in session: Session) throws(Failure) -> Report {
        let options =
            optionWords(("--source", source), ("--author", author)) + flagWords([("--unread", isUnreadOnly)])
            + optionWords(("--limit", limit.map(String.init))) + flagWords([("--full", isFull)])
        let now = session.system.now
        var posts: [Post] = []
        var paging = Paging(session, page: page, limit: limit, noun: "posts", command: "feed", options: options)
        paging.hasFoot = opened == nil
        var report = try paging.report(
            PostList.self, PostList.Parameters(source: source, author: author, unread: isUnreadOnly),
            notFound: source.map { _ in "List the sources: norrisctl status" }, source: source ?? "posts",
            nothing: "No posts.", empty: { (reply) throws(Failure) in try empty(session, reply) }
        ) { screen, page in
            posts = page.items
            if let opened { posts = Array(posts.dropFirst(opened - 1).prefix(1)) }
            screen.posts(posts, now: now, showsAll: isFull) {
                PostCommand.command(id: $0, socket: session.settings.socket)
            }
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

    /// Reports the reason for an empty feed. Text output takes a second call.
    private func empty(_ session: Session, _ reply: Reply<PostList.Result>) throws(Failure) -> Report {
        let status = EmptyFeed.status(reply.value.freshness)
        guard !session.settings.json else { return Report(json: reply.json, status: status) }
        let daemon = try session.call(ServerStatus.self)
        let sources = daemon.value.sources
        let feed = EmptyFeed(source: source, author: author, isUnreadOnly: isUnreadOnly, allSources: sources)
        var report = Report(status: status)
        for note in feed.notes(now: session.system.now) {
            report.note(note.text)
            note.hints.forEach { report.hint($0) }
        }
        return report
    }
}
