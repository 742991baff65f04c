import NorrisArguments
import NorrisProtocol
import NorrisTerminal

struct SearchCommand: SessionCommand {
    static let name = "search"
    static let help = CommandHelp(
        "Search the facts.",
        """
        Finds the facts that contain every word, in any order and in upper or lower case. Quotes make a phrase:
        '"round house" kick'. If the stored facts are out of date, the upstream is asked first.

        Examples:
          norrisctl search light
          norrisctl search round house --category sport --limit 5
          norrisctl search '"round house" kick'
          norrisctl search light --page 2
          norrisctl search --offline -- -1
        """)

    var query: [String] = []
    private var categories: [String] = []
    private var limit: Int?, page: Int?
    private var source: FactScope?
    private var isOffline = false

    mutating func declare(_ arguments: inout CommandArguments) {
        arguments.positional(&query, .query, "The words to search for.", isOptional: false)
        arguments.categories(&categories)
        arguments.option(&limit, "limit", short: "n", in: 1...100, "Facts per page, 1 to 100. (default: 25)")
        arguments.page(&page)
        arguments.factSource(&source)
        arguments.flag(&isOffline, "offline", "Search the cache only.")
    }

    private var text: String { query.joined(separator: " ") }

    func validate(_ settings: Settings) throws(UsageError) {
        if text.allSatisfy(\.isWhitespace) { throw UsageError("The query is empty.") }
    }

    func run(in session: Session) throws(Failure) -> Report {
        let options =
            categories.flatMap { ["--category", $0] }
            + optionWords(("--limit", limit.map(String.init)), ("--source", source?.rawValue))
            + flagWords([("--offline", isOffline)])
        let paging = Paging(
            session, page: page, limit: limit, noun: "facts", command: "search", options: options, argument: text)
        return try paging.report(
            FactSearch.self,
            FactSearch.Parameters(query: text, categories: categories, offline: isOffline, source: source),
            notFound: session.categoryHint(categories), source: SourceStatus.facts,
            nothing: "No fact contains \(text.quotedForMessage). Try fewer words, or: norrisctl categories"
        ) { $0.facts($1.items, query: text) }
    }
}
