import NorrisArguments
import NorrisPages
import NorrisProtocol
import NorrisTerminal

struct SearchCommand: SessionCommand {
    static let name = "search"
    static let help = CommandHelp(
        "Search the facts, the posts or your favorites.",
        """
        Finds the items that contain every word, also inside longer words, in any order and in upper or lower case.
        Quotes make a phrase: '"round house" kick'. What you search for never leaves this machine.

        A number before an item names the item in later commands: norrisctl card 2, norrisctl favorite add 2.

        In a pipe: the text of facts; --format '{id}\\t{text}' adds the id. Posts and favorites are as from
        norrisctl feed and norrisctl favorite list.

        Examples:
          norrisctl search light
          norrisctl search round house --category sport --limit 5
          norrisctl search '"round house" kick'
          norrisctl search light --page 2
          norrisctl search kernel --in posts --source planet
          norrisctl search -- -1
        """)

    static func correction(of word: String) -> String? { ["--in gif", "--in gifs"].contains(word) ? "gif WORDS" : nil }

    /// The items to search.
    private enum Content: String, CaseIterable { case facts, posts, favorites }

    var query: [String] = []
    private var content: Content?
    private var categories: [String] = []
    private var limit: Int?, page: Int?
    private var source: String?
    private var web = WebOutput()

    mutating func declare(_ arguments: inout CommandArguments) {
        arguments.positional(&query, .query, "The words to search for.", isOptional: false)
        arguments.option(
            "in", .searchedContent, "Search facts, posts or favorites. (default: facts)", choices: Content.words
        ) { assign(&content, Content(rawValue: $0)) }
        arguments.categories(&categories)
        arguments.option(
            &limit, "limit", short: "n", in: 1...100,
            "Items per page, 1 to 100. (default: 25 facts, 20 posts or 50 favorites)")
        arguments.page(&page)
        arguments.option(
            &source, "source", .searchedSource,
            "Of facts, the scope: norris, fortune or all. Of posts, the source.")
        web.declare(&arguments)
    }

    private var text: String { query.joined(separator: " ") }

    func validate(_ settings: Settings) throws(UsageError) {
        try web.validate(settings)
        if text.allSatisfy({ $0.isWhitespace }) { throw UsageError("The query is empty.") }
        let content = content ?? .facts
        if content != .facts, !categories.isEmpty {
            throw UsageError("--category is for facts: leave it out beside --in \(content.rawValue).")
        }
        if content == .favorites, source != nil {
            throw UsageError("--source is for facts and posts: leave it out beside --in favorites.")
        }
        if content == .facts, let source, FactScope(rawValue: source) == nil {
            let meant = suggestion(of: FactScope.words, for: source) { $0 }
            let rule = "it takes \(alternatives(FactScope.words)), or with --in posts a source of posts"
            throw UsageError("The value \(source.quotedForMessage) is invalid for '--source': \(rule).\(meant)")
        }
    }

    func run(in session: Session) throws(Failure) -> Report {
        let content = content ?? .facts
        let paging = Paging(
            session, page: page, limit: limit, noun: content.rawValue, command: "search",
            options: optionWords(("--in", self.content?.rawValue)) + categories.flatMap { ["--category", $0] }
                + optionWords(("--limit", limit.map(String.init)), ("--source", source)), argument: text, web: web)
        func webPage(_ next: WebPage.Position, _ freshness: Freshness? = nil) -> WebPage {
            WebPage(title: "Search: \(text)", now: session.system.now, freshness: freshness, next: next)
        }
        let now = session.system.now
        let advice: Advice = "contains \(value: text.quotedForMessage). Try fewer words, or:"
        switch content {
        case .facts:
            return try paging.report(
                FactSearch.self,
                FactSearch.Parameters(
                    query: text, categories: categories, source: source.flatMap(FactScope.init(rawValue:))),
                source: SourceStatus.facts,
                nothing: "No fact \(advice) norrisctl categories", html: { webPage($1).facts($0.items) }
            ) { $0.facts($1.items, query: text, numberedFrom: $2) }
        case .posts:
            return try paging.report(
                PostSearch.self, PostSearch.Parameters(query: text, source: source),
                source: source ?? "posts",
                nothing: "No post \(advice) norrisctl feed", html: { webPage($1, $0.freshness).posts($0.items) }
            ) { screen, page, first in
                screen.highlight(text)
                screen.feed(page.items, numberedFrom: first, session)
            }
        case .favorites:
            return try paging.report(
                FavoriteList.self, FavoriteList.Parameters(query: text), source: "",
                nothing: "No favorite \(advice) norrisctl favorite list", html: { webPage($1).favorites($0.items) }
            ) { screen, page, first in
                screen.highlight(text)
                screen.favorites(page.items, now: now, numberedFrom: first)
            }
        }
    }
}
