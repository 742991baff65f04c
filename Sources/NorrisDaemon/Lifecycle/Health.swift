import NorrisPrefetch
import NorrisProtocol
import NorrisServer
import NorrisStore
import Synchronization

/// How the daemon is: what `server.status`, `server.metrics` and the service manager are told.
final class Health: Sendable {
    let startedAt = Timestamp.now()
    private let clock: any WallClock
    /// By the clock's ``WallClock/elapsed``.
    private let started: Duration
    private let settings: Settings
    private let databases: Databases
    private let fetching: Fetching
    private let counters: ServerCounters
    private let events: EventHub
    private let minutes = Mutex(RequestMinutes())
    private let latestMetrics = Mutex<(madeAt: Duration, result: [UInt8])?>(nil)

    init(
        settings: Settings, databases: Databases, fetching: Fetching, counters: ServerCounters, events: EventHub
    ) {
        self.settings = settings
        self.databases = databases
        self.fetching = fetching
        self.counters = counters
        self.events = events
        clock = fetching.environment.clock
        started = clock.elapsed
    }

    /// How long the daemon has been running; a clock that was set changes nothing of it.
    var uptime: Duration { clock.elapsed - started }

    /// All requests, and those of each of the last minutes. Somebody has to look once a minute (``RequestCountService``):
    /// to count them where they come in would cost each of them.
    func requests() -> (total: Int, perMinute: [Int]) {
        minutes.withLock { minutes in
            // Within the lock, so that nobody comes with fewer than were seen before.
            let total = counters.requestsTotal
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
            message: line([contents, progress] + faults),
            uptimeSeconds: Int(uptime.components.seconds),
            connections: counters.openConnections,
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

    /// The figures for a monitoring system.
    var metrics: Metrics {
        let names = fetching.sources.all.map(\.name)
        let runs = names.compactMap { name in fetching.prefetcher.schedule(of: name).map { (name, $0.runs) } }
        return Metrics(
            status: status,
            startedAt: startedAt,
            residentMemory: residentMemory(),
            requests: counters.requests,
            connections: (counters.acceptedConnections, counters.refusedConnections),
            subscribers: events.subscribers,
            runs: Dictionary(uniqueKeysWithValues: runs)
        )
    }

    /// The result of `server.metrics`, made once a second at most: whoever asks for it in a loop costs others no time.
    var encodedMetrics: [UInt8] {
        latestMetrics.withLock { latest in
            let now = clock.elapsed
            if let latest, now - latest.madeAt < .seconds(1) { return latest.result }
            let result = ServerMetrics.Result(text: metrics.text).jsonBytes
            latest = (now, result)
            return result
        }
    }

    /// One line for `systemctl status`.
    var statusLine: String {
        line([contents, progress, fetching.outlook.text(at: clock.now)] + faults)
    }

    private var progress: String {
        fetching.stores.facts.fortunesRead.map { "reading fortune files (\($0) facts so far)" } ?? ""
    }

    private func line(_ parts: [String]) -> String {
        parts.filter { !$0.isEmpty }.joined(separator: " · ")
    }

    private var contents: String {
        let stores = fetching.stores
        let posts = fetching.sources.postNames.map(stores.posts.count(source:)).reduce(0, +)
        return [(stores.facts.count, "fact"), (stores.gifs.count, "gif"), (posts, "post")]
            .filter { $0.0 > 0 }
            .map { "\($0.0) \($0.1)\($0.0 == 1 ? "" : "s")" }
            .joined(separator: ", ")
    }
}
