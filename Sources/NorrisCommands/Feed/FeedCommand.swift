import ArgumentParser
import NorrisProtocol
import NorrisTerminal

/// `norrisctl feed`: the posts of all sources, as cards.
struct FeedCommand: SessionCommand {
    static let configuration = CommandConfiguration.command(
        "feed", abstract: "Show the posts of your sources, newest first.",
        usage: "[--source <name>] [--author <author>] [--unread] [--limit <n>] [--page <n>] [--full]",
        discussion: """
            A dot marks what you have not read; norrisctl read marks it as read.
            To a pipe each line is an id, a tab, a time, a tab, an author, a tab and a text.

            Examples:
              norrisctl feed
              norrisctl feed --source planet --limit 5
              norrisctl feed --author @ada@town.example --full
              norrisctl feed --unread | cut -f 1 | xargs -r norrisctl read
            """
    )

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Only posts of this source; norrisctl status lists them.", valueName: "name")
    )
    var source: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Only posts of the author with this id, handle or name.", valueName: "author")
    )
    var author: String?

    @Flag(help: "Only posts you have not read.") var unread = false

    @Option(help: ArgumentHelp("How many posts a page, 1 to 100.", valueName: "n"), transform: integer(1...100))
    var limit: Int?

    @Option(help: ArgumentHelp("Which page, 1 to 10.", valueName: "n"), transform: integer(1...Paging.lastPage))
    var page: Int?

    @Flag(help: "Cut no text and hold nothing back.") var full = false

    @OptionGroup(title: GlobalOptions.title) var globals: GlobalOptions

    func run(in session: Session) throws(Failure) -> Report {
        let command = ["feed"]
            + optionWords(("--socket", globals.socket), ("--source", source), ("--author", author))
            + (unread ? ["--unread"] : []) + optionWords(("--limit", limit.map(String.init))) + (full ? ["--full"] : [])
        return try Paging(number: page ?? 1, noun: "posts", command: (command, [])).report(
            session,
            source: source ?? "posts",
            nothing: "No posts.",
            empty: { (reply) throws(Failure) in try empty(session, reply) },
            call: { (cursor) throws(Failure) in try call(session, cursor: cursor) },
            show: { screen, posts in
                screen.posts(posts, now: session.system.now, showsAll: full) {
                    PostCommand.command(id: $0, socket: globals.socket)
                }
            },
            after: { screen, page in
                if let freshness = page.freshness { screen.badge(freshness, now: session.system.now) }
            }
        )
    }

    private func call(_ session: Session, cursor: String?) throws(Failure) -> Reply<PostList.Result> {
        let parameters = PostList.Parameters(
            source: source, author: author, unread: unread, limit: limit, cursor: cursor
        )
        do {
            return try session.call(PostList.self, parameters)
        } catch {
            throw error.notFound(source.map { _ in "norrisctl status lists the sources." })
        }
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
