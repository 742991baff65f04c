import NorrisPrefetch
import NorrisProtocol
import NorrisServer
import NorrisText

/// The metrics of `server.metrics` at one moment, from memory and `/proc/self/statm`.
struct Metrics: Sendable {
    var status: ServerStatus.Result
    var startedAt: Timestamp
    /// In bytes; nil if the kernel does not report it.
    var residentMemory: Int?
    var counters: ServerCounters
    var subscribers: Int
    /// The outcomes of the runs, by source.
    var runs: [String: SourceSchedule.Runs]

    /// The OpenMetrics text. Unknown values have no sample.
    var text: String {
        var writer = OpenMetricsWriter()
        writeDaemon(to: &writer)
        writeRequests(to: &writer)
        writeSources(to: &writer)
        return writer.text
    }

    // All names begin with norrisd_, even metrics that other programs name process_…, because node_exporter has the
    // same families, and a duplicate family invalidates the whole page.
    private func writeDaemon(to writer: inout OpenMetricsWriter) {
        let database = status.database
        writer.gauge("build_info", "Always 1; the label is the version of norrisd.")
        writer.sample(1, [("version", status.version)])
        writer.gauge("start_time_seconds", "When the daemon began, since 1970 in UTC.", Int(startedAt.seconds))
        writer.gauge("resident_memory_bytes", "The daemon's memory that is not swapped out.", residentMemory)
        writer.gauge(
            "degraded", "Whether the daemon is degraded; norrisctl status shows the faults.",
            status.state == .degraded ? 1 : 0)
        writer.gauge("database_size_bytes", "Databases on disk, with their logs.")
        writer.sample(database.cacheBytes, [("database", "cache")])
        writer.sample(database.stateBytes, [("database", "state")])
        writer.gauge("database_free_bytes", "Bytes that the daemon may still write to its disks.", database.freeBytes)
        writer.gauge("database_read_only", "Whether a database is read-only.", database.isReadOnly ? 1 : 0)
    }

    private func writeRequests(to writer: inout OpenMetricsWriter) {
        writer.gauge("connections", "Connections that are open.", status.connections)
        writer.family("connections_accepted", .counter, "Connections that were served.")
        writer.sample(counters.acceptedConnections.count)
        writer.family("connections_refused", .counter, "Connections refused because of a limit.")
        writer.sample(counters.refusedConnections.count)
        writer.gauge("subscribers", "Connections that wait for events.", subscribers)

        writer.family("requests", .counter, "Well-formed requests and notifications received.")
        for method in counters.methods { writer.sample(method.requests.count, [("method", method.name)]) }
        writer.sample(counters.unknownRequests.count, [("method", "unknown")])
        writer.family("errors", .counter, "Failed requests, including invalid lines.")
        for (reason, count) in counters.errors { writer.sample(count, [("reason", reason)]) }
        writer.family("request_duration_seconds", .histogram, "From a request until its result is ready to be sent.")
        let bounds = RequestMeter.bounds.indices.map { Double(RequestMeter.bounds[$0]) / 1e9 }
        for method in counters.methods {
            let sum = Double(method.nanoseconds.count) / 1e9
            writer.histogram(bounds: bounds, counts: method.counts, sum: sum, [("method", method.name)])
        }
    }

    private func writeSources(to writer: inout OpenMetricsWriter) {
        gauge("enabled", "Whether the configuration enables the source.", &writer) { $0.isEnabled ? 1 : 0 }
        gauge("items", "Stored items of the source.", &writer) { $0.items }
        gauge("last_success_timestamp_seconds", "When the source was last fetched.", &writer) {
            $0.freshness.fetchedAt.map { Int($0.seconds) }
        }
        gauge("age_seconds", "Seconds since the source was last fetched.", &writer) { $0.freshness.ageSeconds }
        gauge("stale", "Whether the content of the source is stale.", &writer) { $0.freshness.state == .stale ? 1 : 0 }
        gauge("next_run_timestamp_seconds", "When the source is fetched next.", &writer) {
            $0.nextRunAt.map { Int($0.seconds) }
        }
        gauge("consecutive_failures", "Runs that failed in a row.", &writer) { $0.consecutiveFailures }
        writer.gauge("source_failing", "Whether the source fails, by kind of error.")
        for source in status.sources {
            for kind in SourceFailure.Kind.all {
                let isFailing = source.freshness.error?.kind == kind
                writer.sample(isFailing ? 1 : 0, labels(source) + [("error", kind.rawValue)])
            }
        }
        writer.family("source_runs", .counter, "Ended runs, by result.")
        for source in status.sources {
            guard let runs = runs[source.name] else { continue }
            let results = [
                ("added", runs.added), ("failed", runs.failed), ("nothing_new", runs.nothingNew),
                ("postponed", runs.postponed),
            ]
            for (result, count) in results { writer.sample(count, labels(source) + [("result", result)]) }
        }
        gauge("quota_limit", "Requests the upstream may be sent in an hour.", &writer) { $0.quota?.limit }
        gauge("quota_used", "Requests sent to the upstream in the last hour.", &writer) { $0.quota?.used }
    }

