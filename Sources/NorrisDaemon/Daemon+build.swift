import Glibc
import Logging
import NorrisPrefetch
import NorrisProtocol
import NorrisServer
import NorrisStore
import NorrisSystem
import ServiceLifecycle
import SystemdIntegration
import UnixSignals

extension Daemon {
    /// How long one step of a start or a reload may take: a large database on a slow disk, many fortune files. The unit
    /// lets systemd wait for 30 seconds (`TimeoutStartSec=`, systemd.service(5)).
    static let longStep = Duration.seconds(600)

    /// Builds the daemon and runs it until it is told to stop. This is the wiring diagram: read it from top to bottom.
    static func serve(
        _ invocation: Invocation, _ paths: Paths, _ loader: ConfigurationLoader, _ loaded: ConfigurationLoader.Loaded,
        _ environment: Environment
    ) async throws {
        let configuration = loaded.configuration
        let levels = LogLevelSwitch(flag: invocation.logLevel, configuration.logLevel)
        let clock = SystemClock()
        let sink = RepeatLimitingSink(Journal.isConnected ? JournalSink() : StandardErrorSink(), clock: clock)
        LoggingSystem.bootstrap { _ in DaemonLogHandler(levels: levels, sink: sink) }
        let logger = Logger(label: "norrisd")
        let notifier = Notifier()
        loaded.logWarnings(to: logger)

        // The lock first: whoever has it may touch the databases.
        let lock = try takeLock(paths.stateDirectory, logger)
        let (databases, stores) = try await BackgroundThreads.starting.run { access throws(StoreError) in
            let databases = try Databases(
                cacheFolder: paths.cacheDirectory, stateFolder: paths.stateDirectory, logger: logger, access,
                willTakeLong: { notifier.extendTimeout(by: longStep) })
            let facts = FactStore(databases: databases, access)
            facts.importStartingCollection(access)
            return (databases, Stores(databases: databases, facts: facts, access))
        }
        let facts = stores.facts

        let handlers = await Handlers(
            loaded: loaded, databases: databases, stores: stores, loader: loader, file: paths.configurationFile,
            environment: FetchingEnvironment(
                machine: CurrentProcess.machineID(), clock: clock,
                // In place of the system's trusted certificates (openssl-env(7)).
                trustRoots: environment.value(of: "SSL_CERT_FILE"), credentials: .ofThisProcess()), levels: levels,
            notifier: notifier, logger: logger)

        databases.onFaultsChange { handlers.fetching.changes.set() }

        let promptFacts = paths.runtimeDirectory.map { folder in
            PromptFactsWriter(
                file: PromptFile(folder: folder), facts: facts, scope: { handlers.fetching.unfilteredScope },
                logger: logger)
        }
        // Before the daemon is ready.
        if let promptFacts { await BackgroundThreads.starting.run { promptFacts.write($0) } }

        let socket = try listen(SocketPath.listenPath(flag: invocation.socket, environment: environment))
        let server = Server(
            socket: socket, registry: handlers.makeRegistry(isAdministrator: handlers.settings.isAdministrator),
            limits: { handlers.settings.configuration.limits },
            heartbeat: Watchdog.interval().map { Server.Heartbeat(every: $0) { notifier.watchdog() } },
            events: handlers.events, logger: logger
        ) {
            notifier.ready(status: handlers.health.statusLine)
            let path = socket.boundPath ?? "inherited"
            logger.notice("server.ready", metadata: ["socket": "\(path)", "facts": "\(facts.count)"])
        }
        // Each needs those before it; they stop in reverse.
        let services: [any Service] = [
            StoreService(databases: databases, facts: facts, clock: clock),
            FortuneService(facts: facts, clock: clock, changes: handlers.fetching.changes) {
                handlers.settings.configuration.facts.fortunes
            }, MaintenanceService(handlers: handlers, databases: databases, sink: sink, promptFacts: promptFacts),
            handlers.fetching.prefetcher,
            ReloadService(signals: await UnixSignalsSequence(trapping: .sighup), reloader: handlers.reloader), server,
            NotifierService(
                notifier: notifier, health: handlers.health, events: handlers.events, changes: handlers.fetching.changes
            ),
        ]
        var group = ServiceGroupConfiguration(
            services: services, gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
        // Past this the remaining services are cancelled; the server gives up on slow readers before.
        group.maximumGracefulShutdownDuration = .seconds(3)
        do {
            // Also where a service has failed: suppressed lines may show why.
            defer { sink.finish() }
            try await ServiceGroup(configuration: group).run()
        }
        logger.notice("server.stopped")
        withExtendedLifetime(lock) {}
    }

    /// - Returns: nil where the folder cannot be written: then there is nothing to protect, and the daemon serves on.
    /// - Throws: where another daemon holds the folder.
    private static func takeLock(_ folder: String, _ logger: Logger) throws(StoreError) -> InstanceLock? {
        do throws(StoreError) {
            try Folder.make(folder)
            return try InstanceLock(folder: folder)
        } catch {
            if case .locked = error.reason { throw error }
            logger.error("state.unwritable", metadata: ["error": "\(error)"])
            return nil
        }
    }

    private static func listen(_ path: String) throws -> ListeningSocket {
        if let descriptor = try ListenDescriptors.inherited() { return ListeningSocket(inherited: descriptor) }
        // The system's daemon is open to all users, as its socket unit makes it; any other is its user's own.
        return try ListeningSocket(binding: path, mode: path == SocketPath.system ? 0o666 : 0o600)
    }
}
