import NorrisPrefetch
import NorrisProtocol
import NorrisServer

/// The figures of `server.metrics` at one moment: all from memory, but for what `server.status` looks up and
/// `/proc/self/statm`.
struct Metrics: Sendable {
    var status: ServerStatus.Result
    var startedAt: Timestamp
    /// Bytes; nil where the kernel does not say.
    var residentMemory: Int?
    var requests: RequestCounts
    /// Connections that were ever served, and those past a limit.
    var connections: (accepted: Int, refused: Int)
    var subscribers: Int
    /// How the runs of each source ended.
    var runs: [String: SourceSchedule.Runs]

    /// OpenMetrics. What is not known has no sample.
    var text: String {
        var writer = OpenMetricsWriter()
        writeDaemon(to: &writer)
        writeRequests(to: &writer)
        writeSources(to: &writer)
        return writer.text
    }

    // Names begin with norrisd_, also those that others call process_…: node_exporter has such families of its own, and
    // a file that repeats them spoils its whole page.
    private func writeDaemon(to writer: inout OpenMetricsWriter) {
        let database = status.database
        writer.gauge("norrisd_build_info", help: "Always 1; the label is the version of norrisd.")
        writer.sample(1, [("version", status.version)])
        writer.gauge(
            "norrisd_start_time_seconds", Int(startedAt.seconds), unit: "seconds",
            help: "When the daemon began, since 1970 in UTC."
        )
        writer.gauge(
            "norrisd_resident_memory_bytes", residentMemory, unit: "bytes",
            help: "The daemon's memory that is not swapped out."
        )
        writer.gauge(
            "norrisd_degraded", status.state == .degraded ? 1 : 0,
            help: "Whether something is wrong; norrisctl status says what."
        )
        writer.gauge("norrisd_database_size_bytes", unit: "bytes", help: "Databases on disk, with their logs.")
        writer.sample(database.cacheBytes, [("database", "cache")])
        writer.sample(database.stateBytes, [("database", "state")])
        writer.gauge(
            "norrisd_database_free_bytes", database.freeBytes, unit: "bytes",
            help: "What the daemon may still write to its disks."
        )
        writer.gauge(
            "norrisd_database_read_only", database.isReadOnly ? 1 : 0, help: "Whether a database takes no writes."
        )
    }

    private func writeRequests(to writer: inout OpenMetricsWriter) {
        writer.gauge("norrisd_connections", status.connections, help: "Connections that are open.")
        writer.family("norrisd_connections_accepted", .counter, help: "Connections that were served.")
        writer.sample(connections.accepted)
        writer.family("norrisd_connections_refused", .counter, help: "Connections past a limit.")
        writer.sample(connections.refused)
        writer.gauge("norrisd_subscribers", subscribers, help: "Connections that wait for events.")

        writer.family("norrisd_requests", .counter, help: "Well-formed requests and notifications that came.")
        for method in requests.methods { writer.sample(method.requests, [("method", method.name)]) }
        writer.sample(requests.unknown, [("method", "unknown")])
        writer.family("norrisd_errors", .counter, help: "Requests that failed, and lines that were none.")
        for (reason, count) in requests.errors { writer.sample(count, [("reason", reason)]) }
        writer.family(
            "norrisd_request_duration_seconds", .histogram, unit: "seconds",
            help: "From a request until its result is ready to be sent."
        )
        for method in requests.methods {
            writer.histogram(
                bounds: Latency.bounds, counts: method.latency.counts, sum: Double(method.latency.nanoseconds) / 1e9,
                [("method", method.name)]
            )
        }
    }

    private func writeSources(to writer: inout OpenMetricsWriter) {
        gauge("enabled", &writer, help: "Whether the configuration has the source fetched.") { $0.isEnabled ? 1 : 0 }
        gauge("items", &writer, help: "What is stored of the source.") { $0.items }
        gauge(
            "last_success_timestamp_seconds", &writer, unit: "seconds", help: "When the source was last fetched."
        ) { $0.freshness.fetchedAt.map { Int($0.seconds) } }
        gauge("age_seconds", &writer, unit: "seconds", help: "How long ago that was.") { $0.freshness.ageSeconds }
        gauge(
            "next_run_timestamp_seconds", &writer, unit: "seconds", help: "When the source is fetched next."
        ) { $0.nextRunAt.map { Int($0.seconds) } }
        gauge("consecutive_failures", &writer, help: "Runs that failed in a row.") { $0.consecutiveFailures }
        writer.gauge("norrisd_source_failing", help: "Whether the source fails, for each way to fail.")
        for source in status.sources {
            for kind in SourceFailure.Kind.all {
                let isFailing = source.freshness.error?.kind == kind
                writer.sample(isFailing ? 1 : 0, labels(source) + [("error", kind.rawValue)])
            }
        }
        writer.family("norrisd_source_runs", .counter, help: "Runs that ended, by what came of them.")
        for source in status.sources {
            guard let runs = runs[source.name] else { continue }
            let results = [
                ("added", runs.added), ("failed", runs.failed), ("nothing_new", runs.nothingNew),
                ("postponed", runs.postponed),
            ]
            for (result, count) in results { writer.sample(count, labels(source) + [("result", result)]) }
        }
        gauge("quota_limit", &writer, help: "Requests the upstream may be sent in an hour.") { $0.quota?.limit }
        gauge("quota_used", &writer, help: "Requests it was sent in the last hour.") { $0.quota?.used }
    }

    /// A family with a sample for each source that has one.
    private func gauge(
        _ name: String, _ writer: inout OpenMetricsWriter, unit: String? = nil, help: String,
        _ value: (SourceStatus) -> Int?
    ) {
        writer.gauge("norrisd_source_\(name)", unit: unit, help: help)
        for source in status.sources {
            if let value = value(source) { writer.sample(value, labels(source)) }
        }
    }

    private func labels(_ source: SourceStatus) -> OpenMetricsWriter.Labels {
        [("source", source.name), ("kind", source.kind)]
    }
}
