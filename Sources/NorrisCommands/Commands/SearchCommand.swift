import ArgumentParser
import NorrisProtocol
import NorrisTerminal

/// `norrisctl search`: the facts that contain a text.
struct SearchCommand: SessionCommand {
    static let configuration = CommandConfiguration.command(
        "search",
        abstract: "Search the facts for a text.",
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

    @Argument(help: "What to look for; several words are one text.")
    var query: [String]

    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp("Only facts of this category; may be repeated.", valueName: "name")
    )
    var category: [String] = []

    @Option(help: ArgumentHelp("How many facts a page, 1 to 100.", valueName: "n"), transform: integer(1...100))
    var limit: Int?

    @Option(help: ArgumentHelp("Which page, 1 to 10.", valueName: "n"), transform: integer(1...Paging.lastPage))
    var page: Int?

    @Flag(help: "Do not ask the upstream.")
    var offline = false

    @OptionGroup(title: GlobalOptions.title) var globals: GlobalOptions

    private var text: String { query.joined(separator: " ") }

    func validate() throws {
        if text.isEmpty {
            throw ValidationError("The text to look for is empty.")
        }
    }

    func run(in session: Session) throws(Failure) -> Report {
        try Paging(number: page ?? 1, noun: "facts", command: command).report(
            session,
            source: "facts",
            nothing: "No fact contains \(text.quotedForMessage); try a shorter text, or: norrisctl categories",
            call: { (cursor) throws(Failure) in try call(session, cursor: cursor) },
            show: { $0.facts($1) }
        )
    }

    private func call(_ session: Session, cursor: String?) throws(Failure) -> Reply<FactSearch.Result> {
        let parameters = FactSearch.Parameters(
            query: text,
            categories: category,
            limit: limit,
            cursor: cursor,
            offline: offline
        )
        do {
            return try session.call(FactSearch.description, parameters, as: FactSearch.Result.self)
        } catch {
            throw error.withCategoryHint(category, allowsExplicit: false)
        }
    }

    /// The command that shows a page of this search, for a shell; nil if the text cannot be shown as it is.
    private func command(page: Int) -> String? {
        var words = ["norrisctl", "search"]
        if let socket = globals.socket {
            words += ["--socket", socket]
        }
        for name in category {
            words += ["--category", name]
        }
        if let limit {
            words += ["--limit", "\(limit)"]
        }
        if offline {
            words.append("--offline")
        }
        words += ["--page", "\(page)"]
        if text.utf8.first == UInt8(ascii: "-") {
            words.append("--")
        }
        words.append(text)
        return shellCommand(words)
    }
}
