import ArgumentParser
import NorrisProtocol

/// What `norrisctl favorite add` and `remove` are about: an item of an id, or the last one the user was shown.
struct FavoriteItem: ParsableArguments {
    @Argument(help: ArgumentHelp("fact, gif or post.", valueName: "kind"), transform: favoriteKind)
    var kind: String

    @Argument(help: ArgumentHelp("Its id. (default: the last one you were shown)", valueName: "id"))
    var id: String?

    /// Finds out the id where none was given.
    ///
    /// - Parameter verb: what is to be done with the item, for a hint.
    func parameters(_ session: Session, verb: String) throws(Failure) -> ItemParameters {
        let kind = Favorite.Kind(rawValue: kind)
        if let id {
            return ItemParameters(kind: kind, id: id)
        }
        do throws(Failure) {
            let reply = try session.call(
                RecentServed.self, RecentServed.Parameters(kind: kind)
            )
            return ItemParameters(kind: kind, id: reply.value.id)
        } catch {
            guard error.response?.code == .notFound else { throw error }
            var failure = error
            failure.message = "norrisd has not given you a \(self.kind) since it started."
            failure.hint = "Name one: norrisctl favorite \(verb) \(self.kind) ID"
            throw failure
        }
    }
}
