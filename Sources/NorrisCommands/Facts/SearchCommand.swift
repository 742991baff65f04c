import ArgumentParser
import NorrisProtocol
import NorrisTerminal

/// `norrisctl search`: the facts that contain a text.
struct SearchCommand: SessionCommand {
    static let configuration = CommandConfiguration.command(
        "search", abstract: "Search the facts.",
        discussion: """
            Finds the facts that contain every word, in any order and in upper or lower case. Quotes make a phrase:
            '"round house" kick'. If the stored facts are out of date, the upstream is asked first.

            Examples:
              norrisctl search light
              norrisctl search round house --category sport --limit 5
              norrisctl search '"round house" kick'
              norrisctl search light --page 2
              norrisctl search --offline -- -1
            """
    )

    @Argument(help: "The words to search for.") var query: [String]
    @Option("Only facts of this category. May be repeated.", "name", short: "c") var category: [String] = []
    @Option("Facts per page, 1 to 100. (default: 25)", short: "n", in: 1...100) var limit: Int?
    @Option("Page number, 1 to 10.", in: 1...Paging.lastPage) var page: Int?
    @Option(factSourceHelp, "source", factSource) var source: String?
    @Flag(help: "Search the cache only.") var offline = false
    @OptionGroup(title: GlobalOptions.title) var globals: GlobalOptions

    private var text: String { query.joined(separator: " ") }

    func validate() throws {
        if text.allSatisfy(\.isWhitespace) { throw ValidationError("The query is empty.") }
    }

    func run(in session: Session) throws(Failure) -> Report {
        let options = category.flatMap { ["--category", $0] }
            + optionWords(("--limit", limit.map(String.init)), ("--source", source))
            + flagWords([("--offline", offline)])
        let paging = Paging(
            session, page: page, limit: limit, noun: "facts", command: "search", options: options, argument: text
        )
        return try paging.report(
            FactSearch.self,
            FactSearch.Parameters(
                query: text, categories: category, offline: offline, source: source.flatMap(FactScope.init(rawValue:))
            ),
            notFound: categoryHint(category), source: "facts",
            nothing: "No fact contains \(text.quotedForMessage). Try fewer words, or: norrisctl categories"
        ) { $0.facts($1.items, query: text) }
    }
}
