import Logging
import NorrisPrefetch
import NorrisProtocol
import NorrisServer
import NorrisStore
import NorrisText
import NorrisThreads
import Synchronization
import SystemdIntegration

/// The sources of the configuration in force and those that were added, with their schedules.
///
/// One extension each adds and removes sources, refreshes and clears them, reports their state, and sends users'
/// requests to Giphy.
final class ConfiguredSources: Sendable {
    let context: SourceContext
    /// Stored, because every `fact.random` reads it.
    let clock: any WallClock
    var prefetcher: Prefetcher { context.prefetcher }
    let settings: Settings
    /// nil until the initializer has read the added sources.
    private let sources = Mutex<Sources?>(nil)
    /// `facts.mix_fortunes`, which every `fact.random` reads.
    private let mixesFortunes = Atomic(false)
    /// Held while the sources change, so that no change is lost.
    let changing = AsyncLock()
    /// The names and addresses of sources that are being added.
    let pending = Mutex((names: Set<String>(), locks: [[String]: AsyncLock]()))
    var pendingNames: [String] { Array(pending.withLock { $0.names }) }

    init(settings: Settings, context: SourceContext) async {
        (self.settings, self.context) = (settings, context)
        clock = context.environment.clock
        context.knownCategories.learn(await context.stores.records.fetch(of: FactSource.name)?.categories ?? [])
        await readState()
    }

    /// Reads everything of `state.db` that stays in memory: shuffles, facts of the day, the quota, added sources, and
    /// schedules of sources that have not run. The start calls this, and the replacement of the file; the file wins.
    func readState() async {
        await stores.readState()
        await configure()
    }

    /// Replaces the sources with the sources of the configuration in force, and those that were added.
    func configure() async {
        guard await changing.lock() else { return }
        defer { changing.unlock() }
        let known = sources.withLock { $0?.posts ?? [] }
        let added = await stores.added.all() ?? known.compactMap(\.configuration.added)
        let new = await BackgroundThreads.starting.run { Sources(settings.configuration, added, context, $0) }
        await replace(new)
    }

    /// Called while ``changing`` is held.
    func replace(_ new: Sources) async {
        let old = sources.withLock { sources in
            defer { sources = new }
            return sources
        }
        for source in old?.all ?? [] where new[source.name]?.settings != source.settings {
            stores.records.endImports(of: source.name)
        }
        await schedule(new)
        await stores.posts.mutes.read(for: new.posts.map { ($0.name, $0.configuration.tags) })
        // A failure leaves them as they are; the maintenance tries again.
        if old != nil { try? await stores.posts.mutes.workOut() }
        stores.unreadChanges.note(nil)
    }

    /// Applies the schedules of sources.
    func schedule(_ sources: Sources) async {
        mixesFortunes.store(settings.configuration.facts.mixFortunes, ordering: .relaxed)
        await prefetcher.configure(
            sources.all.map { source in
                Prefetcher.Source(name: source.name, policy: source.policy) { [weak self] in
                    await self?.fetch(source) ?? .cancelled
                }
            }, hostGap: settings.configuration.http.hostGap)
    }

    /// Fetches from a source according to its schedule.
    func fetch(_ source: any ContentSource) async -> FetchOutcome {
        // First, so that a change of the source after the comparison ends the import.
        let run = stores.records.beginImport(of: source.name)
        guard current[source.name]?.settings == source.settings else { return .cancelled }
        return await source.fetch(run)
    }

    // SAFETY: The initializer has read the sources; only the daemon's end cancels the task that waits for the lock.
    var current: Sources { sources.withLock { $0! } }
    var stores: Stores { context.stores }

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
    private let byName: [String: any ContentSource]
    /// The titles that users have set, by the names of the sources.
    let titles: [String: String]

