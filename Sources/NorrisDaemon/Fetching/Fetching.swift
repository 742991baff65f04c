import Logging
import NorrisPrefetch
import NorrisProtocol
import NorrisServer
import NorrisStore
import NorrisUpstream

/// The sources of the configuration: their schedules, what is asked of them, and how fresh what they brought is.
final class Fetching: Sendable {
    let prefetcher: Prefetcher
    private let store: FactStore
    private let records: FetchRecords
    private let settings: Settings
    private let logger: Logger
    /// The file of trusted certificates that replaces the system's, as OpenSSL's environment variable names it.
    private let trustRoots: String?
    let knownCategories = KnownCategories()
    let searches = SharedWork<FactQuery, Bool>()

    init(
        settings: Settings, databases: Databases, facts: FactStore, events: EventHub,
        environment: FetchingEnvironment, logger: Logger
    ) {
        store = facts
        records = FetchRecords(databases: databases, logger: logger)
        self.settings = settings
        self.logger = logger
        trustRoots = environment.trustRoots
        let host = ScheduleHost(
            schedules: ScheduleRecords(databases: databases, logger: logger), fetches: records, facts: facts,
            events: events
        )
        prefetcher = Prefetcher(host: host, machine: environment.machine, clock: environment.clock, logger: logger)
        knownCategories.learn(records.record(of: FactSource.name)?.categories ?? [])
        configure()
    }

    /// Takes over the sources of the configuration in force.
    func configure() {
        let facts = factSource
        prefetcher.configure([
            Prefetcher.Source(name: FactSource.name, policy: facts.policy, fetch: facts.fetch)
        ])
    }

    private var factSource: FactSource {
        let configuration = settings.configuration
        return FactSource(
            configuration: configuration.facts,
            http: HTTPSettings(configuration.http, trustRoots: trustRoots),
            store: store,
            records: records,
            knownCategories: knownCategories,
            logger: logger
        )
    }

    /// The names of all sources, in the order of the status.
    var names: [String] { [FactSource.name] }

    /// Lets the upstream search, and stores what it finds. Equal searches at one time share a request.
    ///
    /// - Returns: whether the upstream was asked and answered.
    func ask(_ query: FactQuery) async -> Bool {
        // The upstream takes no other, and counts UTF-16 units.
        guard (3...120).contains(query.text.utf16.count), prefetcher.mayAsk(FactSource.name) else { return false }
        let source = factSource
        let text = FactQuery(text: query.text)
        return await searches.value(for: text) {
            await self.prefetcher.ask(FactSource.name) { (time) async throws(FetchFailure) in
                try await source.find(text, within: time)
            }
        }
    }

    /// Begins to fetch a source, or all that are enabled.
    ///
    /// - Returns: those that begin.
    func refresh(_ source: String?, isAdministrator: Bool) throws(ResponseError) -> [String] {
        var started: [String] = []
        var refusal: (source: String, reason: RefreshRefusal)?
        let enabled = names.filter { prefetcher.schedule(of: $0)?.policy.isEnabled == true }
        for name in source.map({ [$0] }) ?? enabled {
            do throws(RefreshRefusal) {
                try prefetcher.refresh(name, isAdministrator: isAdministrator)
                started.append(name)
            } catch {
                refusal = (name, error)
            }
        }
        if started.isEmpty, let refusal { throw ResponseError(refusal.reason, of: refusal.source) }
        return started
    }

    /// Removes what was fetched of a source, or of all, and lets it be fetched again.
    ///
    /// - Returns: how many items went.
    func clear(_ source: String?) async throws(ResponseError) -> Int {
        if let source, !names.contains(where: { $0.hasSameBytes(as: source) }) {
            throw ResponseError(RefreshRefusal.unknown, of: source)
        }
        do throws(StoreError) {
            let fortunes = settings.configuration.facts.fortunes
            let removed = try await withTaskExecutorPreference(Prefetcher.background) { [store] () throws(StoreError) in
                let removed = try store.clearUpstream()
                store.importFortunes(fortunes)
                return removed
            }
            prefetcher.contentGone(FactSource.name)
            return removed
        } catch {
            throw .storage("The cache cannot be written now.", hint: "The daemon's log says why.")
        }
    }

    /// The cache was lost and made anew: everything fetched is gone.
    func cacheWasLost() {
        for name in names { prefetcher.contentGone(name) }
    }

    /// How fresh items of a source are.
    ///
    /// - Parameters:
    ///   - isLocal: whether all of them are from the starting collection or fortune files.
    ///   - wasAsked: for the reply to a search, whether the upstream was asked for it and answered.
    func freshness(of source: String, isEmpty: Bool, isLocal: Bool, wasAsked: Bool? = nil) -> Freshness {
        let now = Timestamp.now()
        if wasAsked == true {
            return Freshness(origin: .upstream, state: isEmpty ? .empty : .fresh, fetchedAt: now, ageSeconds: 0)
        }
        let schedule = prefetcher.schedule(of: source)
        let fetchedAt = schedule?.content?.fetchedAt
        return Freshness(
            origin: isEmpty ? (fetchedAt == nil ? .none : .cache) : isLocal ? .builtin : .cache,
            state: isEmpty ? .empty : schedule?.isFresh(now) == true ? .fresh : .stale,
            fetchedAt: fetchedAt,
            // A clock that was set back makes nothing younger than it is.
            ageSeconds: fetchedAt.map { max(0, Int(now.seconds - $0.seconds)) },
            error: wasAsked == nil ? schedule?.failure : schedule?.searchFailure(now)
        )
    }

    /// The sources as `server.status` shows them.
    var statuses: [SourceStatus] {
        let items = store.count
        let schedule = prefetcher.schedule(of: FactSource.name)
        return [
            SourceStatus(
                name: FactSource.name,
                kind: "chucknorris",
                isEnabled: settings.configuration.facts.enabled,
                items: items,
                freshness: freshness(of: FactSource.name, isEmpty: items == 0, isLocal: store.isLocal),
                nextRunAt: schedule?.nextRunAt,
                consecutiveFailures: schedule?.record.failures ?? 0
            )
        ]
    }
}

/// What fetching takes from the process, so that tests can give it something else.
struct FetchingEnvironment: Sendable {
    var machine: String
    var clock: any WallClock
    var trustRoots: String?
}
