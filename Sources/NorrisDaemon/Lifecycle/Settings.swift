import Glibc
import Logging
import NorrisPrefetch
import NorrisProtocol
import NorrisServer
import NorrisStore
import NorrisThreads
import ServiceLifecycle
import Synchronization
import SystemdIntegration
import UnixSignals

/// The configuration in force and derived values, replaced by a reload.
final class Settings: Sendable {
    private struct State {
        var configuration: Configuration
        var administratorGroups: Set<gid_t>
        var refusal: String?
    }

    private let state: Mutex<State>
    /// Held during a reload, so that reloads run one after another.
    let reloading = AsyncLock()

    init(_ loaded: ConfigurationLoader.Loaded, logger: Logger, _ access: BlockingAccess) {
        state = Mutex(Settings.state(of: loaded, logger, access))
    }

    var configuration: Configuration { state.withLock { $0.configuration } }

    /// The reason why the last reload was refused; nil after a successful reload.
    var refusal: String? { state.withLock { $0.refusal } }

    func apply(_ loaded: ConfigurationLoader.Loaded, logger: Logger, _ access: BlockingAccess) {
        let new = Settings.state(of: loaded, logger, access)
        state.withLock { $0 = new }
    }

    func refuse(_ error: ConfigurationError) {
        state.withLock { $0.refusal = error.faults.first?.description }
    }

    /// uid 0, the daemon's own uid, or a member of one of the configured groups.
    func isAdministrator(_ peer: Peer) -> Bool {
        if peer.uid == 0 || peer.uid == geteuid() { return true }
        return state.withLock { state in
            state.administratorGroups.contains(peer.gid) || !state.administratorGroups.isDisjoint(with: peer.groups)
        }
    }

    /// A group that does not exist is a warning, unless it is from the default, which suits several systems.
    private static func state(of loaded: ConfigurationLoader.Loaded, _ logger: Logger, _: BlockingAccess) -> State {
        let configuration = loaded.configuration
        let groups = configuration.adminGroups.compactMap { name in
            if let id = groupID(name) { return id }
            guard configuration.adminGroups != Configuration().adminGroups else { return nil }
            logger.warning("configuration.unknown-group", metadata: ["group": "\(name)"])
            return nil as gid_t?
        }
        return State(configuration: configuration, administratorGroups: Set(groups))
    }

    /// The id of a group (getgrnam_r(3)); nil if there is no such group.
    static func groupID(_ name: String) -> gid_t? {
        var record = group()
        var found: UnsafeMutablePointer<group>?
        var buffer = [CChar](repeating: 0, count: 1 << 20)
        guard getgrnam_r(name, &record, &buffer, buffer.count, &found) == 0, found != nil else { return nil }
        return record.gr_gid
    }
}

/// Reads the configuration again and applies it, one reload at a time.
struct Reloader: Sendable {
    let loader: ConfigurationLoader
    let file: Paths.ConfigurationFile?
    let sources: ConfiguredSources
    let health: Health
    /// Set when the status may have changed.
    let statusChanges: WakeSignal
    let levels: LogLevelSwitch
    let notifier: Notifier
    let events: EventHub

    /// - Throws: if the file has faults; then nothing has changed.
    func reload() async throws(ConfigurationError) {
        let (settings, logger) = (sources.settings, sources.context.logger)
        // A cancelled task gets no lock and reloads nothing, because the daemon stops.
        guard await settings.reloading.lock() else { return }
        defer { settings.reloading.unlock() }
        notifier.reloading()
        // Also after a failure, because a reload of the unit would otherwise never end.
        defer {
            notifier.ready(status: health.statusLine)
            statusChanges.set()
        }
        let loaded: ConfigurationLoader.Loaded
        do throws(ConfigurationError) {
            loaded = try await BackgroundThreads.background.run { access throws(ConfigurationError) in
                let loaded = try loader.load(file)
                settings.apply(loaded, logger: logger, access)
                return loaded
            }
        } catch {
            settings.refuse(error)
            for fault in error.faults { logger.error("configuration.refused", metadata: ["error": "\(fault)"]) }
            throw error
        }
        loaded.logWarnings(to: logger)
        levels.set(loaded.configuration.logLevel)
        await sources.configure()
        sources.stores.facts.wantFortunes()
        logger.notice("configuration.reloaded")
        events.publish(.server(.reloaded))
    }
}

/// Reloads the configuration on SIGHUP.
struct ReloadService: Service {
    /// Trapped before the daemon reports that it is ready.
    let signals: UnixSignalsSequence
    let reloader: Reloader

    func run() async throws {
        await cancelWhenGracefulShutdown {
            for await _ in signals {
                // Failures are logged, and the configuration in force stays.
                try? await reloader.reload()
            }
        }
    }
}

extension ConfigurationLoader.Loaded {
    func logWarnings(to logger: Logger) {
        for warning in warnings { logger.warning("configuration.warning", metadata: ["warning": "\(warning)"]) }
    }
}
