import Synchronization

/// The categories of api.chucknorris.io: known names, whether or not a fact of theirs is stored.
final class KnownCategories: Sendable {
    /// Those it has had for years; `/jokes/categories` may tell of more.
    private static let lasting: Set<String> = [
        "animal", "career", "celebrity", "dev", "explicit", "fashion", "food", "history",
        "money", "movie", "music", "political", "religion", "science", "sport", "travel",
    ]

    private let told = Mutex<Set<String>>([])

    func contains(_ name: String) -> Bool {
        KnownCategories.lasting.contains(name) || told.withLock { $0.contains(name) }
    }

    /// Takes over what the upstream tells; an empty list tells nothing.
    func learn(_ names: [String]) {
        if !names.isEmpty { told.withLock { $0 = Set(names) } }
    }
}
