import ArgumentParser
import NorrisProtocol
import NorrisTerminal

/// `norrisctl feed`: the posts of all sources, as cards.
struct FeedCommand: SessionCommand {
    static let configuration = CommandConfiguration.command(
        "feed", abstract: "Show the posts of your sources, newest first.",
        discussion: """
            A dot marks unread posts; norrisctl read marks them as read.
            Tab-separated in a pipe: id, time, author, text.

            Examples:
              norrisctl feed
              norrisctl feed --source planet --limit 5
              norrisctl feed --author @ada@town.example --full
              norrisctl feed --open 1
              norrisctl feed --unread | cut -f 1 | xargs -r norrisctl read
            """
    )

    @Option("Only posts of this source. See norrisctl status.", "name", parsing: .unconditional)
    var source: String?

    @Option("Only posts by authors with this in their handle or name.", "author", parsing: .unconditional)
    var author: String?

    @Flag(help: "Only unread posts.") var unread = false
    @Option("Posts per page, 1 to 100. (default: 20)", short: "n", in: 1...100) var limit: Int?
    @Option("Page number, 1 to 10.", in: 1...Paging.lastPage) var page: Int?
    @Flag(help: "Show whole texts, and content marked sensitive.") var full = false
    @Option("Open the n-th post of the page in a browser.", in: 1...100) var open: Int?
    @OptionGroup(title: GlobalOptions.title) var globals: GlobalOptions

    func validate() throws {
        try globals.refuseJSON(besides: ("--open", open != nil))
    }

    func run(in session: Session) throws(Failure) -> Report {
        let options = optionWords(("--source", source), ("--author", author)) + flagWords([("--unread", unread)])
            + optionWords(("--limit", limit.map(String.init))) + flagWords([("--full", full)])
        let now = session.system.now
        var posts: [Post] = []
        var paging = Paging(session, page: page, limit: limit, noun: "posts", command: "feed", options: options)
        paging.hasFoot = open == nil
        var report = try paging.report(
            PostList.self, PostList.Parameters(source: source, author: author, unread: unread),
            notFound: source.map { _ in "List the sources: norrisctl status" }, source: source ?? "posts",
            nothing: "No posts.", empty: { (reply) throws(Failure) in try empty(session, reply) }
        ) { screen, page in
            posts = page.items
            if let open { posts = Array(posts.dropFirst(open - 1).prefix(1)) }
            screen.posts(posts, now: now, showsAll: full) {
                PostCommand.command(id: $0, socket: session.settings.socket)
            }
            if open == nil, let freshness = page.freshness { screen.badge(freshness, now: now) }
        }
        if let open, report.status == .done {
            report.attempt { () throws(Failure) in
                guard let post = posts.first else { throw Failure(.nothing, "This page has no post \(open).") }
                return try session.open(post.url, of: "The post")
            }
        }
        return report
    }

    /// Finds out why there is nothing, which takes another call where words are wanted.
    private func empty(_ session: Session, _ reply: Reply<PostList.Result>) throws(Failure) -> Report {
        let status = EmptyFeed.status(reply.value.freshness)
        guard !session.settings.json else { return Report(json: reply.json, status: status) }
        let daemon = try session.call(ServerStatus.self)
        let feed = EmptyFeed(source: source, author: author, isUnreadOnly: unread, allSources: daemon.value.sources)
        var report = Report(status: status)
        for note in feed.notes(now: session.system.now) {
            report.note(note.text)
            note.hints.forEach { report.hint($0) }
        }
        return report
    }
}