    /// A family with one sample for each source that has a value.
    private func gauge(
        _ name: String, _ help: String, _ writer: inout OpenMetricsWriter, _ value: (SourceStatus) -> Int?
    ) {
        writer.gauge("source_\(name)", help)
        for source in status.sources {
            if let value = value(source) { writer.sample(value, labels(source)) }
        }
    }

    private func labels(_ source: SourceStatus) -> OpenMetricsWriter.Labels {
        [("source", source.name), ("kind", source.kind)]
    }
}

/// Writes the text format of OpenMetrics 1.0, family by family.
///
/// Uses only the types that the older text format of Prometheus also has, because node_exporter's textfile collector
/// refuses files with other types.
struct OpenMetricsWriter {
    enum Kind: String { case counter, gauge, histogram }

    typealias Labels = [(name: String, value: String)]

    private var body = ""
    private var family = ""
    private var kind = Kind.gauge

    /// The complete text.
    var text: String { body + "# EOF\n" }

    /// Begins a family; the following samples belong to it. Each name is used once.
    ///
    /// - Parameters:
    ///   - name: without `norrisd_` and without the `_total` of counters; ends with the unit, if it has a base unit.
    ///   - help: one sentence without backslash, quotation mark and newline.
    mutating func family(_ name: String, _ kind: Kind, _ help: String) {
        (family, self.kind) = ("norrisd_" + name, kind)
        body += "# TYPE \(family) \(kind.rawValue)\n"
        for unit in ["seconds", "bytes"] where name.hasSuffix("_" + unit) { body += "# UNIT \(family) \(unit)\n" }
        body += "# HELP \(family) \(help)\n"
    }

    /// Begins a family of gauges, with one sample if there is a value.
    mutating func gauge(_ name: String, _ help: String, _ value: Int? = nil) {
        family(name, .gauge, help)
        if let value { sample(value) }
    }

    mutating func sample(_ value: Int, _ labels: Labels = []) {
        line(kind == .counter ? "_total" : "", labels, "\(value)")
    }

    /// - Parameters:
    ///   - bounds: the upper bounds of all buckets except the last, rising.
    ///   - counts: the observations in each bucket, not cumulative.
    mutating func histogram(bounds: [Double], counts: [Int], sum: Double, _ labels: Labels) {
        var count = 0
        for (index, further) in counts.enumerated() {
            count += further
            let bound = index < bounds.count ? "\(bounds[index])" : "+Inf"
            line("_bucket", labels + [("le", bound)], "\(count)")
        }
        line("_count", labels, "\(count)")
        line("_sum", labels, "\(sum)")
    }

    private mutating func line(_ suffix: String, _ labels: Labels, _ value: String) {
        body += family
        body += suffix
        for (index, label) in labels.enumerated() {
            body += index == 0 ? "{" : ","
            body += label.name
            body += "=\""
            body += OpenMetricsWriter.escaped(label.value)
            body += "\""
        }
        body += labels.isEmpty ? " " : "} "
        body += value
        body += "\n"
    }

    /// A label's value without terminal control characters, with the format's special characters escaped.
    private static func escaped(_ value: String) -> String {
        let special = "\n\\\"".utf8
        let text = sanitizedText(value)
        guard text.utf8.contains(where: { special.contains($0) }) else { return text }
        return text.unicodeScalars.map { $0 == "\n" ? "\\n" : $0 == "\\" || $0 == "\"" ? "\\\($0)" : "\($0)" }.joined()
    }
}
