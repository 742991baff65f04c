import NorrisArguments
import NorrisProtocol
import NorrisTerminal

struct CategoriesCommand: SessionCommand {
    static let name = "categories"
    static let help = CommandHelp(
        "List the categories of facts.",
        """
        Shows how many facts each category has.

        Tab-separated in a pipe: name, count.

        Examples:
          norrisctl categories
          norrisctl categories --source norris | cut -f 1
        """)

    private var source: FactScope?

    mutating func declare(_ arguments: inout CommandArguments) { arguments.factSource(&source) }

    func run(in session: Session) throws(Failure) -> Report {
        let reply = try session.call(FactCategories.self, FactCategories.Parameters(source: source))
        let (items, freshness) = (reply.value.items, reply.value.freshness)
        let nothing: Advice = "No categories: there are no facts yet. See why: norrisctl status"
        return session.report(
            reply, freshness: freshness, source: SourceStatus.facts, nothing: items.isEmpty ? nothing : nil
        ) { $0.categories(items) }
    }
}
