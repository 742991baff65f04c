import NorrisProtocol
import NorrisServer
import NorrisStore
import Synchronization

/// How the daemon is: what `server.status` and the service manager are told.
final class Health: Sendable {
    let startedAt = Timestamp.now()
    private let started = ContinuousClock.now
    private let settings: Settings
    private let databases: Databases
    private let fetching: Fetching
    private let connections: ConnectionCount
    /// Known only after the registry is made of the handlers that ask for this.
    private let registry = Mutex<MethodRegistry?>(nil)

    init(settings: Settings, databases: Databases, fetching: Fetching, connections: ConnectionCount) {
        self.settings = settings
        self.databases = databases
        self.fetching = fetching
        self.connections = connections
    }

    func count(requestsOf registry: MethodRegistry) {
        self.registry.withLock { $0 = registry }
    }

    /// What is wrong, a sentence each.
    var faults: [String] {
        databases.faults + (settings.refusal.map { ["A new configuration was refused: \($0)"] } ?? [])
    }

    var sources: [SourceStatus] { fetching.statuses }

    var status: ServerStatus.Result {
        let faults = faults
        let sizes = databases.sizes
        return ServerStatus.Result(
            state: faults.isEmpty ? .ok : .degraded,
            message: summary(faults),
            uptimeSeconds: Int((ContinuousClock.now - started).components.seconds),
            connections: connections.current,
            requestsTotal: registry.withLock { $0?.requestsTotal ?? 0 },
            sources: sources,
            database: ServerStatus.Database(
                cacheBytes: sizes.cache,
                stateBytes: sizes.state,
                isReadOnly: databases.isReadOnly
            ),
            version: NorrisVersion.current
        )
    }

    /// One line for a person.
    var summary: String { summary(faults) }

    private func summary(_ faults: [String]) -> String {
        let stores = fetching.stores
        let posts = fetching.sources.postNames.map(stores.posts.count(source:)).reduce(0, +)
        let contents = [(stores.facts.count, "fact"), (stores.gifs.count, "gif"), (posts, "post")]
            .filter { $0.0 > 0 }
            .map { "\($0.0) \($0.1)\($0.0 == 1 ? "" : "s")" }
            .joined(separator: ", ")
        return ([contents] + faults).joined(separator: " · ")
    }
}
