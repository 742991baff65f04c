import NorrisArguments
import NorrisPages
import NorrisProtocol
import NorrisTerminal
import NorrisText

struct NextCommand: SessionCommand {
    static let name = "next"
    static let help = CommandHelp(
        "Show the next unread post in full, and mark it as read.",
        """
        The newest unread post comes first, as in norrisctl feed, so that a long absence does not put old posts
        before new ones. norrisctl unread takes the mark back.

        Tab-separated in a pipe: id, time, author, text.

        Examples:
          norrisctl next
          norrisctl next --source planet
          while norrisctl next; do read -r _ || break; done
        """)

    private var source: String?, tag: String?
    private var web = WebOutput()

    mutating func declare(_ arguments: inout CommandArguments) {
        arguments.sources(&source, &tag)
        web.declare(&arguments)
    }

    func validate(_ settings: Settings) throws(UsageError) {
        try refuse(source: source, tag: tag)
        try web.validate(settings)
    }

    func run(in session: Session) throws(Failure) -> Report {
        try session.checkFormat(for: PostList.self)
        let request = PostList.Parameters(source: source, tag: tag, unread: true, page: PageRequest(limit: 1))
        let reply = try session.call(
            PostList.self, request, notFound: source.map { _ in FeedCommand.sourceHint })
        guard let post = reply.value.items.first else {
            return try EmptyFeed.report(session, reply, request)
        }
        var report = try show(post, reply, session)
        // A post that cannot be written stays unread. A terminal takes it, perhaps in a pager.
        if !session.system.terminal.isTerminal {
            guard try session.write(report.output) else { return Report() }
            report.output = []
        }
        // The post is shown even if the mark cannot be stored.
        do throws(Failure) { _ = try session.call(PostMarkRead.self, PostMarkRead.Parameters(ids: [post.id])) } catch {
            report.add(error)
        }
        return report
    }

    private func show(
        _ post: Post, _ reply: Reply<PostList.Result>, _ session: Session
    ) throws(Failure) -> Report {
        if web.isOn {
            let page = WebPage(
                title: post.title ?? "Next", now: session.system.now, freshness: reply.value.freshness, showsAll: true)
            var post = post
            // When the page is seen, the post is marked.
            post.isRead = true
            return try web.report(page.posts([post]), session)
        }
        return session.report(reply) { screen in
            screen.feed([post], numberedFrom: nil, showsAll: true, session)
            guard screen.layout.width != nil else { return }
            screen.line()
            screen.paragraph(session.text(Self.remaining(reply.value)), .dim)
        }
    }

    /// The number of unread posts after the shown post. Above a limit the daemon sends no total.
    private static func remaining(_ page: Page<Post>) -> Advice {
        guard page.next != nil else { return "No more unread posts." }
        guard let total = page.total else { return "More unread posts: norrisctl next" }
        return "\(value: groupedDigits(total - 1)) more unread: norrisctl next"
    }
}
