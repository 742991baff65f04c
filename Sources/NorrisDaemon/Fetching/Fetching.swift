import Logging
import NorrisPrefetch
import NorrisProtocol
import NorrisServer
import NorrisStore
import NorrisSystem
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

    init(settings: Settings, stores: Stores, events: EventHub, environment: FetchingEnvironment, logger: Logger) async {
        self.settings = settings
        self.stores = stores
        self.environment = environment
        prefetcher = Prefetcher(
            host: ScheduleHost(stores: stores, events: events, changes: changes), machine: environment.machine,
            clock: environment.clock, searchTime: environment.searchTime, logger: logger)
        knownCategories.learn(await stores.fetches.record(of: FactSource.name)?.categories ?? [])
        context = SourceContext(
            stores: stores, environment: environment, knownCategories: knownCategories, logger: logger)
        let context = context
        let sources = await BackgroundThreads.starting.run { Sources(settings.configuration, context, $0) }
        current = Mutex(sources)
        await schedule()
    }

    /// Takes over the sources of the configuration in force.
    func configure() async {
        let sources = await BackgroundThreads.background.run { Sources(settings.configuration, context, $0) }
        current.withLock { $0 = sources }
        await schedule()
    }

    private func schedule() async {
        mixesFortunes.store(settings.configuration.facts.mixFortunes, ordering: .relaxed)
        await prefetcher.configure(
            sources.all.map { source in
                Prefetcher.Source(name: source.name, policy: source.policy, fetch: { await source.fetch() })
            })
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
                if let until = sources[name]?.quotaReturnsAt { throw .quotaUsed(until: until) }
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
                removed += try await source.clear()
            } catch {
                throw .storage("The cache cannot be written now.", hint: "The daemon's log says why.")
            }
            await prefetcher.contentGone(source.name)
        }
        return removed
    }

    /// Removes content that has expired, and content of sources that are not configured any more.
    func removeExpired() async {
        let now = environment.clock.now
        await stores.gifs.purge(before: sources.gifs.notBefore, now: now)
        let before = now - settings.configuration.posts.keep
        _ = try? await stores.posts.purgeSources(keeping: sources.postNames, before: before)
    }

    /// Files of the cache were lost and recreated: what was fetched into them is gone.
    func cacheWasLost(_ contents: Set<Databases.Content>) async {
        for source in sources.all where contents.contains(Databases.Content(ofSource: source.name)) {
            await prefetcher.contentGone(source.name)
        }
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
    /// - Parameters:
    ///   - uid: the user who waits. Of equal requests at one time, the first takes a call of its user's quota.
    ///   - limit: how many GIFs of a page are wanted.
    func fetchNow(_ request: GifRequest, for uid: UInt32, limit: Int = 1) async -> GifResult {
        let source = sources.gifs
        if source.quotaFailure(of: uid) == nil {
            let result = await fetchNow(source, request, gifRequests) { time throws(FetchFailure) in
                try await source.fetch(request, for: uid, limit: limit, within: time)
            }
            if let result { return result }
        }
        return .unavailable(failure(of: source.name) ?? source.quotaFailure(of: uid))
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

/// How fresh what is stored is, and what `server.status` says of it.
extension Fetching {
    /// How fresh items of one source are.
    ///
    /// - Parameters:
    ///   - isLocal: whether all of them are from the starting collection or fortune files.
    ///   - isFromUpstream: for the reply to a search, whether the upstream was sent it and answered.
    ///   - fetchedAt: when these items were fetched, where that is known of them alone.
    func freshness(
        of source: String, isEmpty: Bool, isLocal: Bool = false, isFromUpstream: Bool? = nil,
        fetchedAt: Timestamp? = nil
    ) -> Freshness {
        let now = environment.clock.now
        if isFromUpstream == true {
            return Freshness(origin: .upstream, state: isEmpty ? .empty : .fresh, fetchedAt: now, ageSeconds: 0)
        }
        let schedule = prefetcher.schedule(of: source)
        let isFresh =
            if let fetchedAt, let schedule {
                fetchedAt.duration(to: now) <= schedule.policy.staleAfter
            } else {
                schedule?.isFresh(now) == true
            }
        let fetchedAt = (fetchedAt ?? schedule?.content?.fetchedAt)?.past(now)
        return Freshness(
            origin: isEmpty ? (fetchedAt == nil ? .none : .cache) : isLocal ? .builtin : .cache,
            state: isEmpty ? .empty : isFresh ? .fresh : .stale, fetchedAt: fetchedAt,
            ageSeconds: fetchedAt.map { Int(now.seconds - $0.seconds) },
            error: failure(of: source, schedule, isSearch: isFromUpstream != nil))
    }

    /// How fresh posts are that may be from any of these sources: the oldest time, the worst state, the newest failure.
    /// A disabled source does not count beside others: nobody waits for it.
    func freshness(of posts: [PostSource], isEmpty: Bool) -> Freshness {
        let active = posts.filter(\.isEnabled)
        let all = (active.isEmpty ? posts : active).map { freshness(of: $0.name, isEmpty: isEmpty) }
        let oldest = all.compactMap(\.fetchedAt).min()
        return Freshness(
            origin: isEmpty && oldest == nil ? .none : .cache,
            state: isEmpty ? .empty : all.contains { $0.state == .stale } ? .stale : .fresh, fetchedAt: oldest,
            ageSeconds: all.compactMap(\.ageSeconds).max(), error: all.compactMap(\.error).max { $0.since < $1.since })
    }

    /// The freshness of facts as it goes over the wire, and what it follows from.
    struct EncodedFreshness {
        struct Inputs: Equatable {
            let second: Timestamp
            let version: Int
            let isEmpty, isLocal: Bool
        }

        var inputs: Inputs?
        var bytes: [UInt8] = []
    }

    /// Ends the list of items, and the result, with how fresh facts are that are served from memory. The bytes are made
    /// once a second, and when a schedule has changed.
    func endFacts(isEmpty: Bool, isLocal: Bool, in json: inout JSONWriter) {
        let inputs = EncodedFreshness.Inputs(
            second: environment.clock.now, version: prefetcher.version, isEmpty: isEmpty, isLocal: isLocal)
        encodedFreshness.withLock { encoded in
            if encoded.inputs != inputs {
                let freshness = freshness(of: FactSource.name, isEmpty: isEmpty, isLocal: isLocal)
                let bytes = "\(FactRandom.resultFreshness)".utf8 + freshness.jsonBytes + "}".utf8
                encoded = EncodedFreshness(inputs: inputs, bytes: Array(bytes))
            }
            json.join(encoded.bytes)
        }
    }

    /// Why a source cannot be fetched from, or the last failure of its upstream.
    func failure(of name: String) -> SourceFailure? { failure(of: name, prefetcher.schedule(of: name), isSearch: true) }

    private func failure(of name: String, _ schedule: SourceSchedule?, isSearch: Bool) -> SourceFailure? {
        // Nothing is expected of a disabled source.
        guard let source = sources[name], source.isEnabled else { return nil }
        if let reason = source.unavailableReason { return reason }
        let whileFresh = source.isSearchedWhileFresh
        let failure =
            isSearch || whileFresh
            ? schedule?.searchFailure(environment.clock.now, whileFresh: whileFresh) : schedule?.failure
        return failure ?? source.quotaFailure
    }

    /// The names of the sources whose content could not be refreshed for 1.5 times their interval.
    var overdueSources: [String] {
        let now = environment.clock.now
        return sources.all.filter { source in
            // A source that was given no key is expected to have none.
            let reason = source.isConfigured ? source.unavailableReason : nil
            return prefetcher.schedule(of: source.name)?.isOverdue(now, unavailableSince: reason?.since) == true
        }.map(\.name)
    }

    /// The sources as `server.status` shows them.
    var statuses: [SourceStatus] {
        sources.all.map { source in
            let schedule = prefetcher.schedule(of: source.name)
            let items = stores.count(of: source.name)
            let isLocal = source.name == FactSource.name && stores.facts.isLocal
            return SourceStatus(
                name: source.name, kind: source.kind, isEnabled: source.isEnabled,
                isConfigured: source.isConfigured ? nil : false, items: items,
                freshness: freshness(of: source.name, isEmpty: items == 0, isLocal: isLocal),
                nextRunAt: schedule?.nextRunAt, consecutiveFailures: schedule?.record.failures ?? 0, quota: source.quota
            )
        }
    }
}
