import Logging
import NorrisPrefetch
import NorrisProtocol
import NorrisStore
import NorrisThreads
import Synchronization
import SystemdIntegration

/// The sources of the configuration in force, with their schedules.
final class ConfiguredSources: Sendable {
    private let context: SourceContext
    private let prefetcher: Prefetcher
    private let settings: Settings
    private let sources: Mutex<Sources>
    /// `facts.mix_fortunes`, which every `fact.random` reads.
    private let mixesFortunes = Atomic(false)

    init(settings: Settings, context: SourceContext, prefetcher: Prefetcher) async {
        (self.settings, self.context, self.prefetcher) = (settings, context, prefetcher)
        let sources = await BackgroundThreads.starting.run { Sources(settings.configuration, context, $0) }
        self.sources = Mutex(sources)
        await schedule(sources)
    }

    /// Replaces the sources with the sources of the configuration in force.
    func configure() async {
        let new = await BackgroundThreads.background.run { Sources(settings.configuration, context, $0) }
        sources.withLock { $0 = new }
        await schedule(new)
    }

    private func schedule(_ sources: Sources) async {
        mixesFortunes.store(settings.configuration.facts.mixFortunes, ordering: .relaxed)
        await prefetcher.configure(
            sources.all.map { source in
                Prefetcher.Source(name: source.name, policy: source.policy, fetch: { await source.fetch() })
            })
    }

    var current: Sources { sources.withLock { $0 } }

    /// The facts that a request without a category is served from.
    var unfilteredScope: FactScope { mixesFortunes.load(ordering: .relaxed) ? .all : .norris }
}

/// The sources of one configuration.
final class Sources: Sendable {
    let facts: FactSource
    let gifs: GifSource
    /// In the order of the configuration file.
    let posts: [PostSource]
    /// In the order of `server.status`.
    let all: [any ContentSource]

    /// Reads the file of the API key.
    init(_ configuration: Configuration, _ context: SourceContext, _: BlockingAccess) {
        let http = configuration.http
        facts = FactSource(configuration: configuration.facts, http: http, context: context)
        let environment = context.environment
        let key = GiphyKey(configuration.gifs, environment.credentials, now: environment.clock.now)
        gifs = GifSource(configuration: configuration.gifs, key: key, http: http, context: context)
        posts = configuration.posts.sources.map { PostSource(configuration: $0, http: http, context: context) }
        all = [facts, gifs] + posts
        if let reason = gifs.unavailableReason {
            // Most users without a key want no GIFs; a user who configured a key expects GIFs.
            context.logger.log(
                level: key.isConfigured ? .warning : .notice, "source.unavailable",
                metadata: ["source": "\(gifs.name)", "error": "\(reason.message)"])
        }
    }

    /// The source with a name, or nil. Names are ASCII and unique in a configuration.
    subscript(name: String) -> (any ContentSource)? { all.first { $0.name == name } }

    /// The names of the sources whose posts are shown.
    var postNames: [String] { posts.map(\.name) }
}

/// The properties shared by all sources, which outlive a reload of the configuration.
struct SourceContext: Sendable {
    let stores: Stores
    let environment: FetchingEnvironment
    var fetch: FetchProcess { environment.fetch }
    let knownCategories: KnownCategories
    let gifRun = GifRun()
    let logger: Logger
}

/// The properties of the process that fetching depends on, so that tests can replace them.
struct FetchingEnvironment: Sendable {
    var machine: String
    var clock: any WallClock
    var fetch: FetchProcess
    var credentials = Credentials(directory: nil)
    /// The longest wait of a search for an upstream.
    var searchTime = Duration.seconds(2)
}
