import NorrisArguments
import NorrisProtocol
import NorrisTerminal

struct ReadCommand: SessionCommand {
    static let takesIDs = true

    /// The bytes of ids in one request, whose line may have 65,536 bytes.
    private static let bytesOfIDs = 60_000

    static let name = "read"
    static let help = CommandHelp(
        "Mark posts as read.", usage: "<id>... | --all",
        """
        Read marks are yours: other users of the machine have their own.

        Examples:
          norrisctl read town:109372843234
          norrisctl feed --author Ada | cut -f 1 | xargs -r norrisctl read
          norrisctl read --all
        """)

    private var ids: [String] = []
    private var isAll = false

    mutating func declare(_ arguments: inout CommandArguments) {
        arguments.positional(
            &ids, .unreadPost, "The ids, from the last lines of the posts in the feed.", isOptional: true)
        arguments.flag(&isAll, "all", "Mark all posts.")
    }

    func validate(_ settings: Settings) throws(UsageError) {
        if isAll, !ids.isEmpty { throw UsageError("--all marks every post: leave out the ids.") }
        if !isAll, ids.isEmpty { throw UsageError("Name posts by their ids, or mark all: norrisctl read --all.") }
    }

    func run(in session: Session) throws(Failure) -> Report {
        let requests =
            isAll ? [PostMarkRead.Parameters(all: true)] : Self.chunks(of: ids).map { PostMarkRead.Parameters(ids: $0) }
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

    /// Splits the ids into lists that each fit into a request.
    private static func chunks(of ids: [String]) -> [[String]] {
        var chunks: [[String]] = []
        var free = 0
        for id in ids {
            // Two quotation marks and a comma take 3 bytes. JSON escapes a byte with at most 6 bytes.
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
