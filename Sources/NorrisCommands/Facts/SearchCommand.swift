import ArgumentParser
import NorrisProtocol
import NorrisTerminal

/// `norrisctl search`: the facts that contain a text.
struct SearchCommand: SessionCommand {
    static let configuration = CommandConfiguration.command(
        "search", abstract: "Search the facts for a text.",
        usage: "<query>... [--category <name>] [--limit <n>] [--page <n>] [--offline]",
        discussion: """
            The words are looked for as one text, capital letters or not; no character is special.

            Examples:
              norrisctl search light
              norrisctl search round house --category sport --limit 5
              norrisctl search light --page 2
              norrisctl search --offline -- -1
            """
    )

    @Argument(help: "What to look for; several words are one text.") var query: [String]

    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp("Only facts of this category; may be repeated.", valueName: "name")
    )
    var category: [String] = []

    @Option(help: ArgumentHelp("How many facts a page, 1 to 100.", valueName: "n"), transform: integer(1...100))
    var limit: Int?

    @Option(help: ArgumentHelp("Which page, 1 to 10.", valueName: "n"), transform: integer(1...Paging.lastPage))
    var page: Int?

    @Flag(help: "Do not ask the upstream.") var offline = false

    @OptionGroup(title: GlobalOptions.title) var globals: GlobalOptions

    private var text: String { query.joined(separator: " ") }

    func validate() throws {
        if text.isEmpty { throw ValidationError("The text to look for is empty.") }
    }

    func run(in session: Session) throws(Failure) -> Report {
        try FactTextSearch(text: text, categories: category, limit: limit, page: page ?? 1, offline: offline)
            .report(session)
    }
}

/// A page of a search for facts: what `norrisctl search` does, and `norrisctl recent` again.
struct FactTextSearch {
    var text: String
    var categories: [String] = []
    var limit: Int?
    /// From 1.
    var page = 1
    var offline = false

    func report(_ session: Session) throws(Failure) -> Report {
        let command = ["search"] + optionWords(("--socket", session.settings.socket))
            + categories.flatMap { ["--category", $0] } + optionWords(("--limit", limit.map(String.init)))
            + (offline ? ["--offline"] : [])
        return try Paging(number: page, noun: "facts", command: (command, argumentWords(text))).report(
            session, source: "facts",
            nothing: "No fact contains \(text.quotedForMessage); try a shorter text, or: norrisctl categories",
            call: { (cursor) throws(Failure) in try call(session, cursor: cursor) }, show: { $0.facts($1) }
        )
    }

    private func call(_ session: Session, cursor: String?) throws(Failure) -> Reply<FactSearch.Result> {
        let parameters = FactSearch.Parameters(
            query: text,
            categories: categories,
            limit: limit,
            cursor: cursor,
            offline: offline
        )
        do {
            return try session.call(FactSearch.self, parameters)
        } catch {
            throw error.withCategoryHint(categories, allowsExplicit: false)
        }
    }
}
