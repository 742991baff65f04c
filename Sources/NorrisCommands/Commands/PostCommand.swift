import ArgumentParser
import NorrisProtocol
import NorrisTerminal

/// `norrisctl post`: one post, all of it.
struct PostCommand: SessionCommand {
    static let configuration = CommandConfiguration.command(
        "post",
        abstract: "Show a post in full.",
        usage: "<id> [--full]",
        discussion: """
            Neither is its text cut, nor is what is sensitive held back. It stays unread until norrisctl read.
            To a pipe it is one line: an id, a tab, a time, a tab, an author, a tab and a text.

            Examples:
              norrisctl post town:109372843234
              norrisctl post town:109372843234 --full
              norrisctl post town:109372843234 --json | jq -r '.post.images[].url'
            """
    )

    @Argument(help: ArgumentHelp("The post's id, which stands below it in the feed.", valueName: "id"))
    var id: String

    @Flag(help: "Add the exact time, the e-mail address, and the addresses of all images.")
    var full = false

    @OptionGroup(title: GlobalOptions.title) var globals: GlobalOptions

    func run(in session: Session) throws(Failure) -> Report {
        let reply: Reply<PostGet.Result>
        do {
            reply = try session.call(PostGet.description, IDParameters(id: id), as: PostGet.Result.self)
        } catch {
            guard error.response?.code == .notFound else { throw error }
            var failure = error
            failure.hint = "norrisctl feed shows those there are, with their ids."
            throw failure
        }
        let post = reply.value.post
        return session.report(reply.json, isEmpty: false, freshness: nil, source: post.source, nothing: "") { screen in
            screen.posts([post], now: session.system.now, showsAll: true) { _ in "" }
            if full {
                screen.details(of: post)
            }
        }
    }

    /// The command that shows the post with an id, for a shell.
    static func command(id: String, socket: String?) -> String {
        var words = ["norrisctl", "post"]
        if let socket {
            words += ["--socket", socket]
        }
        words += id.utf8.first == UInt8(ascii: "-") ? ["--", id] : [id]
        // What cannot be typed as it is can be seen at least.
        return shellCommand(words) ?? "norrisctl feed --full"
    }
}
