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
              norrisctl categories | cut -f 1
            """
    )

    @OptionGroup(title: GlobalOptions.title) var globals: GlobalOptions

    func run(in session: Session) throws(Failure) -> Report {
        let reply = try session.call(FactCategories.self)
        let (items, freshness) = (reply.value.items, reply.value.freshness)
        let nothing = "No categories: there are no facts yet. See why: norrisctl status"
        return session.report(
            reply.json, freshness: freshness, source: "facts", nothing: items.isEmpty ? nothing : nil
        ) { $0.categories(items) }
    }
}
