import ArgumentParser
import NorrisProtocol

/// `norrisctl favorite`: the commands about favorites.
struct FavoriteCommand: SessionCommand {
    static let configuration = CommandConfiguration.command(
        "favorite", abstract: "Keep facts, GIFs and posts.", usage: "<command>",
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
            .usage, "favorite needs a word behind it: add, remove, list, export or import.",
            hint: "norrisctl favorite --help shows what they do."
        )
    }
}

/// What `norrisctl favorite add` and `remove` are about: an item of an id, or the last one the user was shown.
struct FavoriteItem: ParsableArguments {
    @Argument(help: ArgumentHelp("fact, gif or post.", valueName: "kind"), transform: favoriteKind) var kind: String
    @Argument(help: ArgumentHelp("Its id. (default: the last one you were shown)", valueName: "id")) var id: String?

    /// Finds out the id where none was given.
    ///
    /// - Parameter verb: what is to be done with the item, for a hint.
    func parameters(_ session: Session, verb: String) throws(Failure) -> ItemParameters {
        let kind = Favorite.Kind(rawValue: kind)
        if let id { return ItemParameters(kind: kind, id: id) }
        do throws(Failure) {
            let reply = try session.call(
                RecentServed.self, RecentServed.Parameters(kind: kind)
            )
            return ItemParameters(kind: kind, id: reply.value.id)
        } catch {
            guard error.response?.code == .notFound else { throw error }
            var failure = error
            failure.message = "norrisd has shown you no \(self.kind) yet."
            failure.hint = "Name one: norrisctl favorite \(verb) \(self.kind) ID"
            throw failure
        }
    }
}

/// Reads a kind of favorite, in the singular or the plural, and returns the singular.
///
/// It stays a text: each further type of option costs every start the making of its metadata.
@Sendable
func favoriteKind(_ text: String) throws -> String {
    guard let kind = Favorite.Kind.all.map(\.rawValue).first(where: { text == $0 || text == $0 + "s" }) else {
        throw ValidationError("it takes fact, gif or post.")
    }
    return kind
}
