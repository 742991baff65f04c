import Logging
import NorrisPrefetch
import NorrisProtocol
import NorrisServer
import NorrisStore
import ServiceLifecycle
import SystemdIntegration
import UnixSignals

/// Reads the configuration again and applies it, one reload at a time.
actor Reloader {
    /// What a new configuration is applied to.
    struct Targets: Sendable {
        let settings: Settings
        let facts: FactStore
        let fetching: Fetching
        let levels: LogLevelSwitch
        /// A level given as a flag, which wins over the file.
        let levelFlag: Configuration.LogLevel?
        let statusLine: @Sendable () -> String
    }

    private let loader: ConfigurationLoader
    private let file: Paths.ConfigurationFile?
    private let notifier: Notifier
    private let events: EventHub
    private let logger: Logger
    /// Known only after the server is made, whose handlers ask for this.
    private var targets: Targets?

    init(
        loader: ConfigurationLoader,
        file: Paths.ConfigurationFile?,
        notifier: Notifier,
        events: EventHub,
        logger: Logger
    ) {
        self.loader = loader
        self.file = file
        self.notifier = notifier
        self.events = events
        self.logger = logger
    }

    func attach(_ targets: Targets) {
        self.targets = targets
    }

    /// - Throws: where the file is bad; then nothing has changed.
    func reload() async throws(ConfigurationError) {
        guard let targets else { return }
        notifier.reloading()
        // Also after a failure: without it a reload of the unit would never end.
        defer {
            notifier.ready(status: targets.statusLine())
            targets.fetching.changes.set()
        }
        let loaded: ConfigurationLoader.Loaded
        do throws(ConfigurationError) {
            loaded = try loader.load(file)
        } catch {
            targets.settings.refuse(error)
            for fault in error.faults {
                logger.error("configuration.refused", metadata: ["error": "\(fault)"])
            }
            throw error
        }
        for warning in loaded.warnings {
            logger.warning("configuration.warning", metadata: ["warning": "\(warning)"])
        }
        await apply(loaded.configuration, to: targets)
        logger.notice("configuration.reloaded")
        events.publish(.server(.reloaded))
    }

    private func apply(_ configuration: Configuration, to targets: Targets) async {
        targets.settings.apply(configuration, logger: logger)
        targets.levels.current = Logger.Level(targets.levelFlag ?? configuration.log.level)
        targets.fetching.configure()
        targets.facts.wantFortunes()
    }
}

/// Reloads the configuration on SIGHUP.
struct ReloadService: Service {
    /// Taken from before the daemon says that it is ready.
    let signals: UnixSignalsSequence
    let reloader: Reloader

    func run() async throws {
        await cancelWhenGracefulShutdown {
            for await _ in signals {
                // Logged where it fails; the daemon goes on with what it has.
                try? await reloader.reload()
            }
        }
    }
}

extension Server.Limits {
    init(_ limits: Configuration.Limits) {
        self.init(connections: limits.connections, connectionsPerUser: limits.connectionsPerUser)
    }
}
