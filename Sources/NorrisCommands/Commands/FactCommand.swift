import ArgumentParser

/// `norrisctl fact`: the next facts, the fact of the day, or one by its id.
struct FactCommand: SessionCommand {
    static let configuration = CommandConfiguration.command(
        "fact",
        abstract: "Show facts you have not seen yet.",
        usage: """
            [--category <name>]... [--count <n>] [--max-length <n>] [--name <name>] [--explicit] [--copy]
            norrisctl fact --id <id> | --today [--copy]
            """,
        discussion: """
            Every fact that matches comes once before any comes again.

            Examples:
              norrisctl fact
              norrisctl fact --category dev --category science --count 3
              norrisctl fact --max-length 80 --name "Grace Hopper"
              norrisctl fact --today --copy
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

    @Flag(help: "Copy the fact to the clipboard as well.")
    var copy = false

    @OptionGroup(title: GlobalOptions.title) var globals: GlobalOptions

    var request: FactRequest {
        FactRequest(
            categories: category,
            count: count,
            maxLength: maxLength,
            name: name,
            id: id,
            isToday: today,
            allowsExplicit: explicit,
            isCopied: copy
        )
    }

    func validate() throws {
        if let contradiction = request.contradiction {
            throw ValidationError(contradiction)
        }
        try globals.check(handovers: copy ? [.copy] : [])
    }

    func run(in session: Session) throws(Failure) -> Report {
        try request.report(session)
    }
}
