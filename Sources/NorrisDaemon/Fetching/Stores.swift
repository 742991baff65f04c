import Logging
import NorrisStore

/// All that is kept, by what it is: one of each over the two databases.
struct Stores: Sendable {
    let facts: FactStore
    let gifs: GifStore
    let posts: PostStore
    let favorites: Favorites
    let readMarks: ReadMarks
    let recents: RecentSearches
    let quota: QuotaLedger
    let fetches: FetchRecords
    let schedules: ScheduleRecords

    /// - Parameter facts: of the same databases, filled already.
    init(databases: Databases, facts: FactStore, logger: Logger) {
        self.facts = facts
        gifs = GifStore(databases: databases, logger: logger)
        readMarks = ReadMarks(databases: databases, logger: logger)
        posts = PostStore(databases: databases, logger: logger)
        favorites = Favorites(databases: databases, logger: logger)
        recents = RecentSearches(databases: databases, logger: logger)
        quota = QuotaLedger(source: GifSource.name, databases: databases, logger: logger)
        fetches = FetchRecords(databases: databases, logger: logger)
        schedules = ScheduleRecords(databases: databases, logger: logger)
    }

    /// How many items of a source are stored; answered from memory.
    func count(of source: String) -> Int {
        switch source {
        case FactSource.name: facts.count
        case GifSource.name: gifs.count
        default: posts.count(source: source)
        }
    }

    /// The cache is a new one: what was known of the old one's content does not hold.
    func forgetCache() {
        gifs.recount()
        posts.reload()
    }
}
