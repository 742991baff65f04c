import NorrisPrefetch
import NorrisProtocol
import NorrisServer
import NorrisTestSupport
import Testing

@testable import NorrisDaemon

/// The figures of `server.metrics`, read by a strict parser.
@Suite(.timeLimit(.minutes(20)))
struct MetricsTests {
    private func metrics(
        _ sources: [SourceStatus] = [], state: ServerStatus.State = .ok,
        database: ServerStatus.Database = ServerStatus.Database(cacheBytes: 4096, stateBytes: 8192, isReadOnly: false)
    ) -> Metrics {
        Metrics(
            status: ServerStatus.Result(
                state: state, message: "", uptimeSeconds: 1, connections: 3, requestsTotal: 5, sources: sources,
                database: database, version: "0.1.0"
            ),
            startedAt: Timestamp(seconds: 1_700_000_000),
            requests: RequestCounts(
                methods: [
                    RequestCounts.Method(
                        name: "fact.random", requests: 5,
                        latency: Latency(counts: [1, 0, 0, 2, 0, 0, 0, 0, 0, 0, 1], nanoseconds: 3_500_000_000)
                    )
                ],
                unknown: 6,
                errors: [("busy", 1), ("other", 0)]
            ),
            connections: (accepted: 7, refused: 2),
            subscribers: 1,
            runs: [:]
        )
    }

    private let failing = SourceStatus(
        name: "town", kind: "mastodon", isEnabled: true, items: 4,
        freshness: Freshness(
            origin: .cache, state: .stale, fetchedAt: Timestamp(seconds: 1_600_000_000), ageSeconds: 60,
            error: SourceFailure(kind: .timeout, message: "slow", since: Timestamp(seconds: 1_600_000_010))
        ),
        nextRunAt: Timestamp(seconds: 1_600_000_100), consecutiveFailures: 3,
        quota: SourceStatus.Quota(limit: 90, used: 8, resetsAt: Timestamp(seconds: 1_600_003_600))
    )

    @Test func theDaemonAndItsRequests() throws {
        let samples = try OpenMetricsSamples(metrics().text)
        for (key, value) in [
            "norrisd_build_info version=0.1.0": 1, "norrisd_start_time_seconds": 1_700_000_000, "norrisd_degraded": 0,
            "norrisd_database_size_bytes database=cache": 4096, "norrisd_database_size_bytes database=state": 8192,
            "norrisd_database_read_only": 0, "norrisd_connections": 3, "norrisd_connections_accepted_total": 7,
            "norrisd_connections_refused_total": 2, "norrisd_subscribers": 1,
            "norrisd_requests_total method=fact.random": 5, "norrisd_requests_total method=unknown": 6,
            "norrisd_errors_total reason=busy": 1,
            "norrisd_errors_total reason=other": 0,
            "norrisd_request_duration_seconds_bucket le=1e-05 method=fact.random": 1,
            "norrisd_request_duration_seconds_bucket le=0.001 method=fact.random": 3,
            "norrisd_request_duration_seconds_bucket le=2.5 method=fact.random": 3,
            "norrisd_request_duration_seconds_bucket le=+Inf method=fact.random": 4,
            "norrisd_request_duration_seconds_count method=fact.random": 4,
            "norrisd_request_duration_seconds_sum method=fact.random": 3.5,
        ] {
            #expect(samples[key] == value, "\(key)")
        }
        #expect(!samples.values.keys.contains { $0.hasPrefix("norrisd_request_d") && $0.hasSuffix("method=unknown") })
        #expect(Set(samples.types.values) == ["counter", "gauge", "histogram"], "What node_exporter reads as well")
        #expect(samples.types.keys.allSatisfy { $0.hasPrefix("norrisd_") })
    }

    @Test func whatIsNotKnownHasNoSample() throws {
        let source = SourceStatus(
            name: "facts", kind: "chucknorris", isEnabled: false, items: 0,
            freshness: Freshness(origin: .none, state: .empty)
        )
        let samples = try OpenMetricsSamples(metrics([source]).text)
        for name in [
            "norrisd_resident_memory_bytes", "norrisd_database_free_bytes",
            "norrisd_source_last_success_timestamp_seconds", "norrisd_source_age_seconds",
            "norrisd_source_next_run_timestamp_seconds", "norrisd_source_runs", "norrisd_source_quota_limit",
            "norrisd_source_quota_used",
        ] {
            #expect(samples.types[name] != nil, "\(name)")
            #expect(!samples.values.keys.contains { $0.hasPrefix(name) }, "\(name)")
        }
        #expect(samples["norrisd_source_enabled kind=chucknorris source=facts"] == 0)
        #expect(samples["norrisd_source_items kind=chucknorris source=facts"] == 0)
    }