    /// The same sources with other sources of posts.
    init(_ other: Sources, posts: [PostSource]) {
        (facts, gifs, self.posts) = (other.facts, other.gifs, posts)
        all = [facts, gifs] + posts
        byName = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })
        titles = posts.reduce(into: [:]) { $0[$1.name] = $1.configuration.title }
    }

    /// Reads the file of the API key.
    ///
    /// - Parameter added: the sources that are not in the configuration.
    init(_ configuration: Configuration, _ added: [AddedSource], _ context: SourceContext, _: BlockingAccess) {
        let http = configuration.http
        facts = FactSource(configuration: configuration.facts, http: http, context: context)
        let environment = context.environment
        let key = GiphyKey(configuration.gifs, environment.credentials, now: environment.clock.now)
        gifs = GifSource(configuration: configuration.gifs, key: key, http: http, context: context)
        let names = Set(configuration.posts.sources.map(\.name))
        let others = added.compactMap { source -> Configuration.PostSource? in
            do throws(ResponseError) {
                return try Configuration.PostSource(source, inheriting: configuration.posts)
            } catch {
                // Such as a kind of another version.
                context.logger.warning(
                    "source.refused", metadata: ["source": "\(source.name)", "error": "\(error.message)"])
                return nil
            }
        }
        for source in others where names.contains(source.name) {
            context.logger.warning(
                "source.replaced",
                metadata: [
                    "source": "\(source.name)",
                    "error": "The configuration has a source with the name of an added one.",
                ])
        }
        posts = (configuration.posts.sources + others.filter { !names.contains($0.name) })
            .map { source in
                let headers = source.headersFile.map { HeadersFile($0, environment.credentials, for: source) }
                return PostSource(configuration: source, http: http, context: context, headers: headers)
            }
        all = [facts, gifs] + posts
        byName = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })
        titles = posts.reduce(into: [:]) { $0[$1.name] = $1.configuration.title }
        if let reason = gifs.unavailableReason {
            // Most users without a key want no GIFs; a user who configured a key expects GIFs.
            context.logger.log(
                level: key.isConfigured ? .warning : .debug, "source.unavailable",
                metadata: ["source": "\(gifs.name)", "error": "\(reason.message)"])
        }
        for source in posts {
            guard let reason = source.unavailableReason else { continue }
            context.logger.warning(
                "source.unavailable", metadata: ["source": "\(source.name)", "error": "\(reason.message)"])
        }
    }

    /// The source with a name, or nil. Names are ASCII and unique in a configuration.
    subscript(name: String) -> (any ContentSource)? { byName[name] }

    /// The source of posts with a name, or all if the name is nil; of them those with a tag, unless it is nil.
    func posts(named name: String?, tagged tag: String? = nil) throws(ResponseError) -> [PostSource] {
        let named = posts.filter { name?.hasSameBytes(as: $0.name) ?? true }
        if let name, named.isEmpty { throw unknown(name, ofPosts: true) }
        guard let tag else { return named }
        func isTagged(_ source: PostSource) -> Bool { source.configuration.tags.contains(tag.lowercased()) }
        guard posts.contains(where: isTagged) else {
            throw .notFound(
                "No source has the tag \(tag.quotedForMessage).",
                hint: Self.question(Self.near(tag, posts.flatMap(\.configuration.tags)))
                    + "List the tags: norrisctl feed sources")
        }
        return named.filter(isTagged)
    }

    /// The error for a name that no source has.
    func unknown(_ name: String, ofPosts: Bool = false) -> ResponseError {
        let known = ofPosts ? posts.map(\.name) : all.map(\.name)
        let titled = posts.first { source in
            source.context.stores.title(of: source.name, self)?.lowercased().hasPart(name.lowercased()) ?? false
        }
        let meant = Self.question(titled?.name ?? Self.near(name, known))
        return .notFound(
            "There is no source \(ofPosts ? "of posts " : "")\(name.quotedForMessage).",
            hint: meant + "List the sources: norrisctl \(ofPosts ? "feed sources" : "status")")
    }

    /// The first name that a word resembles.
    private static func near(_ word: String, _ names: [String]) -> String? { names.first { isNear(word, $0) } }

    /// `Did you mean "a"? `; empty without a name.
    private static func question(_ name: String?) -> String {
        name.map { "Did you mean \($0.quotedForMessage)? " } ?? ""
    }

    /// The names of the sources whose posts are shown.
    var postNames: [String] { posts.map(\.name) }
}

extension Configuration.PostSource {
    /// An added source, checked by the rules of the configuration, except that its address may have a user.
    ///
    /// - Throws: `-32602` with the name of the first setting that is refused.
    init(_ added: AddedSource, inheriting posts: Configuration.Posts) throws(ResponseError) {
        self.init(
            name: added.name, kind: .feed, url: "", refresh: posts.refresh, keep: posts.keep, added: added)
        var reader = ConfigurationReader(
            file: "", context: .init(folder: "/", home: nil, checksSystem: false, allowsUser: true))
        reader.read(ConfigurationSchema.sourceKeys, in: YAMLNode(EncodedJSON(added.settings).tree), into: &self)
        guard let fault = reader.faults.first else { return }
        let key = String((fault.key ?? "url").prefix { $0 != "[" })
        throw .invalidParams("\(key): \(fault.message).", parameter: key)
    }
}

/// The properties shared by all sources, which outlive a reload of the configuration.
struct SourceContext: Sendable {
    let stores: Stores
    let environment: FetchingEnvironment
    let prefetcher: Prefetcher
    var knownCategories = KnownCategories()
    let logger: Logger
}

/// The properties of the process that fetching depends on, so that tests can replace them.
struct FetchingEnvironment: Sendable {
    var machine: String
    var clock: any WallClock
    var fetch: FetchProcess
    var credentials = Credentials(directory: nil)
    /// The longest wait of a search for an upstream.
    var searchTime = Server.Tuning.standard.networkDrainTime
}
