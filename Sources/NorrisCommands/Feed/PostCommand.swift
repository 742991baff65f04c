import NorrisArguments
import NorrisPages
import NorrisProtocol
import NorrisTerminal
import NorrisText

struct PostCommand: SessionCommand {
    static let takesIDs = true

    static let name = "post"
    static let help = CommandHelp(
        "Show a post in full.",
        """
        Shows the whole text, including content marked sensitive, and below it the links by their numbers. Without
        arguments, shows the post you were shown last; with a number, a post of your last list in any terminal. The
        post stays unread until norrisctl read, or until --open has opened it. --copy copies the text and the address
        of the post. --article fetches the page of the post, whose text the post keeps.

        --show fetches only https images, and needs chafa and curl. --open and --open-link need a browser or xdg-open,
        --copy wl-copy or xclip. Images are exempt from the default \(Timeout.standard.text) limit; an explicit
        --timeout covers the whole command.

        Tab-separated in a pipe: id, time, author, text.

        Examples:
          norrisctl feed && norrisctl post 3
          norrisctl post town:109372843234
          norrisctl post 3 --article
          norrisctl post town:109372843234 --open-link 2
          norrisctl post town:109372843234 --show
          norrisctl post town:109372843234 --json | jq -r '.post.images[].url'
        """)

    private var posts = ItemNames()
    private var isOpened = false, isShown = false, isCopied = false, isArticle = false
    /// The number of the link to open, from 1.
    private var openedLink: Int?
    private var web = WebOutput()

    mutating func declare(_ arguments: inout CommandArguments) {
        posts.declare(
            &arguments, .post, "The id, or the number in the last list. (default: the last post you were shown)")
        arguments.flag(&isArticle, "article", "Fetch the whole text from the page of the post.")
        arguments.flag(&isOpened, "open", "Open the post in a browser.")
        arguments.option(
            &openedLink, "open-link", in: 1...200, "Open the link or file with this number, such as 2 for [2].")
        arguments.flag(&isShown, "show", "Draw the images on the terminal.")
        arguments.flag(&isCopied, "copy", "Also copy the text and the address to the clipboard.")
        web.declare(&arguments)
    }

    func validate(_ settings: Settings) throws(UsageError) {
        if posts.all.count > 1 { throw UsageError("Name one post, by its id or its number.") }
        let others = [
            ("--open", isOpened), ("--open-link", openedLink != nil), ("--show", isShown), ("--copy", isCopied),
        ]
        try settings.refuseJSON(besides: others)
        try web.validate(settings, besides: others)
    }

    func run(in session: Session) throws(Failure) -> Report {
        if isShown { try session.requireTerminalToDraw(otherwise: "Print the image addresses: --json") }
        let id =
            if let name = posts.all.first {
                try session.item(name, of: .post).id
            } else {
                try session.call(RecentServed.self, RecentServed.Parameters(kind: .post), notFound: Self.hint).value.id
            }
        let reply =
            isArticle
            ? try session.with(defaultTimeout: .fetch).call(
                PostArticle.self, IDParameters(id: id), notFound: Self.hint)
            : try session.call(PostGet.self, IDParameters(id: id), notFound: Self.hint)
        let post = reply.value.post
        if web.isOn { return try web.report(WebPage.post(post, now: session.system.now), session) }
        var report = session.report(reply) { screen in
            screen.posts([post], as: .whole, now: session.system.now) { post, _ in
                isShown ? "" : Self.drawingCommand(posts.all.first, of: post, session)
            }
        }
        if isOpened {
            report.attempt { () throws(Failure) in try session.open(post.url, of: "The post") }
            if report.status == .done { session.markRead(post, &report) }
        }
        if let openedLink {
            report.attempt { () throws(Failure) in
                try session.open(try Self.link(openedLink, of: post), of: "Link \(openedLink)")
            }
        }
        if isCopied {
            report.attempt { () throws(Failure) in try session.copy(Self.copiedText(of: post)) }
        }
        if isShown {
            if post.images.isEmpty { report.add(Failure(.nothing, "The post has no image.")) }
            try session.draw(post.images.map(\.url), below: &report)
        }
        return report
    }

    private static func link(_ number: Int, of post: Post) throws(Failure) -> String {
        let links = post.links ?? []
        guard number <= links.count else {
            let count = links.isEmpty ? "no numbered links" : "only \(countText(links.count, "link"))"
            throw Failure(.nothing, "The post has \(count): there is no link \(number).")
        }
        return links[number - 1]
    }

    /// The title and the text of a post, and its address.
    static func copiedText(of post: Post) -> String {
        let text = post.text ?? ""
        let title = post.title.flatMap { text.isEmpty || !text.hasPrefix($0) ? $0 : nil }
        return [title, text, post.url].compactMap { $0 }.filter { !$0.isEmpty }.joined(separator: "\n\n")
    }

    /// The advice for an unknown post.
    static let hint: Advice = "List the posts: norrisctl feed"
}

extension PostCommand {
    /// Returns the command that draws the images of a post; empty if it would draw none.
    ///
    /// - Parameter name: the post's name on the command line; nil for the post shown last.
    static func drawingCommand(_ name: ItemName?, of post: Post, _ session: Session) -> String {
        guard session.canDrawImages(of: post) else { return "" }
        let name: [String] =
            switch name {
            case .number(let number): ["\(number)"]
            case .id(let id): id.hasPrefix("-") ? ["--id", id] : [id]
            case nil: []
            }
        let words = ["norrisctl", "post"] + optionWords(("--socket", session.settings.socket)) + name + ["--show"]
        return shellCommand(words) ?? ""
    }
}

extension Session {
    /// Marks a post as read after it was shown. A failure is reported beside the post.
    func markRead(_ post: Post, _ report: inout Report) {
        // A browser in the terminal may have used the whole time.
        let session = Session(settings: settings, system: system)
        do throws(Failure) { _ = try session.call(PostMarkRead.self, PostMarkRead.Parameters(ids: [post.id])) } catch {
            report.add(error)
        }
    }
}
