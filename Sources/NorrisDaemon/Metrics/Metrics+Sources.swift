import NorrisPrefetch
import NorrisProtocol

/// Where content comes from.
extension Metrics {
    func writeSources(to writer: inout OpenMetricsWriter) {
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
        writeFailures(to: &writer)
        writeRuns(to: &writer)
        gauge("quota_limit", &writer, help: "Requests the upstream may be sent in an hour.") { $0.quota?.limit }
        gauge("quota_used", &writer, help: "Requests it was sent in the last hour.") { $0.quota?.used }
    }

    private func writeFailures(to writer: inout OpenMetricsWriter) {
        writer.family("norrisd_source_failing", .gauge, help: "Whether the source fails, for each way to fail.")
        for source in status.sources {
            for kind in SourceFailure.Kind.all {
                let isFailing = source.freshness.error?.kind == kind
                writer.sample(isFailing ? 1 : 0, labels(source) + [("error", kind.rawValue)])
            }
        }
    }

    private func writeRuns(to writer: inout OpenMetricsWriter) {
        writer.family("norrisd_source_runs", .counter, help: "Runs that ended, by what came of them.")
        for source in status.sources {
            guard let runs = runs[source.name] else { continue }
            let results = [
                ("added", runs.added), ("failed", runs.failed), ("nothing_new", runs.nothingNew),
                ("postponed", runs.postponed),
            ]
            for (result, count) in results { writer.sample(count, labels(source) + [("result", result)]) }
        }
    }

    /// A family with a sample for each source that has one.
    private func gauge(
        _ name: String, _ writer: inout OpenMetricsWriter, unit: String? = nil, help: String,
        _ value: (SourceStatus) -> Int?
    ) {
        writer.family("norrisd_source_\(name)", .gauge, unit: unit, help: help)
        for source in status.sources {
            if let value = value(source) { writer.sample(value, labels(source)) }
        }
    }

    private func labels(_ source: SourceStatus) -> OpenMetricsWriter.Labels {
        [("source", source.name), ("kind", source.kind)]
    }
}
