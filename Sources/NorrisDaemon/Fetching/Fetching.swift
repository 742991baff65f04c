import Logging
import NorrisPrefetch
import NorrisProtocol
import NorrisServer
import NorrisStore
import Synchronization
import SystemdIntegration

/// The sources of the configuration: their schedules, and what is asked of them.
final class Fetching: Sendable {
    let prefetcher: Prefetcher
    let stores: Stores
    let environment: FetchingEnvironment
    let knownCategories: KnownCategories
    let factSearches = SharedWork<String, Bool>()
    let gifQuestions = SharedWork<GifQuestion, GifAnswer>()
    /// Set when the status may have changed: a run began or ended, a disk failed, a configuration was read.
    let changes = WakeSignal()
    private let makeSources: @Sendable () -> Sources
    private let current: Mutex<Sources>
    private let settings: Settings
    /// `facts.mix_fortunes`, where every `fact.random` reads it.
    let mixesFortunes = Atomic(false)
    let encodedFreshness = Mutex(EncodedFreshness())

    init(settings: Settings, stores: Stores, events: EventHub, environment: FetchingEnvironment, logger: Logger) {
        self.settings = settings
        self.stores = stores
        self.environment = environment
        prefetcher = Prefetcher(
            host: ScheduleHost(stores: stores, events: events, changes: changes), machine: environment.machine,
            clock: environment.clock, searchTime: environment.searchTime, logger: logger
        )
        let (knownCategories, gifRun) = (KnownCategories(), GifRun())
        knownCategories.learn(stores.fetches.record(of: FactSource.name)?.categories ?? [])
        self.knownCategories = knownCategories
        makeSources = {
            Sources(
                settings.configuration, stores: stores, knownCategories: knownCategories, gifRun: gifRun,
                environment: environment, logger: logger
            )
        }
        let sources = makeSources()
        current = Mutex(sources)
        mixesFortunes.store(settings.configuration.facts.mixFortunes, ordering: .relaxed)
        schedule(sources)
    }

    /// Takes over the sources of the configuration in force.
    func configure() {
        let sources = makeSources()
        current.withLock { $0 = sources }
        schedule(sources)
        mixesFortunes.store(settings.configuration.facts.mixFortunes, ordering: .relaxed)
    }

    private func schedule(_ sources: Sources) {
        prefetcher.configure(
            sources.all.map { source in
                Prefetcher.Source(name: source.name, policy: source.policy, fetch: { await source.fetch() })
            }
        )
    }

    var sources: Sources { current.withLock { $0 } }

    /// Begins to fetch a source, or all that can be.
    ///
    /// - Returns: those that begin.
    func refresh(_ name: String?, isAdministrator: Bool) throws(ResponseError) -> [String] {
        let sources = sources
        if let name, let impediment = sources[name]?.impediment {
            throw .nothingCached(impediment.message + ".", source: name, lastError: impediment)
        }
        var started: [String] = []
        var refusal: (source: String, reason: RefreshRefusal)?
        for name in name.map({ [$0] }) ?? sources.all.filter(\.policy.isEnabled).map(\.name) {
            do throws(RefreshRefusal) {
                if let until = sources[name]?.budgetReturnsAt { throw .putOff(until: until) }
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
    func clear(_ name: String?) async throws(ResponseError) -> Int {
        let chosen: [any ContentSource]
        if let name {
            guard let source = sources[name] else { throw ResponseError(RefreshRefusal.unknown, of: name) }
            chosen = [source]
        } else {
            chosen = sources.all
        }
        var removed = 0
        for source in chosen {
            do throws(StoreError) {
                removed += try await withTaskExecutorPreference(Prefetcher.background) { () async throws(StoreError) in
                    try await source.clear()
                }
            } catch {
                throw .storage("The cache cannot be written now.", hint: "The daemon's log says why.")
            }
            prefetcher.contentGone(source.name)
        }
        return removed
    }

    /// Takes off the disk what is past its time, and what is of no source any more.
    func removeExpired() async {
        await withTaskExecutorPreference(Prefetcher.background) {
            let sources = sources
            let now = environment.clock.now
            await stores.gifs.purge(before: sources.gifs.notBefore, now: now)
            let keep = settings.configuration.posts.keep
            let before = Timestamp(seconds: now.seconds - keep.components.seconds)
            let gone = try? stores.posts.purgeSources(keeping: sources.postNames, before: before)
            await stores.readMarks.forget(ids: gone ?? [])
        }
    }

    /// The cache was lost and made anew: everything fetched is gone.
    func cacheWasLost() {
        stores.forgetCache()
        for source in sources.all { prefetcher.contentGone(source.name) }
    }
}

/// What fetching takes from the process, so that tests can give it something else.
struct FetchingEnvironment: Sendable {
    var machine: String
    var clock: any WallClock
    var trustRoots: String?
    var credentials = Credentials(directory: nil)
    /// How long a search waits for an upstream.
    var searchTime = Duration.seconds(2)
}
