import NorrisArguments
import NorrisProtocol
import NorrisTerminal

struct FavoriteAddCommand: SessionCommand {
    static let takesIDs = true

    static let name = "add"
    static let help = CommandHelp(
        "Add a fact, GIF or post to your favorites.",
        """
        Favorites survive clearing the cache. Of a GIF, only id and title are kept. At most 10,000 items and
        16 MiB.

        Examples:
          norrisctl fact && norrisctl favorite add fact
          norrisctl favorite add gif bq2Nk0o7bQhhseGATA
          norrisctl favorite add fact -x_1
        """)

    private var item = FavoriteItem()

    mutating func declare(_ arguments: inout CommandArguments) { item.declare(&arguments, .newFavorite) }

    func run(in session: Session) throws(Failure) -> Report {
        try session.checkFormat(for: FavoriteAdd.self)
        let parameters = try item.parameters(session, verb: "add")
        let reply = try add(parameters, session)
        return session.report(reply) { screen in
            if reply.value.added {
                let title = title(of: parameters, session)
                screen.paragraph("added: \(title.map { "\($0) (\(parameters.id))" } ?? parameters.id)")
            } else {
                screen.paragraph("already a favorite: \(parameters.id)")
            }
        }
    }

    private func add(_ item: ItemParameters, _ session: Session) throws(Failure) -> Reply<FavoriteAdd.Result> {
        do {
            return try session.call(FavoriteAdd.self, item)
        } catch {
            switch item.kind {
            case .gif: throw error.withGifHint(session)
            case .fact: throw error.withExplicitHint
            default: throw error
            }
        }
    }

    /// Returns the title of an item just added, which is the newest of its kind, or nil if the title is unavailable.
    private func title(of item: ItemParameters, _ session: Session) -> String? {
        let newest = try? session.call(FavoriteList.self, FavoriteList.Parameters(kind: item.kind, limit: 1))
        return newest?.value.items.first { $0.id.hasSameBytes(as: item.id) && !$0.title.isEmpty }?.title
    }
}

struct FavoriteRemoveCommand: SessionCommand {
    static let takesIDs = true

    static let name = "remove"
    static let aliases = ["rm"]
    static let help = CommandHelp(
        "Remove an item from your favorites.",
        """
        Examples:
          norrisctl favorite remove gif
          norrisctl favorite remove fact builtin-8t1ie85ph93io
        """)

    private var item = FavoriteItem()

    mutating func declare(_ arguments: inout CommandArguments) { item.declare(&arguments, .favorite(nil)) }

    func run(in session: Session) throws(Failure) -> Report {
        try session.checkFormat(for: FavoriteRemove.self)
        let parameters = try item.parameters(session, verb: "remove")
        let reply = try session.call(FavoriteRemove.self, parameters)
        var report = session.report(reply, status: reply.value.removed ? .done : .nothing) {
            if reply.value.removed { $0.paragraph("removed: \(parameters.id)") }
        }
        if !reply.value.removed, !session.settings.json {
            report.note("No favorite \(parameters.kind.rawValue) has the id \(parameters.id.quotedForMessage).")
            report.hint("List them: norrisctl favorite list --kind \(parameters.kind.rawValue)")
        }
        return report
    }
}

extension Failure {
    /// Names the reason if the daemon refuses the id of an explicit fact.
    fileprivate var withExplicitHint: Failure {
        // The protocol has no code for explicit facts, so only the message differs from an unknown id.
        notFound(message.hasSuffix("\" is explicit.") ? "Explicit facts cannot be favorites." : nil)
    }
}
