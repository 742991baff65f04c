import ArgumentParser
import NorrisProtocol
import NorrisTerminal

/// `norrisctl post`: one post, all of it.
struct PostCommand: SessionCommand {
    static let takesIDs = true

    static let configuration = CommandConfiguration.command(
        "post", abstract: "Show a post in full.",
        discussion: """
            Shows the whole text, including content marked sensitive. The post stays unread until norrisctl read.

            --show needs chafa and curl, --open needs xdg-open. Images are exempt from the default 5s limit; an
            explicit --timeout covers the whole command.

            Tab-separated in a pipe: id, time, author, text.

            Examples:
              norrisctl post town:109372843234
              norrisctl post town:109372843234 --full
              norrisctl post town:109372843234 --show
              norrisctl post town:109372843234 --json | jq -r '.post.images[].url'
            """
    )

    @Argument(help: ArgumentHelp("The id, from the last line of the post in the feed.", valueName: "id")) var id: String
    @Flag(help: "Add the exact time, the e-mail address and the image addresses.") var full = false
    @Flag(help: "Open the post in a browser.") var open = false
    @Flag(help: "Draw the images on the terminal.") var show = false
    @OptionGroup(title: GlobalOptions.title) var globals: GlobalOptions

    func validate() throws {
        try globals.refuseJSON(besides: ("--open", open), ("--show", show))
    }

    func run(in session: Session) throws(Failure) -> Report {
        if show {
            try session.requireTerminalToDraw(otherwise: "Print the image addresses: --full")
        }
        let reply = try session.call(PostGet.self, IDParameters(id: id), notFound: Self.hint)
        let post = reply.value.post
        var report = session.report(reply) { screen in
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
    static let hint: Advice = "List the posts with their ids: norrisctl feed"

    /// The command that shows the post with an id, for a shell.
    static func command(id: String, socket: String?) -> String {
        let words = ["norrisctl", "post"] + optionWords(("--socket", socket)) + argumentWords(id)
        // What cannot be typed as it is can be seen at least.
        return shellCommand(words) ?? "norrisctl feed --full"
    }
}
