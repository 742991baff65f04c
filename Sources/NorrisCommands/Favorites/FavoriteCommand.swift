import NorrisArguments
import NorrisProtocol

struct FavoriteCommand: SessionCommand {
    static let name = "favorite"
    static let aliases = ["fav", "favourite"]
    static let help = CommandHelp(
        "Keep facts, GIFs and posts as favorites.", usage: "[<command>] [options]",
        """
        Without a command, lists the favorites.

        Examples:
          norrisctl fact && norrisctl favorite add
          norrisctl favorite list
          norrisctl favorite export > favorites.ndjson
        """)

    static var groups: [(title: String, commands: [any SessionCommand.Type])] {
        [
            (
                "COMMANDS",
                [
                    FavoriteAddCommand.self, FavoriteRemoveCommand.self, FavoriteListCommand.self,
                    FavoriteExportCommand.self, FavoriteImportCommand.self,
                ]
            )
        ]
    }

    func run(in session: Session) throws(Failure) -> Report { try FavoriteListCommand().run(in: session) }
}

/// The item of `norrisctl favorite add` and `remove`: an item with an id or a number, or the item last shown to the
/// user.
struct FavoriteItem {
    private var kind: Favorite.Kind?
    private var names = ItemNames()

    mutating func declare(_ arguments: inout CommandArguments, _ ids: ValueKind) {
        arguments.positional(
            .kind, "fact, gif or post; may be left out.", isOptional: true
        ) { word in
            kind = Favorite.Kind(argument: word)
            if kind == nil { names.add(word) }
            return true
        }
        names.declare(
            &arguments, ids, "The id, or the number in the last list. (default: the last one you were shown)")
    }

    func validate() throws(UsageError) {
        if names.all.count > 1 { throw UsageError("Name one item, as KIND ID or with its number.") }
    }

    /// Returns the items that the arguments may mean, in the order to try: an id without a kind may be of any kind.
    /// `verb` is the command name in the hint.
    func candidates(_ session: Session, verb: String) throws(Failure) -> [ItemParameters] {
        switch names.all.first {
        case .id(let id)?: return (kind.map { [$0] } ?? Favorite.Kind.all).map { ItemParameters(kind: $0, id: id) }
        case let number?: return [try session.item(number, of: kind ?? RecentServed.anyKind)]
        case nil: return [try last(session, verb: verb)]
        }
    }

    private func last(_ session: Session, verb: String) throws(Failure) -> ItemParameters {
        do throws(Failure) {
            let kind = kind ?? RecentServed.anyKind
            let item = try session.call(RecentServed.self, RecentServed.Parameters(kind: kind)).value
            return ItemParameters(kind: item.kind ?? kind, id: item.id)
        } catch {
            guard error.response?.code == .notFound else { throw error }
            var failure = error
            failure.message = "You have not been shown \(kind.map { "a \($0.rawValue)" } ?? "an item") yet."
            failure.hint = "Name one: norrisctl favorite \(value: verb) \(value: kind?.rawValue ?? "KIND") ID"
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
