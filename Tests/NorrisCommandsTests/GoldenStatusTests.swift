import NorrisProtocol
import Testing

/// The page of `norrisctl status`, in files below `Golden/`.
struct GoldenStatusTests {
    private func time(_ minutes: Int64) -> Timestamp { Timestamp(seconds: Machine.now.seconds + minutes * 60) }

    private func source(
        _ name: String, _ kind: String, items: Int, fetched minutes: Int64, next: Int64? = nil
    ) -> SourceStatus {
        SourceStatus(
            name: name, kind: kind, isEnabled: true, items: items,
            freshness: Freshness(
                origin: .cache, state: .fresh, fetchedAt: time(-minutes), ageSeconds: Int(minutes) * 60
            ),
            nextRunAt: next.map(time)
        )
    }

    private var healthy: ServerStatus.Result {
        var gifs = source("gifs", "giphy", items: 75, fetched: 125, next: 180)
        gifs.quota = SourceStatus.Quota(limit: 100, used: 63, resetsAt: time(41))
        return ServerStatus.Result(
            state: .ok,
            message: "9156 facts, 75 gifs, 366 posts",
            uptimeSeconds: 7_500,
            connections: 1,
            requestsTotal: 12_210,
            requestsPerMinute: (0..<60).map { minute in [0, 3, 1, 0, 12, 35, 20, 5, 0, 0][minute % 10] * minute / 59 },
            sources: [
                source("facts", "chucknorris", items: 9_156, fetched: 180, next: 1_260), gifs,
                source("town", "mastodon", items: 366, fetched: 4, next: 25),
            ],
            database: ServerStatus.Database(
                cacheBytes: 17 << 20, stateBytes: 1_887_437, isReadOnly: false, freeBytes: 12 << 30
            ),
            version: "0.1.0"
        )
    }

    private func check(
        _ name: String, _ status: ServerStatus.Result, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        try GoldenScreen(name: name, arguments: ["status"]) { Machine(results: status.jsonText) }
            .check(sourceLocation: sourceLocation)
    }

    @Test func showsWhatIsWell() throws {
        try check("status", healthy)
    }

    @Test func showsWhatIsNot() throws {
        var status = healthy
        status.state = .degraded
        status.message = "The state database cannot be written: no space left on device; free some and restart norrisd."
        status.requestsPerMinute = [4, 0, 1]
        status.database.isReadOnly = true
        status.database.freeBytes = 0
        status.sources[0].freshness = Freshness(origin: .builtin, state: .stale)
        status.sources[1].isEnabled = false
        status.sources[1].freshness = Freshness(origin: .none, state: .empty)
        status.sources[1].nextRunAt = nil
        status.sources[1].quota = nil
        status.sources[2].freshness.state = .stale
        status.sources[2].freshness.error = SourceFailure(
            kind: .offline, message: "There is no route to town.example.", since: time(-120), retryAt: time(5)
        )
        status.sources[2].nextRunAt = time(5)
        status.sources[2].consecutiveFailures = 7
        try check("status-degraded", status)
    }

    @Test func showsAUsedUpQuota() throws {
        var status = healthy
        status.sources[1].quota?.used = 100
        status.sources[1].freshness.error = SourceFailure(
            kind: .quota, message: "100 requests an hour are used up.", since: time(-10), retryAt: time(41)
        )
        try check("status-quota", status)
    }
}
