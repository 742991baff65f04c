import NorrisArguments
import NorrisProtocol

struct FavoriteCommand: CommandGroup {
    static let name = "favorite"
    static let aliases = ["fav", "favourite"]
    static let help = CommandHelp(
        "Keep facts, GIFs and posts as favorites.",
        """
        Examples:
          norrisctl favorite add fact
          norrisctl favorite list
          norrisctl favorite export > favorites.ndjson
        """)

    static func visitCommands(_ visit: (_ group: String, any SessionCommand.Type) -> Void) {
        visit("COMMANDS", FavoriteAddCommand.self)
        visit("COMMANDS", FavoriteRemoveCommand.self)
        visit("COMMANDS", FavoriteListCommand.self)
        visit("COMMANDS", FavoriteExportCommand.self)
        visit("COMMANDS", FavoriteImportCommand.self)
    }
}

/// The item of `norrisctl favorite add` and `remove`: the item with an id, or the item last shown to the user.
struct FavoriteItem {
    private var kind: Favorite.Kind?
    private var id: String?

    mutating func declare(_ arguments: inout CommandArguments, _ ids: ValueKind) {
        arguments.positional(.kind, "fact, gif or post.", choices: Favorite.Kind.words) {
            assign(&kind, Favorite.Kind(argument: $0))
        }
        arguments.positional(ids, "The id. (default: the last one you were shown)", isOptional: true) {
            assign(&id, $0)
        }
    }

    /// Asks the daemon for the item last shown if the user has given no id. `verb` is the command name in the hint.
    func parameters(_ session: Session, verb: String) throws(Failure) -> ItemParameters {
        // The kind is a required argument.
        let kind = kind ?? .fact
        if let id { return ItemParameters(kind: kind, id: id) }
        do throws(Failure) {
            let reply = try session.call(RecentServed.self, RecentServed.Parameters(kind: kind))
            return ItemParameters(kind: kind, id: reply.value.id)
        } catch {
            guard error.response?.code == .notFound else { throw error }
            var failure = error
            failure.message = "You have not been shown a \(kind.rawValue) yet."
            failure.hint = "Name one: norrisctl favorite \(verb) \(kind.rawValue) ID"
            throw failure
        }
    }
}

extension Favorite.Kind {
    static var words: [String] { all.map { $0.rawValue } }

    /// Reads a kind in the singular or the plural.
    init?(argument: String) {
        guard let kind = Self.all.first(where: { argument == $0.rawValue || argument == $0.rawValue + "s" }) else {
            return nil
        }
        self = kind
    }
}
