import Logging
import NorrisPrefetch
import NorrisProtocol
import NorrisServer
import NorrisStore
import Synchronization

/// The sources of the configuration with their schedules, and what clients want of them.
final class Fetching: Sendable {
    let prefetcher: Prefetcher
    let stores: Stores
    let environment: FetchingEnvironment
    let knownCategories = KnownCategories()
    let factSearches = Coalescer<String, Bool?>()
    let gifRequests = Coalescer<GifRequest, GifResult?>()
    /// Set when the status may have changed: a run began or ended, a disk failed, a configuration was read.
    let changes = WakeSignal()
    private let context: SourceContext
    private let current: Mutex<Sources>
    private let settings: Settings
    /// `facts.mix_fortunes`, which every `fact.random` reads.
    private let mixesFortunes = Atomic(false)
    let encodedFreshness = Mutex(EncodedFreshness())

    init(settings: Settings, stores: Stores, events: EventHub, environment: FetchingEnvironment, logger: Logger) {
        self.settings = settings
        self.stores = stores
        self.environment = environment
        prefetcher = Prefetcher(
            host: ScheduleHost(stores: stores, events: events, changes: changes), machine: environment.machine,
            clock: environment.clock, searchTime: environment.searchTime, logger: logger
        )
        knownCategories.learn(stores.fetches.record(of: FactSource.name)?.categories ?? [])
        context = SourceContext(
            stores: stores, environment: environment, knownCategories: knownCategories, logger: logger
        )
        current = Mutex(Sources(settings.configuration, context))
        schedule()
    }

    /// Takes over the sources of the configuration in force.
    func configure() {
        let sources = Sources(settings.configuration, context)
        current.withLock { $0 = sources }
        schedule()
    }

    private func schedule() {
        mixesFortunes.store(settings.configuration.facts.mixFortunes, ordering: .relaxed)
        prefetcher.configure(
            sources.all.map { source in
                Prefetcher.Source(name: source.name, policy: source.policy, fetch: { await source.fetch() })
            }
        )
    }

    var sources: Sources { current.withLock { $0 } }

    /// Which facts are served where no category is asked for.
    var unfilteredScope: FactScope { mixesFortunes.load(ordering: .relaxed) ? .all : .norris }

    /// Begins to fetch a source, or all that can be.
    ///
    /// - Returns: those that begin.
    func refresh(_ name: String?, isAdministrator: Bool) throws(ResponseError) -> [String] {
        let sources = sources
        if let name, let reason = sources[name]?.unavailableReason {
            throw .nothingCached(reason.message + ".", source: name, lastError: reason)
        }
        var started: [String] = []
        var refusal: ResponseError?
        for name in name.map({ [$0] }) ?? sources.all.filter(\.policy.isEnabled).map(\.name) {
            do throws(RefreshRefusal) {
                if let until = sources[name]?.quotaReturnsAt { throw .putOff(until: until) }
                try prefetcher.refresh(name, isAdministrator: isAdministrator)
                started.append(name)
            } catch {
                refusal = ResponseError(error, of: name)
            }
        }
        if started.isEmpty, let refusal { throw refusal }
        return started
    }

    /// Removes what was fetched of a source, or of all, and lets it be fetched again.
    ///
    /// - Returns: how many items were removed.
    func clear(_ name: String?) async throws(ResponseError) -> Int {
        var chosen = sources.all
        if let name {
            guard let source = sources[name] else { throw ResponseError(RefreshRefusal.unknown, of: name) }
            chosen = [source]
        }
        var removed = 0
        for source in chosen {
            do {
                removed += try await withTaskExecutorPreference(Prefetcher.background) { try await source.clear() }
            } catch {
                throw .storage("The cache cannot be written now.", hint: "The daemon's log says why.")
            }
            prefetcher.contentGone(source.name)
        }
        return removed
    }

    /// Removes content that has expired, and content of sources that are not configured any more.
    func removeExpired() async {
        await withTaskExecutorPreference(Prefetcher.background) {
            let now = environment.clock.now
            await stores.gifs.purge(before: sources.gifs.notBefore, now: now)
            let before = now - settings.configuration.posts.keep
            let removed = try? stores.posts.purgeSources(keeping: sources.postNames, before: before)
            await stores.readMarks.forget(ids: removed ?? [])
        }
    }

    /// The cache was lost and recreated: everything fetched is gone.
    func cacheWasLost() {
        stores.forgetCache()
        for source in sources.all { prefetcher.contentGone(source.name) }
    }
}

/// Fetches that a user waits for.
extension Fetching {
    /// Lets the upstream of the facts search, and stores what it finds.
    ///
    /// - Returns: whether the upstream was sent the query and answered.
    func fetchNow(_ query: FactQuery) async -> Bool {
        // The upstream takes no other, and counts UTF-16 units.
        guard (3...120).contains(query.text.utf16.count), prefetcher.maySearch(FactSource.name) else { return false }
        let source = sources.facts
        let found = await fetchNow(source, query.text, factSearches) { time throws(FetchFailure) in
            try await source.search(query, within: time) ? true : nil
        }
        return found ?? false
    }

    /// Sends a request to Giphy, and stores what comes.
    ///
    /// - Parameter limit: how many GIFs of a page are wanted.
    func fetchNow(_ request: GifRequest, limit: Int = 1) async -> GifResult {
        let source = sources.gifs
        let result = await fetchNow(source, request, gifRequests) { time throws(FetchFailure) in
            try await source.fetch(request, limit: limit, within: time)
        }
        return result ?? .unavailable(failure(of: source.name))
    }

    /// One request to a source's upstream: equal ones at one time are coalesced, it has a deadline, and it is not sent
    /// while the schedule (freshness, backoff, rate limit) or the hourly quota forbids it.
    ///
    /// - Parameter request: gets the time it may take; nil says that the upstream does not take it.
    /// - Returns: nil where nothing was fetched; ``failure(of:)`` says why.
    private func fetchNow<Key, Value: Sendable>(
        _ source: some ContentSource, _ key: Key, _ coalescer: Coalescer<Key, Value?>,
        _ request: @Sendable (Duration) async throws(FetchFailure) -> Value?
    ) async -> Value? {
        if source.quotaFailure != nil { return nil }
        return await coalescer.value(for: key) {
            await prefetcher.search(source.name, whileFresh: source.isSearchedWhileFresh, request)
        }
    }
}

/// Runs equal requests at one time once: the first caller runs it, the others wait for its result.
final class Coalescer<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// The callers that wait for a request under way.
    let waiters = Mutex<[Key: [CheckedContinuation<Value?, Never>]]>([:])

    func value(for key: Key, _ request: () async -> Value) async -> Value {
        let shared: Value? = await withCheckedContinuation { continuation in
            let isFirst = waiters.withLock { waiters in
                let isFirst = waiters[key] == nil
                if isFirst { waiters[key] = [] } else { waiters[key]?.append(continuation) }
                return isFirst
            }
            if isFirst { continuation.resume(returning: nil) }
        }
        if let shared { return shared }
        let value = await request()
        for waiter in waiters.withLock({ $0.removeValue(forKey: key) ?? [] }) { waiter.resume(returning: value) }
        return value
    }
}
