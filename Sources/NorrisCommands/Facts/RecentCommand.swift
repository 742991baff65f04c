import ArgumentParser
import NorrisProtocol
import NorrisTerminal

/// `norrisctl recent`: what the user searched for last, and one of these searches again.
struct RecentCommand: SessionCommand {
    static let configuration = CommandConfiguration.command(
        "recent", abstract: "List your last searches, or repeat one.",
        discussion: """
            Keeps the last six. Tab-separated in a pipe: number, text, kind, time.

            Examples:
              norrisctl recent
              norrisctl recent 2
              norrisctl recent --clear
            """
    )

    @Argument(help: ArgumentHelp("Repeat the search with this number.", valueName: "n")) var number: Int?
    @Flag(help: "Forget all of them.") var clear = false
    @OptionGroup(title: GlobalOptions.title) var globals: GlobalOptions

    func validate() throws {
        if clear, number != nil { throw ValidationError("--clear forgets all searches: leave out the number.") }
    }

    func run(in session: Session) throws(Failure) -> Report {
        if clear {
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
        case .fact: return try run(SearchCommand.self, search.query, session)
        case .gif: return try run(GifCommand.self, search.query, session)
        default:
            throw Failure(
                .unavailable,
                "This norrisctl cannot search \(search.kind.rawValue)s.",
                hint: "Update norrisctl."
            )
        }
    }

    /// Runs a command with a text as if it had been typed.
    private func run<Command: SessionCommand>(
        _ type: Command.Type, _ text: String, _ session: Session
    ) throws(Failure) -> Report {
        guard let command = try? type.parse(["--", text]) else {
            throw .unreadable("\(text.quotedForMessage) is no search")
        }
        return try command.run(in: session)
    }
}
