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
