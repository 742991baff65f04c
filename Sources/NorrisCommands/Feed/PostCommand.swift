import ArgumentParser
import NorrisProtocol
import NorrisTerminal

/// `norrisctl post`: one post, all of it.
struct PostCommand: SessionCommand {
    static let takesIDs = true

    static let configuration = CommandConfiguration.command(
        "post", abstract: "Show a post in full.", usage: "<id> [--full] [--open] [--show]",
        discussion: """
            Neither is its text cut, nor is what is sensitive held back. It stays unread until norrisctl read.
            To a pipe it is one line: an id, a tab, a time, a tab, an author, a tab and a text.
            --show draws with chafa what curl fetches, over https alone; --open takes xdg-open. A picture may take
            longer than the 5s of all else, unless --timeout is given, which is for all.

            Examples:
              norrisctl post town:109372843234
              norrisctl post town:109372843234 --full
              norrisctl post town:109372843234 --show
              norrisctl post town:109372843234 --json | jq -r '.post.images[].url'
            """
    )

    @Argument(help: ArgumentHelp("The post's id, which stands below it in the feed.", valueName: "id")) var id: String
    @Flag(help: "Add the exact time, the e-mail address, and the addresses of all images.") var full = false
    @Flag(help: "Open the post in a browser.") var open = false
    @Flag(help: "Draw its images on the terminal.") var show = false
    @OptionGroup(title: GlobalOptions.title) var globals: GlobalOptions

    func validate() throws {
        try globals.refuseJSON(besides: ("--open", open), ("--show", show))
    }

    func run(in session: Session) throws(Failure) -> Report {
        if show {
            try session.requireTerminalToDraw(otherwise: "--json gives the addresses of the images.")
        }
        let reply = try session.call(PostGet.self, IDParameters(id: id), notFound: Self.hint)
        let post = reply.value.post
        var report = session.report(reply.json) { screen in
            screen.posts([post], now: session.system.now, showsAll: true) { _ in "" }
            if full { screen.details(of: post, time: post.publishedAt.map(session.system.localTime)) }
        }
        if open {
            report.attempt { () throws(Failure) in try session.open(post.url, of: "The post") }
        }
        if show {
            if post.images.isEmpty { report.add(Failure(.nothing, "The post has no image.")) }
            try session.draw(post.images.map(\.url), below: &report)
        }
        return report
    }

    /// What to do where there is no such post.
    static let hint: Advice = "norrisctl feed shows those there are, with their ids."

    /// The command that shows the post with an id, for a shell.
    static func command(id: String, socket: String?) -> String {
        let words = ["norrisctl", "post"] + optionWords(("--socket", socket)) + argumentWords(id)
        // What cannot be typed as it is can be seen at least.
        return shellCommand(words) ?? "norrisctl feed --full"
    }
}
