import NorrisPrefetch
import NorrisProtocol
import NorrisServer
import NorrisStore
import Synchronization

/// The state of the daemon for `server.status`, `server.metrics` and the service manager.
final class Health: Sendable {
    let startedAt: Timestamp
    private let clock: any WallClock
    /// By the clock's ``WallClock/elapsed``.
    private let started: Duration
    private let settings: Settings
    private let databases: Databases
    private let reports: SourceReports
    private let counters: ServerCounters
    private let events: EventHub
    private let minutes = Mutex(RequestMinutes())
    private let latestMetrics = Mutex<(madeAt: Duration, result: [UInt8])?>(nil)

    init(
        settings: Settings, databases: Databases, reports: SourceReports, counters: ServerCounters, events: EventHub
    ) {
        (self.settings, self.databases, self.reports) = (settings, databases, reports)
        (self.counters, self.events, clock) = (counters, events, reports.clock)
        (startedAt, started) = (clock.now, clock.elapsed)
    }

    /// How long the daemon has been running, whatever happens to the time of day.
    var uptime: Duration { clock.elapsed - started }

    /// All requests, and those of each of the last minutes. Has to be called once a minute (``MaintenanceService``): to
    /// count minutes where requests come in would cost each of them.
    @discardableResult func requests() -> (total: Int, perMinute: [Int]) {
        minutes.withLock { minutes in
            // Within the lock, so that no call has a smaller total than the one before.
            let total = counters.requestsTotal
            return (total, minutes.counts(at: uptime, total: total))
        }
    }

    /// What is wrong, a sentence each.
    var faults: [String] {
        let overdue = reports.overdueSources.joined(separator: ", ")
        return databases.faults + (settings.refusal.map { ["A new configuration was refused: \($0)"] } ?? [])
            + (overdue.isEmpty ? [] : ["Sources that could not be refreshed in time: \(overdue)"])
    }

    var status: ServerStatus.Result {
        // On the event loop: nothing here waits for a file system.
        let (faults, space, requests) = (faults, databases.space, requests())
        return ServerStatus.Result(
            state: faults.isEmpty ? .ok : .degraded, message: line([contents, importProgress] + faults),
            configurationError: settings.refusal,
            uptimeSeconds: Int(uptime.components.seconds), connections: counters.openConnections,
            requestsTotal: requests.total, requestsPerMinute: requests.perMinute, sources: reports.statuses,
            database: ServerStatus.Database(
                cacheBytes: space.cache, stateBytes: space.state, isReadOnly: databases.isReadOnly,
                freeBytes: space.free), version: NorrisVersion.current)
    }

    /// The figures for a monitoring system.
    var metrics: Metrics {
        let names = reports.sources.current.all.map(\.name)
        let runs = names.compactMap { name in reports.prefetcher.schedule(of: name).map { (name, $0.runs) } }
        return Metrics(
            status: status, startedAt: startedAt, residentMemory: CurrentProcess.residentMemory(), counters: counters,
            subscribers: events.subscribers, runs: Dictionary(uniqueKeysWithValues: runs))
    }

    /// The result of `server.metrics`, made once a second at most: who requests it in a loop costs others no time.
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
        let schedules = reports.sources.current.all.compactMap { source in
            reports.prefetcher.schedule(of: source.name).map { (source.name, $0) }
        }
        let fetches = Health.fetchLine(
            running: schedules.filter { $0.1.isRunning }.map(\.0), next: schedules.compactMap { $0.1.nextRunAt }.min(),
            now: clock.now)
        return line([contents, importProgress, fetches] + faults)
    }

    /// What is fetched now, or else when the next fetch begins, in the daemon's time zone: with the day where that is
    /// not within 24 hours; empty where nothing is planned.
    static func fetchLine(running: [String], next: Timestamp?, now: Timestamp) -> String {
        guard running.isEmpty else { return "fetching " + running.joined(separator: ", ") }
        guard let next else { return "" }
        let isSoon = next.seconds - now.seconds < 86_400
        return "next fetch " + next.localText(isSoon ? "%H:%M" : "%Y-%m-%d %H:%M")
    }

    private var importProgress: String {
        reports.stores.facts.fortunesRead.map { "reading fortune files (\($0) facts so far)" } ?? ""
    }

    private var contents: String {
        let stores = reports.stores
        let posts = reports.sources.current.postNames.map(stores.posts.count(source:)).reduce(0, +)
        return [(stores.facts.count, "fact"), (stores.gifs.count, "gif"), (posts, "post")].filter { $0.0 > 0 }.map {
            "\($0.0) \($0.1)\($0.0 == 1 ? "" : "s")"
        }.joined(separator: ", ")
    }

    private func line(_ parts: [String]) -> String {
        parts.filter { !$0.isEmpty }.joined(separator: " · ")
    }
}

/// How many requests came in each of the last minutes, from totals that are looked at now and then.
///
/// What came between two looks counts for the minute of the first, so one look a minute, at its end, is enough.
struct RequestMinutes {
    /// How many minutes are known, the current one included.
    static let maximum = 60

    /// The minutes that are over, oldest first.
    private var past: [Int] = []
    /// The number of the current minute.
    private var minute: Int64 = 0
    /// How many requests there were before it.
    private var before = 0

    /// - Parameters:
    ///   - uptime: since the count began.
    ///   - total: how many requests there were until now.
    /// - Returns: oldest minute first; the last one is the current one.
    mutating func counts(at uptime: Duration, total: Int) -> [Int] {
        let now = uptime.components.seconds / 60
        if now > minute {
            past.append(total - before)
            past += repeatElement(0, count: Int(min(now - minute, Int64(RequestMinutes.maximum))) - 1)
            past.removeFirst(max(past.count - (RequestMinutes.maximum - 1), 0))
            minute = now
            before = total
        }
        return past + [total - before]
    }
}

/// The calendar of the daemon's time zone.
enum LocalDay {
    /// Today, as localtime(3) has it.
    static var today: CivilDate { Timestamp.now().localDay }
}
