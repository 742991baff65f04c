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
        before new ones. norrisctl unread takes the mark back. With --open, a post that the browser cannot show stays
        unread, and a post without an address is shown here.

        Tab-separated in a pipe: id, time, author, text.

        Examples:
          norrisctl next
          norrisctl next --source planet
          norrisctl next --open
          while norrisctl next; do read -r _ || break; done
        """)

    private var source: String?, tag: String?
    private var isOpened = false, isCopied = false
    private var web = WebOutput()

    mutating func declare(_ arguments: inout CommandArguments) {
        arguments.sources(&source, &tag)
        arguments.flag(&isOpened, "open", "Open the post in a browser instead.")
        arguments.flag(&isCopied, "copy", "Also copy the text and the address to the clipboard.")
        web.declare(&arguments)
    }

    func validate(_ settings: Settings) throws(UsageError) {
        try refuse(source: source, tag: tag)
        let others = [("--open", isOpened), ("--copy", isCopied)]
        try settings.refuseJSON(besides: others)
        try web.validate(settings, besides: others)
    }

    func run(in session: Session) throws(Failure) -> Report {
        try session.checkFormat(for: PostList.self)
        let request = PostList.Parameters(source: source, tag: tag, unread: true, page: PageRequest(limit: 1))
        let reply = try session.call(PostList.self, request)
        guard let post = reply.value.items.first else {
            return web.report(nothing: try EmptyFeed.report(session, reply, request), session) {
                WebPage(title: "Next", now: session.system.now, next: $0).posts([])
            }
        }
        let isOpened = isOpened && post.url.map(isWebAddress) ?? false
        var report = isOpened ? Report() : try show(post, reply, session)
        // A post that cannot be written stays unread. A terminal takes it, perhaps in a pager.
        if !session.system.terminal.isTerminal {
            guard try session.write(report.output) else { return Report() }
            report.output = []
        }
        if isOpened {
            report.attempt { () throws(Failure) in try session.open(post.url, of: "The post") }
        }
        if isCopied {
            report.attempt { () throws(Failure) in try session.copy(PostCommand.copiedText(of: post)) }
        }
        // The post is shown even if the mark cannot be stored.
        if report.status == .done { session.markRead(post, &report) }
        return report
    }

    private func show(
        _ post: Post, _ reply: Reply<PostList.Result>, _ session: Session
    ) throws(Failure) -> Report {
        if web.isOn { return try web.report(WebPage.post(post, now: session.system.now), session) }
        return session.report(reply) { screen in
            screen.feed([post], as: .whole, session)
            guard screen.layout.width != nil else { return }
            screen.line()
            screen.paragraph(session.text(remaining(reply.value)), .dim)
        }
    }

    /// The number of unread posts after the shown post. Above a limit the daemon sends no total.
    private func remaining(_ page: Page<Post>) -> Advice {
        guard page.next != nil else { return "No more unread posts." }
        let count = page.total.map { "\(groupedDigits($0 - 1)) more unread" } ?? "More unread posts"
        let next = shellCommand(["norrisctl", "next"] + optionWords(("--source", source), ("--tag", tag)))
        return "\(value: count): \(command: next ?? "norrisctl next")"
    }
}
