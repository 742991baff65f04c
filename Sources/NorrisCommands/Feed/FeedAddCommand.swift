import NorrisArguments
import NorrisProtocol
import NorrisTerminal
import NorrisText

struct FeedAddCommand: SessionCommand {
    static let name = "add"
    static let help = CommandHelp(
        "Add a feed, and show its newest post.",
        """
        norrisd fetches the address first, and adds nothing if that fails. If the address is a web page, norrisctl asks
        before using a feed that the page names. Only administrators add feeds: root, and members of admin_groups.

        One Mastodon account is a feed: https://HOST/@NAME.rss.

        Examples:
          norrisctl feed add https://planet.debian.org/rss20.xml
          sudo norrisctl feed add planet.debian.org/rss20.xml --name planet --refresh 2h
          norrisctl feed add https://mastodon.example --kind mastodon
        """)
    static var statuses: [ExitStatus] {
        [.done, .nothing, .usage, .unavailable, .internalError, .inputOutput, .temporary, .notPermitted]
    }
    static let hasFields = false
    private static let kinds = PostSourceKind.addable.map(\.rawValue)

    private var url = ""
    private var chosenName: String?, kind: String?, refresh: String?

    mutating func declare(_ arguments: inout CommandArguments) {
        arguments.positional(.address, "The address of the feed, or of a web page that names its feed.") {
            url = $0
            return true
        }
        arguments.option(
            "name", .name, "The name of the source. (default: from the address)",
            takes: "1 to 40 characters of a-z, 0-9, _ and -"
        ) { SourceName.isValid($0) && assign(&chosenName, $0) }
        arguments.option(
            "kind", .kind, "\(alternatives(Self.kinds)). (default: feed)", choices: Self.kinds
        ) { kind in
            let kind = ["rss", "atom"].contains(kind) ? "feed" : kind
            return Self.kinds.contains(kind) && assign(&self.kind, kind)
        }
        arguments.option(&refresh, "refresh", .interval, "How often to fetch, such as 30m. (default: posts.refresh)")
    }

    /// The command line with another address.
    private func words(_ url: String) -> [String] {
        ["feed", "add", url] + optionWords(("--name", chosenName), ("--kind", kind), ("--refresh", refresh))
    }

    func run(in session: Session) throws(Failure) -> Report {
        let session = session.settings.timeout == nil ? session.with { $0.timeout = .fetch } : session
        session.system.waiting.show("fetching \(url)")
        switch try add(url, session) {
        case .success(let reply): return try report(reply, session)
        case .failure(let page):
            guard let feed = try chosenFeed(of: page, session) else {
                var report = Report(status: .nothing)
                report.note("Nothing was added.")
                return report
            }
            switch try add(feed, session) {
            case .success(let reply): return try report(reply, session)
            case .failure(let page): throw page.failure
            }
        }
    }

    /// The answer that an address is a web page, with the feeds that it names.
    private struct WebPage: Error {
        let feeds: [String]
        let failure: Failure
    }

    private func add(_ url: String, _ session: Session) throws(Failure) -> Result<Reply<SourceAdd.Result>, WebPage> {
        let parameters = SourceAdd.Parameters(url: url, name: chosenName, kind: kind, refresh: refresh, waits: true)
        let outcome = try session.send(Session.line(SourceAdd.name, parameters), to: session.sockets)
        if case .failure(let error) = outcome, let feeds = error.detail("feed_urls", as: [String].self) {
            return .failure(WebPage(feeds: feeds, failure: Failure(error, method: SourceAdd.name)))
        }
        return .success(try session.read(outcome, of: SourceAdd.self))
    }

    /// Asks whether to use the first feed that a web page names; nil if the user does not want it.
    private func chosenFeed(of page: WebPage, _ session: Session) throws(Failure) -> String? {
        guard let first = page.feeds.first else { throw page.failure }
        guard session.canAsk else {
            var failure = page.failure
            failure.steps += page.feeds.compactMap { feed in
                shellCommand(["norrisctl"] + words(feed)).map { "Add it: \($0)" }
            }
            throw failure
        }
        for feed in page.feeds.dropFirst() { session.writeError("It also names \(feed).") }
        return session.asks("\(url) is a web page. Its feed is \(first). Use it?") ? first : nil
    }

    private func report(_ reply: Reply<SourceAdd.Result>, _ session: Session) throws(Failure) -> Report {
        let (name, isAdded) = (reply.value.sourceName, reply.value.isAdded)
        let page = try session.call(PostList.self, PostList.Parameters(source: name, page: PageRequest(limit: 1))).value
        var report = session.report(reply) { screen in
            guard isAdded else { return }
            screen.line("added: \(name)")
            guard session.layout.width != nil, !page.items.isEmpty else { return }
            screen.line()
            screen.posts(page.items, now: session.system.now, showsAll: false) {
                PostCommand.command(id: $0, socket: session.settings.socket)
            }
        }
        if !isAdded { report.note("You already have this feed: its name is \(name.quotedForMessage).") }
        if isAdded, page.items.isEmpty { report.note("The feed has no posts yet.") }
        if !isAdded || session.layout.width != nil { report.hint("Read it: norrisctl feed --source \(name)") }
        return report
    }
}

extension Session {
    /// Whether norrisctl can ask the user.
    fileprivate var canAsk: Bool { system.isInputTerminal && system.isErrorTerminal }

    /// Asks a question on the terminal. Yes is the default; the end of the input means no.
    fileprivate func asks(_ question: String) -> Bool {
        writeError("\(question) [Y/n]")
        guard let answer = system.readAnswer()?.lowercased() else { return false }
        return !["n", "no"].contains(answer)
    }
}
