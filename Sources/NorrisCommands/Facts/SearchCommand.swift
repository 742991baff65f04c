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
    @Option("Only facts of this category; may be repeated.", "name") var category: [String] = []
    @Option("How many facts a page, 1 to 100.", in: 1...100) var limit: Int?
    @Option("Which page, 1 to 10.", in: 1...Paging.lastPage) var page: Int?
    @Flag(help: "Do not ask the upstream.") var offline = false
    @OptionGroup(title: GlobalOptions.title) var globals: GlobalOptions

    private var text: String { query.joined(separator: " ") }

    func validate() throws {
        if text.isEmpty { throw ValidationError("The text to look for is empty.") }
    }

    func run(in session: Session) throws(Failure) -> Report {
        let options = category.flatMap { ["--category", $0] } + optionWords(("--limit", limit.map(String.init)))
            + flagWords([("--offline", offline)])
        let paging = Paging(
            session, page: page, limit: limit, noun: "facts", command: "search", options: options, argument: text
        )
        return try paging.report(
            FactSearch.self, FactSearch.Parameters(query: text, categories: category, offline: offline),
            notFound: categoryHint(category), source: "facts",
            nothing: "No fact contains \(text.quotedForMessage); try a shorter text, or: norrisctl categories"
        ) { $0.facts($1.items) }
    }
}
