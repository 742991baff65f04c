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
    private let loader: ConfigurationLoader
    private let file: Paths.ConfigurationFile?
    private let settings: Settings
    private let fetching: Fetching
    private let health: Health
    private let levels: LogLevelSwitch
    private let notifier: Notifier
    private let events: EventHub
    private let logger: Logger

    init(
        loader: ConfigurationLoader, file: Paths.ConfigurationFile?, settings: Settings, fetching: Fetching,
        health: Health, levels: LogLevelSwitch, notifier: Notifier, events: EventHub, logger: Logger
    ) {
        self.loader = loader
        self.file = file
        self.settings = settings
        self.fetching = fetching
        self.health = health
        self.levels = levels
        self.notifier = notifier
        self.events = events
        self.logger = logger
    }

    /// - Throws: where the file is bad; then nothing has changed.
    func reload() throws(ConfigurationError) {
        notifier.reloading()
        // Also after a failure: without it a reload of the unit would never end.
        defer {
            notifier.ready(status: health.statusLine)
            fetching.changes.set()
        }
        let loaded: ConfigurationLoader.Loaded
        do throws(ConfigurationError) {
            loaded = try loader.load(file)
        } catch {
            settings.refuse(error)
            for fault in error.faults {
                logger.error("configuration.refused", metadata: ["error": "\(fault)"])
            }
            throw error
        }
        loaded.logWarnings(to: logger)
        settings.apply(loaded.configuration, logger: logger)
        levels.set(loaded.configuration.log.level)
        fetching.configure()
        fetching.stores.facts.wantFortunes()
        logger.notice("configuration.reloaded")
        events.publish(.server(.reloaded))
    }
}

/// Reloads the configuration on SIGHUP.
struct ReloadService: Service {
    /// Trapped before the daemon says that it is ready.
    let signals: UnixSignalsSequence
    let reloader: Reloader

    func run() async throws {
        await cancelWhenGracefulShutdown {
            for await _ in signals {
                // Failures are logged; the daemon goes on with what it has.
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

extension ConfigurationLoader.Loaded {
    func logWarnings(to logger: Logger) {
        for warning in warnings {
            logger.warning("configuration.warning", metadata: ["warning": "\(warning)"])
        }
    }
}
