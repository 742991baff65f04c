import ArgumentParser
import NorrisProtocol
import NorrisTerminal

/// `norrisctl categories`: the categories and how many facts each has.
struct CategoriesCommand: SessionCommand {
    static let configuration = CommandConfiguration.command(
        "categories", abstract: "List the categories of facts.",
        discussion: """
            Shows how many facts each category has. Tab-separated in a pipe: name, count.

            Examples:
              norrisctl categories
              norrisctl categories --source norris | cut -f 1
            """
    )

    @Option(factSourceHelp, "source", factSource) var source: String?
    @OptionGroup(title: GlobalOptions.title) var globals: GlobalOptions

    func run(in session: Session) throws(Failure) -> Report {
        let parameters = FactCategories.Parameters(source: source.flatMap(FactScope.init(rawValue:)))
        let reply = try session.call(FactCategories.self, parameters)
        let (items, freshness) = (reply.value.items, reply.value.freshness)
        let nothing = "No categories: there are no facts yet. See why: norrisctl status"
        return session.report(
            reply, freshness: freshness, source: "facts", nothing: items.isEmpty ? nothing : nil
        ) { $0.categories(items) }
    }
}
