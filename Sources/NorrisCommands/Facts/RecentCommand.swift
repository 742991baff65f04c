import NorrisArguments
import NorrisProtocol
import NorrisTerminal

struct RecentCommand: SessionCommand {
    static let name = "recent"
    static let help = CommandHelp(
        "List your last searches of facts and GIFs, or repeat one.",
        """
        Keeps the last six searches for facts and GIFs.

        Tab-separated in a pipe: number, text, kind, time.

        Examples:
          norrisctl recent
          norrisctl recent 2
          norrisctl recent --clear
        """)

    private var number: Int?
    private var isClearing = false

    mutating func declare(_ arguments: inout CommandArguments) {
        arguments.positional(
            .number, "Repeat the search with this number.", takes: "a whole number", isOptional: true
        ) { assign(&number, wholeNumber($0)) }
        arguments.flag(&isClearing, "clear", "Forget all of them.")
    }

    func validate(_ settings: Settings) throws(UsageError) {
        if isClearing, number != nil { throw UsageError("--clear forgets all searches: leave out the number.") }
    }

    func run(in session: Session) throws(Failure) -> Report {
        if isClearing {
            try session.checkFormat(for: RecentClear.self)
            let reply = try session.call(RecentClear.self)
            return session.report(reply, of: "search", plural: "searches")
        }
        let reply = try session.call(RecentList.self)
        let searches = reply.value.items
        guard let number, !searches.isEmpty else {
            return session.report(reply, nothing: searches.isEmpty ? "No searches yet." : nil) {
                $0.recents(searches, now: session.system.now)
            }
        }
        guard (1...searches.count).contains(number) else {
            throw Failure(.nothing, "There is no search \(number).", hint: "List them: norrisctl recent")
        }
        let search = searches[number - 1]
        switch search.kind {
        case .fact:
            var command = SearchCommand()
            command.query = [search.query]
            return try run(command, search.query, session)
        case .gif:
            var command = GifCommand()
            command.query = [search.query]
            // A query that is a number is not the number of a GIF.
            command.page = 1
            return try run(command, search.query, session)
        default:
            throw Failure(
                .unavailable, "This norrisctl cannot search \(search.kind.rawValue)s.", hint: "Update norrisctl.")
        }
    }

    /// Runs a command. Throws if the daemon has sent a query that users cannot type.
    private func run(_ command: some SessionCommand, _ query: String, _ session: Session) throws(Failure) -> Report {
        guard (try? command.validate(session.settings)) != nil else {
            throw .unreadable("\(query.quotedForMessage) is not a valid search")
        }
        return try command.run(in: session)
    }
}
