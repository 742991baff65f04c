import ArgumentParser
import NorrisProtocol
import NorrisTerminal

/// `norrisctl search`: the facts that contain a text.
struct SearchCommand: SessionCommand {
    static let configuration = CommandConfiguration.command(
        "search", abstract: "Search the facts.",
        usage: "<query>... [--category <name>]... [--limit <n>] [--page <n>] [--source <source>] [--offline]",
        discussion: """
            Finds the facts that contain all of the words, in any order and any case. Words in double quotes are one
            phrase.

            Examples:
              norrisctl search light
              norrisctl search round house --category sport --limit 5
              norrisctl search '"round house" kick'
              norrisctl search light --page 2
              norrisctl search --offline -- -1
            """
    )

    @Argument(help: "Words to look for.") var query: [String]
    @Option("Only facts of this category; may be repeated.", "name", short: "c") var category: [String] = []
    @Option("How many facts a page, 1 to 100.", short: "n", in: 1...100) var limit: Int?
    @Option("Which page, 1 to 10.", in: 1...Paging.lastPage) var page: Int?
    @Option(factSourceHelp, "source", factSource) var source: String?
    @Flag(help: "Do not ask the upstream.") var offline = false
    @OptionGroup(title: GlobalOptions.title) var globals: GlobalOptions

    private var text: String { query.joined(separator: " ") }

    func validate() throws {
        if text.allSatisfy(\.isWhitespace) { throw ValidationError("There is no word to look for.") }
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
            nothing: "No fact contains \(text.quotedForMessage); try a shorter text, or: norrisctl categories"
        ) { $0.facts($1.items, query: text) }
    }
}
