import Logging
import NorrisFetchProtocol
import NorrisPrefetch
import NorrisProtocol
import NorrisServer
import NorrisTestSupport
import Testing

@testable import NorrisDaemon
@testable import NorrisStore

/// The handlers and fetching of the daemon in this process, with real sockets and a manual clock.
struct FetchingDaemon {
    /// The role that a server assigns to its peers.
    enum Caller: String, CaseIterable { case user, administrator }

    let folder: TemporaryFolder
    let clock: ManualClock
    let databases: Databases
    let store: FactStore
    let core: DaemonCore

    /// A subscriber to the events of the sources from the first run.
    let watch: LineClient

    private init(
        in folder: TemporaryFolder, _ configuration: String, _ clock: ManualClock, searchTime: Duration,
        _ tasks: inout ThrowingTaskGroup<Void, any Error>
    ) async throws {
        self.folder = folder
        self.clock = clock
        let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
        // The limit of a search is an hour, because a search on a busy machine must not fail a test.
        databases = try await Databases(
            cacheFolder: folder("cache"), stateFolder: folder("state"), searchLimit: .seconds(3_600), logger: logger)
        let stores = await Stores(databases: databases)
        store = stores.facts
        let file = Paths.ConfigurationFile(path: try folder.write(configuration, to: "config.yaml"), isNamed: true)
        let loader = ConfigurationLoader(home: nil, currentDirectory: folder.path)
        core = await DaemonCore(
            loaded: try loader.load(file), databases: databases, stores: stores, loader: loader, file: file,
            environment: FetchingEnvironment(
                machine: "test", clock: clock, fetch: FetchProcess(path: Programs.norrisFetch),
                searchTime: searchTime),
            logger: logger)
        for caller in Caller.allCases {
            try await FetchingDaemon.serve(core, folder(caller.rawValue), to: caller, logger, &tasks)
        }
        watch = try LineClient(path: folder(Caller.user.rawValue))
        let _: EventSubscribe.Result = try watch.call(EventSubscribe.self, #"{"topics":["source","item"]}"#)
    }

    /// Runs a daemon during the body, which may block.
    ///
    /// - Parameters:
    ///   - folder: the folder of an earlier daemon, to start a successor.
    ///   - facts: further keys of the `facts` section, each after a comma.
    ///   - others: further sections.
    ///   - searchTime: the time limit of a search. The default is sufficient on a busy machine.
    static func run(
        _ upstream: FakeUpstream, in folder: TemporaryFolder = TemporaryFolder(),
        clock: ManualClock = ManualClock(.ofTests), facts: String = "", others: String = "", fetches: Bool = true,
        searchTime: Duration = .seconds(300), _ body: (FetchingDaemon) async throws -> Void
    ) async throws {
        let configuration = configuration(upstream.baseURL, facts) + others
        let databases = try await withThrowingTaskGroup(of: Void.self) { tasks in
            let daemon = try await FetchingDaemon(in: folder, configuration, clock, searchTime: searchTime, &tasks)
            let prefetcher = daemon.core.prefetcher
            if fetches { tasks.addTask { try await prefetcher.run() } }
            defer { tasks.cancelAll() }
            try await TestThread.run { try await body(daemon) }
            return daemon.databases
        }
        await databases.close()
    }

    /// Runs a daemon with a separate upstream.
    static func run(
        jokes: [FakeJoke] = FakeUpstream.jokes(count: 40), clock: ManualClock = ManualClock(.ofTests),
        facts: String = "", fetches: Bool = true, searchTime: Duration = .seconds(300),
        _ body: (FetchingDaemon, FakeUpstream) async throws -> Void
    ) async throws {
        try await FakeUpstream.run(jokes: jokes) { upstream in
            try await run(upstream, clock: clock, facts: facts, fetches: fetches, searchTime: searchTime) {
                try await body($0, upstream)
            }
        }
    }

    private static func configuration(_ baseURL: String, _ facts: String) -> String {
        "facts: {base_url: '\(baseURL)'\(facts)}\nhttp: {timeout: 10m, host_gap: 0s}\n"
    }

    private static func serve(
        _ core: DaemonCore, _ path: String, to caller: Caller, _ logger: Logger,
        _ tasks: inout ThrowingTaskGroup<Void, any Error>
    ) async throws {
        let (ready, isReady) = AsyncStream.makeStream(of: Void.self)
        let server = Server(
            socket: try ListeningSocket(binding: path, mode: 0o600),
            registry: core.makeRegistry { _ in caller == .administrator }, events: core.events, logger: logger,
            onReady: { isReady.finish() })
        tasks.addTask {
            // The loop below must also end if the server cannot start.
            defer { isReady.finish() }
            try await server.run()
        }
        for await _ in ready {}
    }

    // MARK: Requests

    func client(_ caller: Caller = .user) throws -> LineClient { try LineClient(path: folder(caller.rawValue)) }

    func refusal<M: Method>(
        _ method: M.Type, _ parameters: String = "{}", as caller: Caller = .user
    ) -> ResponseError? {
        #expect(throws: ResponseError.self) { try client(caller).call(method, parameters) }
    }

    func search(_ parameters: String) throws -> FactSearch.Result { try client().call(FactSearch.self, parameters) }

    func search(text: String) throws -> FactSearch.Result {
        try search(#"{"query":\#(String(decoding: text.jsonBytes, as: UTF8.self))}"#)
    }

    func source() throws -> SourceStatus {
        try client().call(ServerStatus.self).sources[0]
    }

    func refresh(as caller: Caller = .administrator, _ parameters: String = "{}") throws -> SourceRefresh.Result {
        try client(caller).call(SourceRefresh.self, parameters)
    }

    /// Advances the clock and updates the schedule.
    func advance(by duration: Duration) async {
        clock.advance(by: duration)
        await core.sources.configure()
    }

    /// Makes the end of every fetch fail until ``takeRecordsAgain()``.
    func refuseRecords() async throws {
        try await databases.cache.write { database in
            try database.execute(
                """
                CREATE TEMP TRIGGER refused BEFORE INSERT ON main.fetches
                BEGIN SELECT RAISE(ABORT, 'refused by the test'); END
                """)
        }
    }

    func takeRecordsAgain() async throws { try await databases.cache.write { try $0.execute("DROP TRIGGER refused") } }

    func reload(_ upstream: FakeUpstream, facts: String) async throws {
        _ = try folder.write(FetchingDaemon.configuration(upstream.baseURL, facts), to: "config.yaml")
        try await core.reloader.reload()
    }
}

extension Prefetcher {
    /// Creates a prefetcher without sources, for a source that runs without a schedule.
    static func alone(_ stores: Stores, _ logger: Logger) -> Prefetcher {
        Prefetcher(
            host: ScheduleHost(stores: stores, events: EventHub(), changes: WakeSignal()), machine: "test",
            clock: ManualClock(.ofTests), searchTime: .seconds(300), logger: logger)
    }
}

extension FakeUpstream {
    /// Runs an upstream during the body.
    static func run(
        jokes: [FakeJoke] = FakeUpstream.jokes(count: 40), _ body: (FakeUpstream) async throws -> Void
    ) async throws {
        let upstream = try await FakeUpstream.start(jokes: jokes)
        do {
            try await body(upstream)
        } catch {
            await upstream.stop()
            throw error
        }
        await upstream.stop()
    }
}

/// The GIF and the post in the examples of PROTOCOL.md, stored as fetches store them.
enum SeededContent {
    /// The configuration of a daemon without other fetches.
    static let configuration = """
        posts: {sources: {town: {kind: mastodon, url: 'https://town.example', enabled: false}}}

        """

    static func put(into stores: Stores, at now: Timestamp) async throws {
        let fetchedAt = Timestamp(seconds: now.seconds - 11 * 3600)
        let original = Gif.Rendition(
            url: "https://media3.giphy.com/media/ID/giphy.gif?cid=1&ct=g", width: 480, height: 229)
        let gif = Gif(
            id: "bq2Nk0o7bQhhseGATA", title: "Full House Angel GIF", rating: "g",
            pageURL: "https://giphy.com/gifs/bq2Nk0o7bQhhseGATA", renditions: ["original": original])
        try await stores.gifs.put(
            [gif], in: .search("angel", rating: "g"), offset: 0, nextOffset: nil, totalCount: 1, at: fetchedAt)
        let post = Post(
            id: "town:1", source: "town", author: Post.Author(id: "town:7", name: "Ada", handle: "@ada@town.example"),
            publishedAt: Timestamp("2026-11-21T12:00:00Z"), text: "Counted to infinity today.", tags: ["maths"],
            stats: Post.Stats(likes: 12, comments: 1))
        _ = try await stores.posts.replace(
            stores.records.beginImport(of: "town"), posts: [FetchedPost(post)], isComplete: true, keep: .days(90),
            fetch: FetchRecord(settings: "older", fetchedAt: fetchedAt), at: now)
    }
}
