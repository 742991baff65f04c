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

        Posts that rules of norrisctl mute hide are shown with --muted alone. --since counts from when norrisd first
        stored a post. --count prints the number of unread posts, also 0, for status bars.

        Tab-separated in a pipe, also with --oneline: id, time, author, text.

        Examples:
          norrisctl feed
          norrisctl feed --oneline
          norrisctl feed --since 2h
          norrisctl feed --count --tag work
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
        if ["list", "ls"].contains(word) { return "feed sources" }
        if word == "delete" { return "feed remove" }
        return SourceName.isValid(word) ? "feed --source \(word)" : nil
    }

    private var filters = PostList.Parameters()
    private var limit: Int?, page: Int?
    /// In seconds.
    private var age: Int?
    private var isFull = false, isOneline = false, isCounted = false
    private var web = WebOutput()

    mutating func declare(_ arguments: inout CommandArguments) {
        arguments.sources(&filters.source, &filters.tag)
        arguments.option(&filters.author, "author", .author, "Only posts by authors with this in their handle or name.")
        arguments.flag(&filters.unread, "unread", "Only unread posts.")
        arguments.age(&age, "since", "Only posts that have arrived since then, such as 2h.")
        arguments.flag(&filters.muted, "muted", "Only posts that your rules hide.")
        arguments.flag(&isCounted, "count", "Print only the number of unread posts.")
        arguments.option(&limit, "limit", short: "n", in: 1...100, "Posts per page, 1 to 100. (default: 20)")
        arguments.page(&page)
        arguments.flag(&isOneline, "oneline", "One line a post: number, mark, title, source and age.")
        arguments.flag(&isFull, "full", "Show whole texts, and content marked sensitive.")
        web.declare(&arguments)
    }

    func validate(_ settings: Settings) throws(UsageError) {
        try refuse(source: filters.source, tag: filters.tag)
        try settings.refuseJSON(besides: [("--count", isCounted)])
        try web.validate(settings, besides: [("--count", isCounted), ("--oneline", isOneline)])
        if isFull, isOneline { throw UsageError("Choose one of --full and --oneline.") }
        let others = [("--limit", limit != nil), ("--page", page != nil)] + forms
        if isCounted, let other = flagWords(others + [("--format", settings.format != nil)]).first {
            throw UsageError("--count prints one number: leave out \(other).")
        }
    }

    func run(in session: Session) throws(Failure) -> Report {
        let now = session.system.now
        var filters = filters
        filters.since = age.map { now.advanced(by: .seconds(-$0)) }
        if isCounted { return Report(output: "\(try count(filters, session))\n") }
        let paging = Paging(
            session, page: page, limit: limit, noun: "posts", command: "feed",
            options: self.filters.filters.flatMap(\.words)
                + optionWords(("--since", age.map { "\($0)s" })) + optionWords(("--limit", limit.map(String.init)))
                + flagWords(forms), web: web)
        return try paging.report(
            PostList.self, filters, source: filters.source ?? "posts", nothing: "No posts.",
            empty: { (reply) throws(Failure) in try EmptyFeed.report(session, reply, filters) },
            html: { page, next in
                WebPage(
                    title: filters.source ?? filters.tag ?? "Feed", now: now, freshness: page.freshness, next: next,
                    showsAll: isFull
                ).posts(page.items)
            }
        ) { screen, page, first in
            screen.feed(page.items, numberedFrom: first, as: isFull ? .whole : isOneline ? .line : .excerpt, session)
            if let freshness = page.freshness { screen.badge(freshness, now: now) }
        }
    }

    /// The flags of forms of posts.
    private var forms: [(name: String, isSet: Bool)] { [("--full", isFull), ("--oneline", isOneline)] }

    /// The number of unread posts that match.
    private func count(_ filters: PostList.Parameters, _ session: Session) throws(Failure) -> Int {
        // A list would replace the post last shown, and has a total up to a limit only.
        if filters.author == nil, filters.since == nil, !filters.muted {
            let sources = try session.call(PostSources.self, PostSources.Parameters(tag: filters.tag)).value.items
            let chosen = sources.filter { filters.source?.hasSameBytes(as: $0.name) ?? true }
            // The list has the error of an unknown source.
            if !chosen.isEmpty || filters.source == nil { return chosen.reduce(0) { $0 + $1.unread } }
        }
        var request = filters
        (request.unread, request.page.limit) = (true, 100)
        var page = try session.call(PostList.self, request).value
        if let total = page.total { return total }
        var count = page.items.count
        while let next = page.next {
            request.page.cursor = next
            page = try session.call(PostList.self, request).value
            count += page.items.count
        }
        return count
    }
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
    /// Posts, or one a line in a pipe.
    mutating func feed(
        _ posts: [Post], numberedFrom first: Int? = nil, as form: PostForm = .excerpt, _ session: Session
    ) {
        self.posts(posts, as: form, now: session.system.now, numberedFrom: first) { post, number in
            if form == .whole {
                return PostCommand.drawingCommand(number.map { .number($0) } ?? .id(post.id), of: post, session)
            }
            let name = number.map { ["\($0)"] } ?? argumentWords(post.id)
            let words = ["norrisctl", "post"] + optionWords(("--socket", session.settings.socket)) + name
            // A user who cannot type the id can see the post in the feed.
            return shellCommand(words) ?? "norrisctl feed --full"
        }
    }
}
