import ArgumentParser
import NorrisProtocol
import NorrisTerminal

/// `norrisctl read`: marks posts as read.
struct ReadCommand: SessionCommand {
    static let takesIDs = true

    /// How many bytes of ids go into one request, whose line may have 65,536.
    private static let bytesOfIDs = 60_000

    static let configuration = CommandConfiguration.command(
        "read", abstract: "Mark posts as read.", usage: "<id>... | --all",
        discussion: """
            Read marks are yours: other users of the machine have their own.

            Examples:
              norrisctl read town:109372843234
              norrisctl feed --author Ada | cut -f 1 | xargs -r norrisctl read
              norrisctl read --all
            """
    )

    @Argument(help: ArgumentHelp("The ids, from the last lines of the posts in the feed.", valueName: "id"))
    var ids: [String] = []

    @Flag(help: "Mark all posts.") var all = false
    @OptionGroup(title: GlobalOptions.title) var globals: GlobalOptions

    func validate() throws {
        if all, !ids.isEmpty { throw ValidationError("--all marks every post: leave out the ids.") }
        if !all, ids.isEmpty { throw ValidationError("Name posts by their ids, or mark all: norrisctl read --all.") }
    }

    func run(in session: Session) throws(Failure) -> Report {
        let requests = all
            ? [PostMarkRead.Parameters(all: true)] : Self.chunks(of: ids).map { PostMarkRead.Parameters(ids: $0) }
        try session.checkFormat(for: PostMarkRead.self)
        var replies: [Reply<PostMarkRead.Result>] = []
        for parameters in requests {
            replies.append(try session.call(PostMarkRead.self, parameters, notFound: PostCommand.hint))
        }
        let marked = replies.reduce(0) { $0 + $1.value.marked }
        let json: any JSONEncodable = replies.count == 1 ? replies[0].json : PostMarkRead.Result(marked: marked)
        return session.report(json, schema: PostMarkRead.Result.schema) {
            $0.line(marked > 0 ? "\(groupedDigits(marked)) marked as read" : "already read")
        }
    }

    /// The ids in lists that each fit into a request.
    private static func chunks(of ids: [String]) -> [[String]] {
        var chunks: [[String]] = []
        var free = 0
        for id in ids {
            // Quotation marks and comma; in the worst case a byte is written as six.
            let bytes = id.utf8.reduce(3) { $0 + (0x20..<0x7F ~= $1 ? 2 : 6) }
            if bytes > free {
                chunks.append([])
                free = bytesOfIDs
            }
            chunks[chunks.count - 1].append(id)
            free -= bytes
        }
        return chunks
    }
}
