import NorrisPrefetch
import NorrisProtocol
import NorrisServer
import NorrisStore
import Synchronization

/// How the daemon is: what `server.status` and the service manager are told.
final class Health: Sendable {
    let startedAt = Timestamp.now()
    private let clock: any WallClock
    /// By the clock's ``WallClock/elapsed``.
    private let started: Duration
    private let settings: Settings
    private let databases: Databases
    private let fetching: Fetching
    private let connections: ConnectionCount
    /// Known only after the registry is made of the handlers that ask for this.
    private let registry = Mutex<MethodRegistry?>(nil)
    private let minutes = Mutex(RequestMinutes())

    init(settings: Settings, databases: Databases, fetching: Fetching, connections: ConnectionCount) {
        self.settings = settings
        self.databases = databases
        self.fetching = fetching
        self.connections = connections
        clock = fetching.environment.clock
        started = clock.elapsed
    }

    func count(requestsOf registry: MethodRegistry) {
        self.registry.withLock { $0 = registry }
    }

    /// How long the daemon has been running; a clock that was set changes nothing of it.
    var uptime: Duration { clock.elapsed - started }

    /// All requests, and those of each of the last minutes. Somebody has to look once a minute (``RequestCountService``):
    /// to count them where they come in would cost each of them.
    func requests() -> (total: Int, perMinute: [Int]) {
        minutes.withLock { minutes in
            // Within the lock, so that nobody comes with fewer than were seen before.
            let total = registry.withLock { $0?.requestsTotal ?? 0 }
            return (total, minutes.counts(at: uptime, total: total))
        }
    }

    /// What is wrong, a sentence each.
    var faults: [String] {
        databases.faults + (settings.refusal.map { ["A new configuration was refused: \($0)"] } ?? [])
    }

    var sources: [SourceStatus] { fetching.statuses }

    var status: ServerStatus.Result {
        let faults = faults
        let sizes = databases.sizes
        let requests = requests()
        return ServerStatus.Result(
            state: faults.isEmpty ? .ok : .degraded,
            message: summary(faults),
            uptimeSeconds: Int(uptime.components.seconds),
            connections: connections.current,
            requestsTotal: requests.total,
            requestsPerMinute: requests.perMinute,
            sources: sources,
            database: ServerStatus.Database(
                cacheBytes: sizes.cache,
                stateBytes: sizes.state,
                isReadOnly: databases.isReadOnly,
                freeBytes: databases.freeBytes
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
