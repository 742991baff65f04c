import Glibc
import Logging
import NorrisPrefetch
import NorrisProtocol
import NorrisServer
import NorrisStore
import NorrisSystem
import NorrisText
import NorrisThreads
import ServiceLifecycle
import SystemdIntegration
import UnixSignals

extension Daemon {
    /// The time that systemd is asked to grant for opening the databases, because large files on a slow disk take long.
    /// The units set 30 seconds for a start (`TimeoutStartSec=`, systemd.service(5)).
    static let longStep = Duration.seconds(600)

    /// Builds the daemon and runs it until a signal stops it. The wiring of all modules is here, from top to bottom.
    static func serve(
        _ invocation: Invocation, _ paths: Paths, _ loader: ConfigurationLoader, _ loaded: ConfigurationLoader.Loaded,
        _ environment: Environment
    ) async throws {
        let configuration = loaded.configuration
        let levels = LogLevelSwitch(flag: invocation.logLevel, configuration.logLevel)
        let clock = SystemClock()
        let sink = QueuedSink(Journal.isConnected ? JournalSink() : StandardErrorSink())
        defer { sink.finish() }
        LoggingSystem.bootstrap { _ in DaemonLogHandler(levels: levels, sink: sink) }
        let logger = Logger(label: "norrisd")
        let notifier = Notifier()
        loaded.logWarnings(to: logger)

        // The locks are first, because only their holder may use the databases.
        let locks = try takeLocks(paths, logger)
        let databases = try await Databases(
            cacheFolder: paths.cacheDirectory, stateFolder: paths.stateDirectory, logger: logger,
            willTakeLong: { notifier.extendTimeout(by: longStep) })
        let stores = await Stores(databases: databases)
        let facts = stores.facts

        let core = await DaemonCore(
            loaded: loaded, databases: databases, stores: stores, loader: loader, file: paths.configurationFile,
            environment: FetchingEnvironment(
                machine: CurrentProcess.machineID(), clock: clock,
                fetch: .beside(CurrentProcess.executable), credentials: .ofThisProcess()), levels: levels,
            notifier: notifier, logger: logger)

        let promptFacts = paths.runtimeDirectory.map { folder in
            PromptFactsWriter(
                file: PromptFile(folder: folder), facts: facts, scope: { core.sources.unfilteredScope },
                logger: logger)
        }
        // Written before the daemon reports that it is ready.
        if let promptFacts { await BackgroundThreads.starting.run { promptFacts.write($0) } }

        let socket = try listen(SocketPath.listenPath(flag: invocation.socket, environment: environment))
        let server = Server(
            socket: socket, registry: core.makeRegistry(isAdministrator: core.settings.isAdministrator),
            limits: { core.settings.configuration.limits },
            heartbeat: Watchdog.interval().map { ($0, { notifier.watchdog() }) },
            events: core.events, logger: logger
        ) {
            notifier.ready(status: core.health.statusLine)
            let count = facts.catalogue.count
            if let path = socket.boundPath, invocation.logLevel == nil, isatty(STDERR_FILENO) == 1 {
                return say("ready, with \(countText(count, "fact")). \(advice(path, environment))")
            }
            let path = socket.boundPath ?? "inherited"
            logger.notice("server.ready", metadata: ["socket": "\(path)", "facts": "\(count)"])
        }
        // Each service needs the services before it; they stop in reverse order.
        let services: [any Service] = [
            StoreService(databases: databases, stores: stores, clock: clock),
            FortuneService(facts: facts, clock: clock) {
                core.settings.configuration.facts.fortunes
            },
            MaintenanceService(
                sources: core.sources, health: core.health, databases: databases, statusChanges: core.statusChanges,
                promptFacts: promptFacts),
            core.prefetcher,
            UnreadService(sources: core.sources, events: core.events),
            ReloadService(signals: await UnixSignalsSequence(trapping: .sighup), reloader: core.reloader), server,
            NotifierService(
                notifier: notifier, health: core.health, events: core.events, changes: core.statusChanges
            ),
        ]
        var group = ServiceGroupConfiguration(
            services: services, gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
        // After this time the remaining services are cancelled; the server ends slow connections earlier.
        group.maximumGracefulShutdownDuration = .seconds(3)
        try await ServiceGroup(configuration: group).run()
        logger.notice("server.stopped")
        withExtendedLifetime(locks) {}
    }

    /// The locks of both folders, which may be the same. A folder that cannot be written has none, because then there
    /// is nothing to protect.
    ///
    /// - Throws: an error if another daemon holds a folder.
    private static func takeLocks(_ paths: Paths, _ logger: Logger) throws(StoreError) -> [InstanceLock] {
        var locks: [InstanceLock] = []
        for (folder, option) in [(paths.stateDirectory, "--state-dir"), (paths.cacheDirectory, "--cache-dir")] {
            do throws(StoreError) {
                try Folder.make(folder)
                if locks.contains(where: { $0.isIn(folder) }) { continue }
                locks.append(try InstanceLock(folder: folder, option: option))
            } catch {
                if error.reason.exitStatus != nil { throw error }
                // The cache is opened later, which reports the error.
                if folder == paths.stateDirectory { logger.error("state.unwritable", metadata: ["error": "\(error)"]) }
            }
        }
        return locks
    }

    /// The next step of a user who has started the daemon in a terminal.
    private static func advice(_ socket: String, _ environment: Environment) -> String {
        // Other terminals may lack the variable, and are in other folders.
        let others = Environment { $0 == "NORRISD_SOCKET" ? nil : environment[$0] }
        let isFound = SocketPath.connectCandidates(flag: nil, environment: others).contains(socket)
        let path = socket.hasPrefix("/") ? socket : Paths.join(CurrentProcess.currentDirectory, socket)
        return "In another terminal: norrisctl \(isFound ? "" : "--socket \(shellQuoted(path)) ")fact"
    }

    private static func listen(_ path: String) throws -> ListeningSocket {
        if let descriptor = try ListenDescriptors.inherited() { return ListeningSocket(inherited: descriptor) }
        // The system's socket is open to all users, as in its socket unit; any other socket is open to its user.
        return try ListeningSocket(binding: path, mode: path == SocketPath.system ? 0o666 : 0o600)
    }
}

/// The daemon without its socket and its process: stores, sources, schedules and the bodies of all methods.
struct DaemonCore: Sendable {
    let settings: Settings
    let stores: Stores
    let sources: ConfiguredSources
    let prefetcher: Prefetcher
    let health: Health
    let reloader: Reloader
    let events = EventHub()
    /// Updated by the server.
    let counters = ServerCounters()
    /// Set when the status may have changed: a run began or ended, a disk failed, a configuration was read.
    let statusChanges = WakeSignal()
    private let bodies: [String: Handler.Body]

