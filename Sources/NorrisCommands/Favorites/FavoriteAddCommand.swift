import ArgumentParser
import NorrisProtocol
import NorrisTerminal

/// `norrisctl favorite add`: keeps an item.
struct FavoriteAddCommand: SessionCommand {
    static let configuration = CommandConfiguration.command(
        "add",
        of: "favorite",
        abstract: "Keep an item.",
        usage: "<kind> [<id>]",
        discussion: """
            What is kept survives the cache; of a GIF that is its id and title. At most 10,000 items of all kinds
            and 16 MiB with their content.

            Examples:
              norrisctl fact && norrisctl favorite add fact
              norrisctl favorite add gif bq2Nk0o7bQhhseGATA
              norrisctl favorite add fact -- -x_1
            """
    )

    @OptionGroup var item: FavoriteItem

    @OptionGroup(title: GlobalOptions.title) var globals: GlobalOptions

    func run(in session: Session) throws(Failure) -> Report {
        let parameters = try item.parameters(session, verb: "add")
        let reply = try add(parameters, session)
        if session.settings.json {
            return Report(json: reply.json)
        }
        var screen = Screen(layout: session.layout)
        if reply.value.added {
            let title = title(of: parameters, session)
            screen.paragraph("kept: \(title.map { "\($0) (\(parameters.id))" } ?? parameters.id)")
        } else {
            screen.paragraph("was kept already: \(parameters.id)")
        }
        return Report(screen)
    }

    private func add(_ item: ItemParameters, _ session: Session) throws(Failure) -> Reply<FavoriteAdd.Result> {
        do {
            return try session.call(FavoriteAdd.self, item)
        } catch {
            switch item.kind {
            case .gif: throw error.withGifHint(now: session.system.now)
            case .fact: throw error.withExplicitHint
            default: throw error
            }
        }
    }

    /// What has just been kept is the newest of its kind. It is kept whether its title can be had or not.
    private func title(of item: ItemParameters, _ session: Session) -> String? {
        let newest = try? session.call(
            FavoriteList.self, FavoriteList.Parameters(kind: item.kind, limit: 1)
        )
        return newest?.value.items.first { $0.id.hasSameBytes(as: item.id) && !$0.title.isEmpty }?.title
    }
}

extension Failure {
    /// Says what becomes of explicit facts, which norrisctl shows with `--explicit`, but the daemon gives to no id.
    fileprivate var withExplicitHint: Failure {
        // Without a reason of its own, it differs from an id that is not known by the words alone.
        guard response?.code == .notFound, message.hasSuffix("\" is explicit.") else { return self }
        var failure = self
        failure.hint = "Explicit facts cannot be kept."
        return failure
    }
}
