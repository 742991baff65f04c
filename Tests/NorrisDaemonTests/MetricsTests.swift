import NorrisPrefetch
import NorrisProtocol
import NorrisTestSupport
import Testing

@testable import NorrisDaemon
@testable import NorrisServer

@Suite(.timeLimit(.minutes(20))) struct MetricsTests {
    private func metrics(
        _ sources: [SourceStatus] = [], state: ServerStatus.State = .ok,
        database: ServerStatus.Database = ServerStatus.Database(cacheBytes: 4096, stateBytes: 8192, isReadOnly: false)
    ) throws -> Metrics {
        let counters = ServerCounters()
        let meter = try #require(counters.methods.first { $0.name == "fact.random" })
        for _ in 0..<5 { meter.requests.add(1) }
        for (count, nanoseconds) in [(1, 10_000), (2, 2_000_000), (1, 3_497_990_000)] {
            meter.record(count: count, nanoseconds: nanoseconds)
        }
        for _ in 0..<6 { counters.unknownRequests.add(1) }
        counters.count(.busy(""))
        for _ in 0..<7 { counters.acceptedConnections.add(1) }
        for _ in 0..<2 { counters.refusedConnections.add(1) }
        return Metrics(
            status: ServerStatus.Result(
                state: state, message: "", uptimeSeconds: 1, connections: 3, requestsTotal: 5, sources: sources,
                database: database, version: "0.1.0"), startedAt: Timestamp(seconds: 1_700_000_000), counters: counters,
            subscribers: 1, runs: [:])
    }

    private let failing = SourceStatus(
        name: "town", kind: "mastodon", isEnabled: true, items: 4,
        freshness: Freshness(
            origin: .cache, state: .stale, fetchedAt: Timestamp(seconds: 1_600_000_000), ageSeconds: 60,
            error: SourceFailure(kind: .timeout, message: "slow", since: Timestamp(seconds: 1_600_000_010))),
        nextRunAt: Timestamp(seconds: 1_600_000_100), consecutiveFailures: 3,
        quota: SourceStatus.Quota(limit: 90, used: 8, resetsAt: Timestamp(seconds: 1_600_003_600)))

    @Test func theDaemonAndItsRequests() throws {
        let samples = try OpenMetricsSamples(try metrics().text)
        for (key, value) in [
            "norrisd_build_info version=0.1.0": 1, "norrisd_start_time_seconds": 1_700_000_000, "norrisd_degraded": 0,
            "norrisd_database_size_bytes database=cache": 4096, "norrisd_database_size_bytes database=state": 8192,
            "norrisd_database_read_only": 0, "norrisd_connections": 3, "norrisd_connections_accepted_total": 7,
            "norrisd_connections_refused_total": 2, "norrisd_subscribers": 1,
            "norrisd_requests_total method=fact.random": 5, "norrisd_requests_total method=unknown": 6,
            "norrisd_errors_total reason=busy": 1, "norrisd_errors_total reason=other": 0,
            "norrisd_request_duration_seconds_bucket le=1e-05 method=fact.random": 1,
            "norrisd_request_duration_seconds_bucket le=0.001 method=fact.random": 3,
            "norrisd_request_duration_seconds_bucket le=2.5 method=fact.random": 3,
            "norrisd_request_duration_seconds_bucket le=+Inf method=fact.random": 4,
            "norrisd_request_duration_seconds_count method=fact.random": 4,
            "norrisd_request_duration_seconds_sum method=fact.random": 3.5,
        ] { #expect(samples[key] == value, "\(key)") }
        #expect(!samples.values.keys.contains { $0.hasPrefix("norrisd_request_d") && $0.hasSuffix("method=unknown") })
        #expect(Set(samples.types.values) == ["counter", "gauge", "histogram"], "node_exporter supports these types")
        #expect(samples.types.keys.allSatisfy { $0.hasPrefix("norrisd_") })
    }

    @Test func aSourceThatFails() throws {
        var metrics = try metrics([failing])
        metrics.runs["town"] = SourceSchedule.Runs(added: 1, nothingNew: 2, failed: 3, postponed: 4)
        let samples = try OpenMetricsSamples(metrics.text)
        for (name, value) in [
            "enabled": 1, "items": 4, "last_success_timestamp_seconds": 1_600_000_000, "age_seconds": 60,
            "next_run_timestamp_seconds": 1_600_000_100, "consecutive_failures": 3, "quota_limit": 90, "quota_used": 8,
        ] as [String: Double] {
            #expect(samples["norrisd_source_\(name) kind=mastodon source=town"] == value, "\(name)")
        }
        for kind in ["offline", "timeout", "http", "quota", "decode", "credentials", "storage"] {
            let sample = samples["norrisd_source_failing error=\(kind) kind=mastodon source=town"]
            #expect(sample == (kind == "timeout" ? 1 : 0), "\(kind)")
        }
        for (result, count) in ["added": 1, "nothing_new": 2, "failed": 3, "postponed": 4] {
            #expect(samples["norrisd_source_runs_total kind=mastodon result=\(result) source=town"] == Double(count))
        }
    }

    @Test func aHostileNameIsOneLabel() throws {
        var source = failing
        source.name = "a\"} 1\n# EOF\n\\\u{1B}[31mb"
        let text = try metrics([source]).text
        #expect(!text.contains("\u{1B}"))
        let name = "a\"} 1\n# EOF\n\\b"
        #expect(try OpenMetricsSamples(text)["norrisd_source_items kind=mastodon source=\(name)"] == 4)
    }
}
