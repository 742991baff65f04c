import NorrisArguments
import NorrisProtocol
import NorrisTerminal

struct PostCommand: SessionCommand {
    static let takesIDs = true

    static let name = "post"
    static let help = CommandHelp(
        "Show a post in full.",
        """
        Shows the whole text, including content marked sensitive. The post stays unread until norrisctl read.

        --show needs chafa and curl, --open needs xdg-open. Images are exempt from the default 5s limit; an
        explicit --timeout covers the whole command.

        Tab-separated in a pipe: id, time, author, text.

        Examples:
          norrisctl post town:109372843234
          norrisctl post town:109372843234 --full
          norrisctl post town:109372843234 --show
          norrisctl post town:109372843234 --json | jq -r '.post.images[].url'
        """)

    private var id = ""
    private var isFull = false, isOpened = false, isShown = false

    mutating func declare(_ arguments: inout CommandArguments) {
        arguments.positional(&id, .post, "The id, from the last line of the post in the feed.")
        arguments.flag(&isFull, "full", "Add the exact time, the e-mail address and the image addresses.")
        arguments.flag(&isOpened, "open", "Open the post in a browser.")
        arguments.flag(&isShown, "show", "Draw the images on the terminal.")
    }

    func validate(_ settings: Settings) throws(UsageError) {
        try settings.refuseJSON(besides: [("--open", isOpened), ("--show", isShown)])
    }

    func run(in session: Session) throws(Failure) -> Report {
        if isShown { try session.requireTerminalToDraw(otherwise: "Print the image addresses: --full") }
        let reply = try session.call(PostGet.self, IDParameters(id: id), notFound: Self.hint)
        let post = reply.value.post
        var report = session.report(reply) { screen in
            screen.posts([post], now: session.system.now, showsAll: true) { _ in "" }
            if isFull { screen.details(of: post, time: post.publishedAt.map(session.system.localTime)) }
        }
        if isOpened {
            report.attempt { () throws(Failure) in try session.open(post.url, of: "The post") }
        }
        if isShown {
            if post.images.isEmpty { report.add(Failure(.nothing, "The post has no image.")) }
            try session.draw(post.images.map(\.url), below: &report)
        }
        return report
    }

    /// The advice for an unknown post.
    static let hint: Advice = "List the posts with their ids: norrisctl feed"

    static func command(id: String, socket: String?) -> String {
        let words = ["norrisctl", "post"] + optionWords(("--socket", socket)) + argumentWords(id)
        // A user who cannot type the id can see the post in the feed.
        return shellCommand(words) ?? "norrisctl feed --full"
    }
}
