import NorrisArguments
import NorrisProtocol
import NorrisTerminal
import NorrisText

struct ReadCommand: SessionCommand {
    static let takesIDs = true

    static let name = "read"
    static let help = CommandHelp(
        "Mark posts as read.",
        """
        Without arguments, marks the post you were shown last; with a number, a post of your last list in any terminal.
        Read marks are yours: other users of the machine have their own.

        Examples:
          norrisctl read
          norrisctl feed && norrisctl read 1 2 5
          norrisctl read town:109372843234
          norrisctl feed --author Ada | cut -f 1 | xargs -r norrisctl read
          norrisctl read --all --source planet
          norrisctl read --all --older 7d
          norrisctl read --undo
        """)

    private var posts = ChosenPosts()
    private var isAll = false, isUndo = false
    /// In seconds.
    private var age: Int?
    private var source: String?, tag: String?

    mutating func declare(_ arguments: inout CommandArguments) {
        posts.declare(&arguments, .unreadPost)
        arguments.flag(&isAll, "all", "Mark all posts.")
        arguments.sources(&source, &tag, prefix: "With --all: only")
        arguments.age(&age, "older", "With --all: only posts that are older, such as 7d.")
        arguments.flag(&isUndo, "undo", "Undo your last mark as read, once.")
    }

    func validate(_ settings: Settings) throws(UsageError) {
        if isAll, !posts.names.isEmpty { throw UsageError("--all marks every post: leave out the ids.") }
        try refuse(source: source, tag: tag)
        let options = optionWords(("--source", source), ("--tag", tag), ("--older", age.map { "\($0)s" }))
        if isUndo, isAll || !posts.names.isEmpty || !options.isEmpty {
            throw UsageError("--undo takes no other arguments: it undoes your last mark.")
        }
        if !isAll, let option = options.first {
            let command = shellCommand(["norrisctl", "read", "--all"] + options)
            throw UsageError("\(option) is for --all\(command.map { ": \($0)" } ?? ".")")
        }
    }

    func run(in session: Session) throws(Failure) -> Report {
        try session.checkFormat(for: PostMarkRead.self)
        if isUndo {
            let reply = try session.call(PostMarkUnread.self, PostMarkUnread.Parameters(last: true))
            let isNothing = reply.value.marked == 0
            return session.report(reply, nothing: isNothing ? "Nothing to undo." : nil) {
                $0.line(markedText(reply.value.marked, as: "unread"))
            }
        }
        let before = age.map { session.system.now.advanced(by: .seconds(-$0)) }
        guard isAll else {
            return try posts.mark(session, PostMarkRead.self, as: "read") { PostMarkRead.Parameters(ids: $0) }
        }
        let reply = try session.call(
            PostMarkRead.self, PostMarkRead.Parameters(all: true, source: source, tag: tag, before: before))
        var report = session.report(reply) { $0.line(markedText(reply.value.marked, as: "read")) }
        if reply.value.marked > 0, !session.settings.json { report.hint("Undo: norrisctl read --undo") }
        return report
    }
}

struct UnreadCommand: SessionCommand {
    static let takesIDs = true

    static let name = "unread"
    static let help = CommandHelp(
        "Mark posts as unread.",
        """
        Without arguments, marks the post you were shown last; with a number, a post of your last list in any terminal.

        Examples:
          norrisctl next && norrisctl unread
          norrisctl unread 3
          norrisctl unread town:109372843234
        """)

    static func correction(of word: String) -> String? { word == "--all" ? "read --undo" : nil }

    private var posts = ChosenPosts()

    mutating func declare(_ arguments: inout CommandArguments) { posts.declare(&arguments, .post) }

    func run(in session: Session) throws(Failure) -> Report {
        try session.checkFormat(for: PostMarkUnread.self)
        return try posts.mark(session, PostMarkUnread.self, as: "unread") { PostMarkUnread.Parameters(ids: $0) }
    }
}

/// The posts that `norrisctl read` and `unread` mark: posts with ids or numbers, or the post last shown to the user.
private struct ChosenPosts {
    /// The bytes of ids in one request, whose line may have 65,536 bytes.
    private static let bytesOfIDs = 60_000

    private var chosen = ItemNames()

    var names: [ItemName] { chosen.all }

    mutating func declare(_ arguments: inout CommandArguments, _ kind: ValueKind) {
        chosen.declare(
            &arguments, kind, "The ids, or the numbers in the last list. (default: the last post you were shown)",
            isRepeating: true)
    }

    /// Marks the posts with as many requests as the ids need.
    func mark<M: Method>(
        _ session: Session, _ method: M.Type, as word: String, _ parameters: ([String]) -> M.Parameters
    ) throws(Failure) -> Report where M.Result == PostMarkRead.Result {
        var ids: [String] = []
        for name in names { ids.append(try session.item(name, of: .post).id) }
        if names.isEmpty { ids = [try last(session, word)] }
        var replies: [Reply<PostMarkRead.Result>] = []
        for chunk in Self.chunks(of: ids) {
            replies.append(try session.call(method, parameters(chunk), notFound: PostCommand.hint))
        }
        let marked = replies.reduce(0) { $0 + $1.value.marked }
        let json = replies.count == 1 ? replies[0].json : EncodedJSON(PostMarkRead.Result(marked: marked))
        return session.report(json, schema: PostMarkRead.Result.schema) { screen in
            let titles = self.titles(of: ids, session)
            let text = markedText(marked, of: Set(ids).count, as: word)
            screen.paragraph(text + (titles.isEmpty ? "" : ": \(titles)"))
        }
    }

    /// Returns the titles of a few posts that the user has not named by id: numbers belong to the last list of any
    /// terminal, which may be another list than the user sees.
    private func titles(of ids: [String], _ session: Session) -> String {
        let areIDs = names.contains { if case .id = $0 { true } else { false } }
        guard !areIDs, ids.count <= 5, !session.settings.json, session.settings.format == nil else { return "" }
        return ids.map { (session.title(of: ItemParameters(kind: .post, id: $0)) ?? $0).quotedForMessage }
            .joined(separator: ", ")
    }

    private func last(_ session: Session, _ word: String) throws(Failure) -> String {
        let hint: Advice = "Name one: norrisctl \(value: word) ID"
        return try session.call(RecentServed.self, RecentServed.Parameters(kind: .post), notFound: hint).value.id
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

/// - Parameter count: the number of posts that were named.
private func markedText(_ marked: Int, of count: Int? = nil, as word: String) -> String {
    guard marked > 0 else { return "already \(word)" }
    let others = (count ?? marked) - marked
    let text = "\(groupedDigits(marked)) marked as \(word)"
    return others > 0 ? "\(text), \(groupedDigits(others)) already \(word)" : text
}