    /// - Parameter stores: the stores of `databases`.
    init(
        loaded: ConfigurationLoader.Loaded, databases: Databases, stores: Stores, loader: ConfigurationLoader,
        file: Paths.ConfigurationFile?, environment: FetchingEnvironment,
        levels: LogLevelSwitch = LogLevelSwitch(.info), notifier: Notifier = Notifier(), logger: Logger
    ) async {
        self.stores = stores
        settings = await BackgroundThreads.starting.run { Settings(loaded, logger: logger, $0) }
        prefetcher = Prefetcher(
            host: ScheduleHost(stores: stores, events: events, changes: statusChanges), machine: environment.machine,
            clock: environment.clock, searchTime: environment.searchTime, logger: logger)
        sources = await ConfiguredSources(
            settings: settings,
            context: SourceContext(stores: stores, environment: environment, prefetcher: prefetcher, logger: logger))
        health = Health(sources: sources, databases: databases, counters: counters, events: events)
        reloader = Reloader(
            loader: loader, file: file, sources: sources, health: health, statusChanges: statusChanges, levels: levels,
            notifier: notifier, events: events)
        let handlers =
            FactHandlers(sources: sources).all + GifHandlers(sources: sources).all + PostHandlers(sources: sources).all
            + UserHandlers(sources: sources).all + ServerHandlers(health: health, reloader: reloader).all
        // Two handlers for one method are a programming error.
        bodies = Dictionary(uniqueKeysWithValues: handlers.map { ($0.name, $0.body) })
    }

    /// The dispatch of requests to the bodies.
    func makeRegistry(isAdministrator: @escaping @Sendable (Peer) -> Bool) -> MethodRegistry {
        MethodRegistry(bodies: bodies, counters: counters, isAdministrator: isAdministrator)
    }
}
