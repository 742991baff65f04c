import ArgumentParser

/// `norrisctl favorite`: the commands about what the user keeps.
struct FavoriteCommand: SessionCommand {
    static let configuration = CommandConfiguration.command(
        "favorite",
        abstract: "Keep facts, GIFs and posts.",
        usage: "<command>",
        discussion: """
            Examples:
              norrisctl favorite add fact
              norrisctl favorite list
              norrisctl favorite export > favourites.ndjson
            """,
        subcommands: [
            FavoriteAddCommand.self, FavoriteRemoveCommand.self, FavoriteListCommand.self, FavoriteExportCommand.self,
            FavoriteImportCommand.self,
        ]
    )

    @OptionGroup(title: GlobalOptions.title) var globals: GlobalOptions

    func run(in session: Session) throws(Failure) -> Report {
        throw Failure(
            .usage,
            "favorite needs a word behind it: add, remove, list, export or import.",
            hint: "norrisctl favorite --help shows what they do."
        )
    }
}
