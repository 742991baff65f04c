import NorrisPrefetch
import NorrisProtocol
import NorrisServer
import NorrisStore
import NorrisText

/// The state of the daemon for `server.status`, `server.metrics` and the service manager.
final class Health: Sendable {
    let startedAt: Timestamp
    private let clock: any WallClock
    /// In the time of ``WallClock/elapsed``.
    private let started: Duration
    private let databases: Databases
    private let sources: ConfiguredSources
    private let counters: ServerCounters
    private let events: EventHub

    init(sources: ConfiguredSources, databases: Databases, counters: ServerCounters, events: EventHub) {
        (self.sources, self.databases, self.counters, self.events) = (sources, databases, counters, events)
        clock = sources.clock
        (startedAt, started) = (clock.now, clock.elapsed)
    }

    /// The time since the start, independent of changes of the wall clock.
    var uptime: Duration { clock.elapsed - started }

    /// The current faults, one sentence each.
    var faults: [String] {
        let overdue = sources.overdueSources.joined(separator: ", ")
        return databases.faults + (sources.settings.refusal.map { ["A new configuration was refused: \($0)"] } ?? [])
            + (overdue.isEmpty ? [] : ["Sources that could not be refreshed in time: \(overdue)"])
    }

    var status: ServerStatus.Result {
        // Runs on the event loop, so nothing here reads a file system.
        let (faults, space, hosts) = (faults, databases.space, sources.prefetcher.heldHosts)
        return ServerStatus.Result(
            state: faults.isEmpty ? .ok : .degraded, message: line([contents, leftOut] + faults),
            configurationError: sources.settings.refusal,
            uptimeSeconds: Int(uptime.components.seconds), connections: counters.openConnections.count,
            requestsTotal: counters.requestsTotal, sources: sources.statuses, hosts: hosts.isEmpty ? nil : hosts,
            database: ServerStatus.Database(
                cacheBytes: space.cache, stateBytes: space.state, isReadOnly: databases.isReadOnly,
                freeBytes: space.free), version: NorrisVersion.current)
    }

    /// The metrics for a monitoring system.
    var metrics: Metrics {
        let names = sources.current.all.map(\.name)
        let runs = names.compactMap { name in sources.prefetcher.schedule(of: name).map { (name, $0.runs) } }
        return Metrics(
            status: status, startedAt: startedAt, residentMemory: CurrentProcess.residentMemory(), counters: counters,
            subscribers: events.subscribers, runs: Dictionary(uniqueKeysWithValues: runs))
    }

    /// One line for `systemctl status`.
    var statusLine: String {
        let schedules = sources.current.all.compactMap { source in
            sources.prefetcher.schedule(of: source.name).map { (source.name, $0) }
        }
        let fetches = Health.fetchLine(
            running: schedules.filter { $0.1.isRunning }.map(\.0),
            next: schedules.compactMap { $0.1.nextRun(clock.now) }.min(),
            now: clock.now)
        return line([contents, leftOut, fetches] + faults)
    }

    /// The running fetches, or the time of the next fetch in the daemon's time zone, with the date if it is more than
    /// 24 hours ahead. Empty if no fetch is scheduled.
    static func fetchLine(running: [String], next: Timestamp?, now: Timestamp) -> String {
        guard running.isEmpty else { return "fetching " + running.joined(separator: ", ") }
        guard let next else { return "" }
        let isSoon = next.seconds - now.seconds < 86_400
        return "next fetch " + next.localText(isSoon ? "%H:%M" : "%Y-%m-%d %H:%M")
    }

    /// The facts beyond the limits of the memory.
    private var leftOut: String {
        let count = sources.stores.facts.catalogue.leftOut
        return count == 0
            ? ""
            : "\(groupedDigits(count)) facts left out: at most \(groupedDigits(FactCatalogue.maximumCount)) facts and "
                + "\(FactCatalogue.maximumTextBytes >> 20) MiB of text"
    }

    private var contents: String {
        let stores = sources.stores
        let posts = sources.current.postNames.map(stores.posts.count(source:)).reduce(0, +)
        return [(stores.facts.catalogue.count, "fact"), (stores.gifs.count, "gif"), (posts, "post")].filter { $0.0 > 0 }
            .map { countText($0, $1) }.joined(separator: ", ")
    }

    private func line(_ parts: [String]) -> String {
        parts.filter { !$0.isEmpty }.joined(separator: " · ")
    }
}
