import NorrisArguments
import NorrisProtocol
import NorrisTerminal
import NorrisText

struct FeedAddCommand: SessionCommand {
    static let name = "add"
    static let help = CommandHelp(
        "Add a feed, and show its newest post.",
        """
        norrisd fetches the address first, and adds nothing if that fails. Addresses of YouTube, Reddit, GitHub, GitLab,
        Codeberg, Mastodon, Lemmy, Bluesky, Medium, Substack, Stack Overflow and Hacker News are taken as they are in
        a browser. If the address is another web page, norrisctl asks which feed of the page to add. Only
        administrators add feeds: root, and members of admin_groups.

        Examples:
          norrisctl feed add https://planet.debian.org/rss20.xml
          sudo norrisctl feed add planet.debian.org/rss20.xml --name planet --refresh 2h
          norrisctl feed add https://www.youtube.com/@NAME
          norrisctl feed add @NAME@mastodon.example
          norrisctl feed add mastodon.example
        """)
    static let hasFields = false
    private static let kinds = PostSourceKind.addable.map(\.rawValue)

    private var url = ""
    private var chosenName: String?, kind: String?, refresh: String?
    private var tags: [String] = []
    private var unread: Int?
    private var isArticle = false

    mutating func declare(_ arguments: inout CommandArguments) {
        arguments.positional(&url, .address, "The address of the feed, or of a web page that names its feed.")
        arguments.option(
            "name", .name, "The name of the source. (default: from the address)",
            takes: SourceName.rule
        ) { SourceName.isValid($0) && assign(&chosenName, $0) }
        arguments.option(
            "kind", .kind, "\(alternatives(Self.kinds)). (default: found)", choices: Self.kinds
        ) { kind in
            let kind = ["rss", "atom"].contains(kind) ? "feed" : kind
            return Self.kinds.contains(kind) && assign(&self.kind, kind)
        }
        arguments.option(&refresh, "refresh", .interval, "How often to fetch, such as 30m. (default: posts.refresh)")
        arguments.unread(&unread)
        arguments.flag(&isArticle, "article", "Fetch the page of each new post, and show its text.")
        arguments.tags(&tags, "A tag, by which posts can be listed. Repeatable.")
    }

    /// The command line with another address.
    private func words(_ url: String) -> [String] {
        ["feed", "add", url] + optionWords(("--name", chosenName), ("--kind", kind), ("--refresh", refresh))
            + optionWords(("--unread", unread.map(String.init))) + flagWords([("--article", isArticle)])
            + tags.flatMap { ["--tag", $0] }
    }

    func run(in session: Session) throws(Failure) -> Report {
        let session = session.with(defaultTimeout: .fetch)
        do throws(Failure) { return try add(url, session) } catch {
            guard let feeds = error.feeds else { throw error }
            if let feed = try chosenFeed(of: feeds, error, session) { return try add(feed, session) }
            var report = Report(status: .nothing)
            report.note("Nothing was added.")
            return report
        }
    }

    private func add(_ url: String, _ session: Session) throws(Failure) -> Report {
        var settings = SourceSettings(url: url, kind: kind, refresh: refresh)
        if !tags.isEmpty { settings.tags = tags }
        (settings.unread, settings.article) = (unread, isArticle ? true : nil)
        let parameters = SourceAdd.Parameters(settings, name: chosenName, waits: true)
        do throws(Failure) { return report(try session.call(SourceAdd.self, parameters), session) } catch {
            var failure = error
            // A later attempt would not find a feed either.
            if error.feeds != nil || error.response?.lastFailure?.kind == .decode { failure.status = .nothing }
            // An address without a scheme means https.
            if !url.hasPart("://"), error.message.hasPart(SourceFailure.noTLS),
                let command = shellCommand(["norrisctl"] + words("http://\(url)"))
            {
                failure.steps.append("Without TLS: \(command: command)")
            }
            throw failure
        }
    }

    /// Asks for one of the feeds that a web page names; nil if the user wants none.
    private func chosenFeed(
        of feeds: [FeedLink], _ failure: Failure, _ session: Session
    ) throws(Failure) -> String? {
        guard let first = feeds.first else { throw failure }
        guard session.canAsk else {
            var failure = failure
            failure.steps += feeds.compactMap { feed in
                shellCommand(["norrisctl"] + words(feed.url)).map { "Add it: \(command: $0)" as Advice }
            }
            throw failure
        }
        guard feeds.count > 1 else {
            let question = "\(url) is a web page. Its feed is \(first.url). Use it?"
            return session.asks(question, standard: true) ? first.url : nil
        }
        session.writeError("\(url) is a web page with \(feeds.count) feeds:")
        for (index, feed) in feeds.enumerated() {
            let parts = ["\(index + 1)", feed.title ?? "", feed.url].filter { !$0.isEmpty }
            session.writeError(parts.joined(separator: "  "))
        }
        return session.choice("Which one?", of: feeds.count).map { feeds[$0 - 1].url }
    }

    /// The number of posts of a new source, and of those that are unread.
    private func stored(_ result: SourceAdd.Result) -> String {
        guard let items = result.items else { return "" }
        let count = unread ?? SourceSettings.defaultUnread
        let newest = count == 0 ? "none" : count < items ? "the newest \(groupedDigits(count))" : "all"
        return ", \(countText(items, "post")), \(newest) unread"
    }

    private func report(_ reply: Reply<SourceAdd.Result>, _ session: Session) -> Report {
        let (name, isAdded) = (reply.value.sourceName, reply.value.isAdded)
        // The feed is added, even if its posts cannot be listed.
        let parameters = PostList.Parameters(source: name, page: PageRequest(limit: 1))
        let posts = (try? session.call(PostList.self, parameters))?.value.items
        var report = session.report(reply) { screen in
            guard isAdded else { return }
            guard session.layout.width != nil, let posts, !posts.isEmpty else { return screen.line("added: \(name)") }
            screen.line("added: \(name)\(stored(reply.value))")
            screen.line()
            screen.feed(posts, session)
        }
        if !isAdded { report.note("You already have this feed: its name is \(value: name.quotedForMessage).") }
        if isAdded, posts?.isEmpty ?? false {
            let isHidden = reply.value.items ?? 0 > 0
            report.note(
                isArticle
                    ? "Its posts follow with their pages."
                    : isHidden ? "Your rules hide its posts: norrisctl mute" : "The feed has no posts yet.")
        }
        if !isAdded || session.layout.width != nil { report.hint("Its posts: norrisctl feed --source \(value: name)") }
        return report
    }
}

extension Failure {
    /// The feeds that a web page names, if the address is one.
    fileprivate var feeds: [FeedLink]? {
        guard let urls: [String] = response?.detail("feed_urls") else { return nil }
        let titles: [String] = response?.detail("feed_titles") ?? []
        return urls.enumerated().map { FeedLink(title: $0 < titles.count ? titles[$0] : nil, url: $1) }
    }
}
