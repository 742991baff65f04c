import Logging
import NorrisServer
import NorrisStore
import SystemdIntegration

/// The bodies of all methods with what they answer from: the part of the daemon that needs neither socket nor process.
struct Handlers: Sendable {
    let settings: Settings
    let reloader: Reloader
    let health: Health
    let fetching: Fetching
    let events = EventHub()
    /// The server keeps it up to date.
    let connections = ConnectionCount()
    let bodies: [String: MethodBody]

    /// - Parameter facts: of the same databases, filled already.
    init(
        loaded: ConfigurationLoader.Loaded,
        databases: Databases,
        facts: FactStore,
        loader: ConfigurationLoader,
        file: Paths.ConfigurationFile?,
        environment: FetchingEnvironment,
        levels: LogLevelSwitch = LogLevelSwitch(.info),
        notifier: Notifier = Notifier(),
        logger: Logger
    ) {
        settings = Settings(loaded.configuration, logger: logger)
        let stores = Stores(databases: databases, facts: facts, logger: logger)
        fetching = Fetching(
            settings: settings, stores: stores, events: events, environment: environment, logger: logger
        )
        health = Health(
            settings: settings, databases: databases, fetching: fetching, connections: connections, events: events
        )
        reloader = Reloader(
            loader: loader, file: file, settings: settings, fetching: fetching, health: health, levels: levels,
            notifier: notifier, events: events, logger: logger
        )
        let groups = [
            EventHandlers().bodies,
            FactHandlers(fetching: fetching).bodies,
            FavoriteHandlers(fetching: fetching).bodies,
            GifHandlers(fetching: fetching, facts: facts).bodies,
            PostHandlers(fetching: fetching, facts: facts).bodies,
            RecentHandlers(recents: stores.recents, facts: facts).bodies,
            ServerHandlers(health: health, reloader: reloader).bodies,
            SourceHandlers(fetching: fetching).bodies,
        ]
        bodies = groups.reduce(into: [:]) { all, group in all.merge(group) { first, _ in first } }
    }

    /// The dispatch to the bodies.
    func makeRegistry(isAdministrator: @escaping @Sendable (Peer) -> Bool) -> MethodRegistry {
        let registry = MethodRegistry(bodies: bodies, isAdministrator: isAdministrator)
        health.count(requestsOf: registry)
        return registry
    }
}
