import ArgumentParser
import NorrisProtocol
import NorrisTerminal

/// `norrisctl fact`: the next facts, the fact of the day, or one by its id.
struct FactCommand: SessionCommand {
    static let configuration = CommandConfiguration.command(
        "fact",
        abstract: "Show facts you have not seen yet.",
        usage: """
            [--category <name>]... [--count <n>] [--max-length <n>] [--name <name>] [--explicit]
            norrisctl fact --id <id> | --today
            """,
        discussion: """
            Every fact that matches comes once before any comes again.

            Examples:
              norrisctl fact
              norrisctl fact --category dev --category science --count 3
              norrisctl fact --max-length 80 --name "Grace Hopper"
              norrisctl fact --today
            """
    )

    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp("Only facts of this category; may be repeated.", valueName: "name")
    )
    var category: [String] = []

    @Option(help: ArgumentHelp("How many facts, 1 to 100.", valueName: "n"), transform: integer(1...100))
    var count: Int?

    @Option(
        help: ArgumentHelp("Only facts of at most so many characters.", valueName: "n"),
        transform: integer(1...10_000)
    )
    var maxLength: Int?

    @Option(parsing: .unconditional, help: ArgumentHelp("A name in place of Chuck Norris.", valueName: "name"))
    var name: String?

    @Option(parsing: .unconditional, help: ArgumentHelp("The fact of this id.", valueName: "id"))
    var id: String?

    @Flag(help: "The fact of the day, the same for everybody.")
    var today = false

    @Flag(help: "Let explicit facts come as well.")
    var explicit = false

    @OptionGroup(title: GlobalOptions.title) var globals: GlobalOptions

    func validate() throws {
        let choosesRandom = !category.isEmpty || count != nil || maxLength != nil || name != nil || explicit
        if id != nil, today || choosesRandom {
            throw ValidationError("--id stands alone: it names one fact.")
        }
        if today, choosesRandom {
            throw ValidationError("--today stands alone: the fact of the day is the same for everybody.")
        }
    }

    func run(in session: Session) throws(Failure) -> Report {
        if let id {
            let reply = try session.call(
                FactGet.description, IDParameters(id: id), as: FactGet.Result.self
            )
            return report(session, reply.json, [reply.value.fact], nil)
        }
        if today {
            let reply = try session.call(FactToday.description, as: FactToday.Result.self)
            return report(session, reply.json, [reply.value.fact], reply.value.freshness)
        }
        do {
            let reply = try session.call(FactRandom.description, parameters, as: FactRandom.Result.self)
            return report(session, reply.json, reply.value.items, reply.value.freshness)
        } catch {
            throw error.withCategoryHint(category, allowsExplicit: explicit)
        }
    }

    private var parameters: FactRandom.Parameters {
        FactRandom.Parameters(
            categories: category,
            count: count,
            maxLength: maxLength,
            name: name,
            allowExplicit: explicit
        )
    }

    private func report(_ session: Session, _ json: JSON, _ facts: [Fact], _ freshness: Freshness?) -> Report {
        session.report(
            json,
            isEmpty: facts.isEmpty,
            freshness: freshness,
            source: "facts",
            nothing: "No fact matches; try other categories (norrisctl categories) or a larger --max-length."
        ) { $0.facts(facts) }
    }
}

extension Failure {
    /// The hint in words of norrisctl where the daemon does not have a category or keeps it back.
    func withCategoryHint(_ categories: [String], allowsExplicit: Bool) -> Failure {
        guard response?.code == .notFound, !categories.isEmpty else { return self }
        var failure = self
        failure.hint = categories.contains("explicit") && !allowsExplicit
            ? "norrisctl fact --explicit shows explicit facts as well."
            : "norrisctl categories lists those there are."
        return failure
    }
}
