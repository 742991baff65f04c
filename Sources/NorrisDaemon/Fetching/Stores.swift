import NorrisPrefetch
import NorrisProtocol
import NorrisServer
import NorrisStore

/// All that is stored, by what it is: one of each over the two databases.
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
    init(databases: Databases, facts: FactStore) {
        self.facts = facts
        gifs = GifStore(databases: databases)
        readMarks = ReadMarks(databases: databases)
        posts = PostStore(databases: databases)
        favorites = Favorites(databases: databases)
        recents = RecentSearches(databases: databases)
        quota = QuotaLedger(source: GifSource.name, databases: databases)
        fetches = FetchRecords(databases: databases)
        schedules = ScheduleRecords(databases: databases)
    }

    /// How many items of a source are stored; from memory.
    func count(of source: String) -> Int {
        switch source {
        case FactSource.name: facts.count
        case GifSource.name: gifs.count
        default: posts.count(source: source)
        }
    }

    /// The cache was recreated: what was known of the old one's content does not hold.
    func forgetCache() {
        gifs.recount()
        posts.reload()
    }
}

/// Joins the schedule to the databases that hold its records, and to the clients and the status line that show it.
struct ScheduleHost: PrefetchHost {
    let stores: Stores
    let events: EventHub
    let changes: WakeSignal

    func history(of source: String) -> SourceSchedule.History {
        let content = stores.fetches.record(of: source).map {
            SourceSchedule.Content(settings: $0.settings, fetchedAt: $0.fetchedAt)
        }
        return SourceSchedule.History(record: stores.schedules.all()[source] ?? ScheduleRecord(), content: content)
    }

    func store(_ record: ScheduleRecord, of source: String) { stores.schedules.write(record, for: source) }

    func began(_ source: String) { publish(.source(source, .started)) }

    func finished(_ source: String, added: Int) {
        if added > 0 { publish(.item(source: source, added: added)) }
        publish(.source(source, .finished, items: stores.count(of: source)))
    }

    func failed(_ source: String, _ failure: SourceFailure) { publish(.source(source, .failed, error: failure)) }

    private func publish(_ event: Event) {
        events.publish(event)
        changes.set()
    }
}
