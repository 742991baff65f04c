import NorrisFetchProtocol
import NorrisPrefetch
import NorrisProtocol
import NorrisServer
import NorrisStore
import Synchronization

/// The stores of all content and of the users' state.
struct Stores: Sendable {
    let facts: FactStore
    let gifs: GifStore
    let posts: PostStore
    let favorites: Favorites
    let readMarks: ReadMarks
    let recents: RecentSearches
    let numbered = NumberedLists()
    let unreadChanges = UnreadChanges()
    let quota: QuotaLedger
    let records: SourceRecords
    let added: AddedSources

    init(databases: Databases) async {
        facts = await FactStore(databases: databases)
        gifs = await GifStore(databases: databases)
        readMarks = ReadMarks(databases: databases)
        posts = await PostStore(databases: databases)
        favorites = Favorites(databases: databases)
        recents = RecentSearches(databases: databases)
        quota = QuotaLedger(source: GifSource.name, databases: databases)
        records = SourceRecords(databases: databases)
        added = AddedSources(databases: databases)
    }

    /// Reads what is kept in memory of `state.db`, at the start and when the file was replaced. Favorites, marks and
    /// searches are read from the file each time.
    func readState() async {
        await facts.readShuffles()
        await quota.read()
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

    /// Counts the content of a replaced cache. The facts in memory are served until the next fetch.
    func cacheWasReplaced() async {
        await gifs.recount()
        await posts.reload()
        try? await posts.mutes.workOut()
    }
}

/// The users whose unread posts may have changed since the last event `read`.
final class UnreadChanges: Sendable {
    let signal = WakeSignal()
    private let users = Mutex<Set<UInt32>>([])

    /// - Parameter uid: the user who has changed a mark or a rule; nil for a fetch, which concerns all users.
    func note(_ uid: UInt32?) {
        if let uid { users.withLock { _ = $0.insert(uid) } }
        signal.set()
    }

    /// Returns and forgets the users who have changed marks or rules.
    func take() -> Set<UInt32> {
        users.withLock { users in
            defer { users = [] }
            return users
        }
    }
}

/// Connects the schedule with its stored records, with subscribers and with the status line.
struct ScheduleHost: PrefetchHost {
    let stores: Stores
    let events: EventHub
    let changes: WakeSignal

    func history(of source: String) async -> SourceSchedule.History {
        let fetch = await stores.records.fetch(of: source)
        let content = fetch.map {
            SourceSchedule.Content(settings: $0.settings, fetchedAt: $0.fetchedAt, isStale: $0.isStale)
        }
        let record = await stores.records.schedule(of: source)
        return SourceSchedule.History(record: record, content: content, target: fetch?.host)
    }

    func schedules(of prefix: String) async -> [String: ScheduleRecord] { await stores.records.schedules(of: prefix) }

    func store(_ record: ScheduleRecord, of source: String) async { await stores.records.write(record, for: source) }

    func began(_ source: String) { publish(.source(source, .started)) }

    func finished(_ source: String, added: Int, newest: [Event.NewItem]) {
        arrived(source, added: added, newest: newest)
        publish(.source(source, .finished, items: stores.count(of: source)))
    }

    func arrived(_ source: String, added: Int, newest: [Event.NewItem]) {
        let hidden = stores.posts.takeHidden(of: source).mapValues { ids -> Event? in
            guard added > ids.count else { return nil }
            return .item(source: source, added: added - ids.count, items: newest.filter { !ids.contains($0.id) })
        }
        if added > 0 { events.publish(.item(source: source, added: added, items: newest), besides: hidden) }
        stores.unreadChanges.note(nil)
    }

    func failed(_ source: String, _ failure: SourceFailure) { publish(.source(source, .failed, error: failure)) }

    private func publish(_ event: Event) {
        events.publish(event)
        changes.set()
    }
}
