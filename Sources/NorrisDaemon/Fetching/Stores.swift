import NorrisPrefetch
import NorrisProtocol
import NorrisServer
import NorrisStore
import NorrisThreads

/// The stores of all content and of the users' state.
struct Stores: Sendable {
    let facts: FactStore
    let gifs: GifStore
    let posts: PostStore
    let favorites: Favorites
    let readMarks: ReadMarks
    let recents: RecentSearches
    let numbered = NumberedLists()
    let quota: QuotaLedger
    let fetches: FetchRecords
    let schedules: ScheduleRecords

    /// - Parameter facts: a loaded store of the same databases.
    init(databases: Databases, facts: FactStore, _ access: BlockingAccess) {
        self.facts = facts
        gifs = GifStore(databases: databases, access)
        readMarks = ReadMarks(databases: databases)
        posts = PostStore(databases: databases, access)
        favorites = Favorites(databases: databases)
        recents = RecentSearches(databases: databases)
        quota = QuotaLedger(source: GifSource.name, databases: databases, access)
        fetches = FetchRecords(databases: databases)
        schedules = ScheduleRecords(databases: databases)
    }

    /// Writes what requests have changed in memory.
    ///
    /// - Returns: false if a write failed; the next call tries again.
    func writeChanges() async -> Bool {
        let areFactsWritten = await facts.writeShuffles()
        return await recents.write() && areFactsWritten
    }

    /// Calls the body on any thread when ``writeChanges()`` has something to write.
    func onChange(_ body: @escaping @Sendable () -> Void) {
        facts.onChange(body)
        recents.onChange(body)
    }

    /// The number of stored items of a source; from memory.
    func count(of source: String) -> Int {
        switch source {
        case FactSource.name: facts.catalogue.count
        case GifSource.name: gifs.count
        default: posts.count(source: source)
        }
    }

    /// Drops the content of lost files of the cache from memory, except facts, which are served until the next fetch.
    func refill(_ contents: Set<Databases.Content>, _ access: BlockingAccess) {
        if contents.contains(.gifs) { gifs.recount(access) }
        if contents.contains(.posts) { posts.reload(access) }
    }
}

/// Connects the schedule with its stored records, with subscribers and with the status line.
struct ScheduleHost: PrefetchHost {
    let stores: Stores
    let events: EventHub
    let changes: WakeSignal

    func history(of source: String) async -> SourceSchedule.History {
        let content = await stores.fetches.record(of: source).map {
            SourceSchedule.Content(settings: $0.settings, fetchedAt: $0.fetchedAt, isStale: $0.isStale)
        }
        return SourceSchedule.History(
            record: await stores.schedules.all()[source] ?? ScheduleRecord(), content: content)
    }

    func store(_ record: ScheduleRecord, of source: String) async { await stores.schedules.write(record, for: source) }

    func began(_ source: String) { publish(.source(source, .started)) }

    func finished(_ source: String, added: Int, newest: [Event.NewItem]) {
        if added > 0 { publish(.item(source: source, added: added, items: newest)) }
        publish(.source(source, .finished, items: stores.count(of: source)))
    }

    func failed(_ source: String, _ failure: SourceFailure) { publish(.source(source, .failed, error: failure)) }

    private func publish(_ event: Event) {
        events.publish(event)
        changes.set()
    }
}
