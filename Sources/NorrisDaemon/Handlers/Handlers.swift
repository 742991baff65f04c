import Logging
import NorrisServer
import NorrisStore
import NorrisSystem
import SystemdIntegration

/// The bodies of all methods with what they answer from: the part of the daemon that needs neither socket nor process.
struct Handlers: Sendable {
    let settings: Settings
    let reloader: Reloader
    let health: Health
    let fetching: Fetching
    let events = EventHub()
    /// The server keeps them up to date.
    let counters = ServerCounters()
    let bodies: [String: MethodBody]

    /// - Parameter stores: of these databases.
    init(
        loaded: ConfigurationLoader.Loaded, databases: Databases, stores: Stores, loader: ConfigurationLoader,
        file: Paths.ConfigurationFile?, environment: FetchingEnvironment,
        levels: LogLevelSwitch = LogLevelSwitch(.info), notifier: Notifier = Notifier(), logger: Logger
    ) async {
        let facts = stores.facts
        settings = await BackgroundThreads.starting.run { Settings(loaded.configuration, logger: logger, $0) }
        fetching = await Fetching(
            settings: settings, stores: stores, events: events, environment: environment, logger: logger)
        health = Health(
            settings: settings, databases: databases, fetching: fetching, counters: counters, events: events)
        reloader = Reloader(
            loader: loader, file: file, settings: settings, fetching: fetching, health: health, levels: levels,
            notifier: notifier, events: events, logger: logger)
        let handlers =
            FactHandlers(fetching: fetching).all + GifHandlers(fetching: fetching, facts: facts).all
            + PostHandlers(fetching: fetching, facts: facts).all + UserHandlers(fetching: fetching).all
            + ServerHandlers(health: health, reloader: reloader, fetching: fetching).all
        // A method with two handlers is a programming error.
        bodies = Dictionary(uniqueKeysWithValues: handlers.map { ($0.name, $0.body) })
    }

    /// The dispatch to the bodies.
    func makeRegistry(isAdministrator: @escaping @Sendable (Peer) -> Bool) -> MethodRegistry {
        MethodRegistry(bodies: bodies, counters: counters, isAdministrator: isAdministrator)
    }
}
