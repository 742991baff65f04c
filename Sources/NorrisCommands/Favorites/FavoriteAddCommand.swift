import NorrisArguments
import NorrisProtocol
import NorrisTerminal
import NorrisText

struct FavoriteAddCommand: SessionCommand {
    static let takesIDs = true

    static let name = "add"
    static let help = CommandHelp(
        "Add a fact, GIF or post to your favorites.",
        """
        Without arguments, adds the last item you were shown; with a number, an item of your last list in any
        terminal. An id without a kind is of a fact or a post.

        Favorites survive clearing the cache. Of a GIF, only id and title are kept. At most
        \(groupedDigits(FavoriteList.maximum)) items and \(FavoriteList.maximumBytes >> 20) MiB.

        Examples:
          norrisctl fact && norrisctl favorite add
          norrisctl feed && norrisctl favorite add 3
          norrisctl favorite add gif bq2Nk0o7bQhhseGATA
          norrisctl favorite add fact -x_1
        """)

    private var item = FavoriteItem()

    mutating func declare(_ arguments: inout CommandArguments) { item.declare(&arguments, .newFavorite) }

    func validate(_ settings: Settings) throws(UsageError) { try item.validate() }

    func run(in session: Session) throws(Failure) -> Report {
        try session.checkFormat(for: FavoriteAdd.self)
        let (parameters, reply) = try add(item.candidates(session, verb: "add"), session)
        return session.report(reply) { screen in
            let title = (session.title(of: parameters) ?? parameters.id).quotedForMessage
            screen.paragraph(reply.value.added ? "added \(title)" : "already a favorite: \(title)")
        }
    }

    /// Adds the first item that exists. A GIF is only added if the user names the kind, because its id may be sent to
    /// Giphy.
    private func add(
        _ items: [ItemParameters], _ session: Session
    ) throws(Failure) -> (ItemParameters, Reply<FavoriteAdd.Result>) {
        let tried = items.count > 1 ? items.filter { $0.kind != .gif } : items
        for item in tried {
            do throws(Failure) { return (item, try add(item, session)) } catch {
                guard tried.count > 1, error.response?.code == .notFound, !error.isAboutExplicitFact else {
                    throw error
                }
            }
        }
        let id = items[0].id
        let command = shellCommand(["norrisctl", "favorite", "add", "gif"] + argumentWords(id))
        throw Failure(
            .nothing, "There is no fact and no post with the id \(id.quotedForMessage).",
            hint: command.map { "If it is a GIF: \(command: $0)" })
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
}

struct FavoriteRemoveCommand: SessionCommand {
    static let takesIDs = true

    static let name = "remove"
    static let aliases = ["rm"]
    static let help = CommandHelp(
        "Remove an item from your favorites.",
        """
        Without arguments, removes the last item you were shown; with a number, an item of your last list in any
        terminal. An id without a kind may be of any kind.

        Examples:
          norrisctl favorite remove
          norrisctl favorite list && norrisctl favorite remove 2
          norrisctl favorite remove fact builtin-8t1ie85ph93io
        """)

    private var item = FavoriteItem()

    mutating func declare(_ arguments: inout CommandArguments) { item.declare(&arguments, .favorite(nil)) }

    func validate(_ settings: Settings) throws(UsageError) { try item.validate() }

    func run(in session: Session) throws(Failure) -> Report {
        try session.checkFormat(for: FavoriteRemove.self)
        let items = try item.candidates(session, verb: "remove")
        var parameters = items[0]
        var reply = try session.call(FavoriteRemove.self, parameters)
        for item in items.dropFirst() where !reply.value.removed {
            parameters = item
            reply = try session.call(FavoriteRemove.self, parameters)
        }
        let (kind, id, isRemoved) = (parameters.kind, parameters.id, reply.value.removed)
        var report = session.report(reply, status: isRemoved ? .done : .nothing) {
            guard isRemoved else { return }
            let command = shellCommand(["norrisctl", "favorite", "add", kind.rawValue] + argumentWords(id))
            let undo = command.map { " Undo: \(command: $0)" as Advice } ?? ""
            $0.paragraph("removed \((reply.value.title ?? id).quotedForMessage).\(session.text(undo))")
        }
        if !isRemoved, !session.settings.json {
            let kind = items.count == 1 ? parameters.kind.rawValue : nil
            let noun = ["favorite", kind].compactMap { $0 }.joined(separator: " ")
            report.note("No \(value: noun) has the id \(value: id.quotedForMessage).")
            report.hint("List them: norrisctl favorite list\(value: kind.map { " --kind \($0)" } ?? "")")
        }
        return report
    }
}

extension Failure {
    /// Names the reason if the daemon refuses the id of an explicit fact.
    fileprivate var withExplicitHint: Failure {
        notFound(isAboutExplicitFact ? "Explicit facts cannot be favorites." : nil)
    }

    fileprivate var isAboutExplicitFact: Bool { response?.detail("category") == Fact.explicitCategory }
}
