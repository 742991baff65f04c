import Logging
import NorrisPrefetch
import NorrisProtocol
import NorrisServer
import NorrisStore
import ServiceLifecycle
import Synchronization
import SystemdIntegration
import UnixSignals

/// Reads the configuration again and applies it, one reload at a time.
struct Reloader: Sendable {
    let loader: ConfigurationLoader
    let file: Paths.ConfigurationFile?
    let settings: Settings
    let fetching: Fetching
    let health: Health
    let levels: LogLevelSwitch
    let notifier: Notifier
    let events: EventHub
    let logger: Logger

    /// - Throws: where the file is bad; then nothing has changed.
    func reload() async throws(ConfigurationError) {
        try settings.reloading.withLock { _ throws(ConfigurationError) in try reloadAlone() }
    }

    private func reloadAlone() throws(ConfigurationError) {
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
        levels.set(loaded.configuration.logLevel)
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

extension ConfigurationLoader.Loaded {
    func logWarnings(to logger: Logger) {
        for warning in warnings {
            logger.warning("configuration.warning", metadata: ["warning": "\(warning)"])
        }
    }
}