    @Test func aSourceThatFails() throws {
        var metrics = metrics([failing])
        metrics.runs["town"] = SourceSchedule.Runs(added: 1, nothingNew: 2, failed: 3, postponed: 4)
        let samples = try OpenMetricsSamples(metrics.text)
        for (name, value) in [
            "enabled": 1, "items": 4, "last_success_timestamp_seconds": 1_600_000_000, "age_seconds": 60,
            "next_run_timestamp_seconds": 1_600_000_100, "consecutive_failures": 3, "quota_limit": 90, "quota_used": 8,
        ] as [String: Double] {
            #expect(samples["norrisd_source_\(name) kind=mastodon source=town"] == value, "\(name)")
        }
        for kind in ["offline", "timeout", "http", "quota", "decode", "credentials"] {
            let sample = samples["norrisd_source_failing error=\(kind) kind=mastodon source=town"]
            #expect(sample == (kind == "timeout" ? 1 : 0), "\(kind)")
        }
        for (result, count) in ["added": 1, "nothing_new": 2, "failed": 3, "postponed": 4] {
            #expect(samples["norrisd_source_runs_total kind=mastodon result=\(result) source=town"] == Double(count))
        }
    }

    @Test func trouble() throws {
        let database = ServerStatus.Database(cacheBytes: 0, stateBytes: 0, isReadOnly: true, freeBytes: 512)
        let samples = try OpenMetricsSamples(metrics(state: .degraded, database: database).text)
        #expect(samples["norrisd_degraded"] == 1)
        #expect(samples["norrisd_database_read_only"] == 1)
        #expect(samples["norrisd_database_free_bytes"] == 512)
    }

    @Test func aHostileNameIsOneLabel() throws {
        var source = failing
        source.name = "a\"} 1\n# EOF\n\\\u{1B}[31mb"
        let text = metrics([source]).text
        #expect(!text.contains("\u{1B}"))
        let name = "a\"} 1\n# EOF\n\\b"
        #expect(try OpenMetricsSamples(text)["norrisd_source_items kind=mastodon source=\(name)"] == 4)
    }

    @Test func theMemoryIsThatOfThisProcess() throws {
        let memory = try #require(CurrentProcess.residentMemory())
        #expect(memory > 1 << 20 && memory < 1 << 40)
        #expect(CurrentProcess.residentMemory(file: "/nowhere") == nil)
        #expect(CurrentProcess.residentMemory(file: "/dev/null") == nil)
    }

    @Test func theRunsOfTheSchedule() async throws {
        let upstream = try await FakeUpstream.start()
        try await FetchingDaemon.run(upstream) { daemon in
            try daemon.watch.wait(for: .finished)
            // One that is not tried again before the next time of the schedule.
            upstream.setFault(.status(404))
            _ = try daemon.refresh()
            try daemon.watch.wait(for: .failed)
            daemon.clock.advance(by: .seconds(30))
            let result: ServerMetrics.Result = try daemon.client().call(ServerMetrics.description)
            let samples = try OpenMetricsSamples(result.text)
            func source(_ name: String) -> Double? {
                samples.values.first { $0.key == "norrisd_source_\(name) kind=chucknorris source=facts" }?.value
            }
            #expect(source("age_seconds") == 30)
            #expect(source("consecutive_failures") == 1)
            #expect(source("last_success_timestamp_seconds") == Double(daemon.clock.now.seconds - 30))
            let facts = "kind=chucknorris"
            #expect(samples["norrisd_source_runs_total \(facts) result=added source=facts"] == 1)
            #expect(samples["norrisd_source_runs_total \(facts) result=failed source=facts"] == 1)
            #expect(samples["norrisd_source_failing error=http \(facts) source=facts"] == 1)
        }
        await upstream.stop()
    }

    /// In a process of its own, in which no other test maps code meanwhile.
    @Test func mappedCodeIsReleased() async {
        await #expect(processExitsWith: .success) {
            let before = try #require(CurrentProcess.residentMemory())
            CurrentProcess.releaseMappedCode(file: "/dev/null")
            CurrentProcess.releaseMappedCode(file: "/no/such/file")
            CurrentProcess.releaseMappedCode()
            #expect(try #require(CurrentProcess.residentMemory()) < before - 1_000_000)
        }
    }
}
