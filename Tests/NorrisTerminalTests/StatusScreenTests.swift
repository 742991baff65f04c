import NorrisProtocol
import NorrisTerminal
import Testing

struct StatusScreenTests {
    private let status = ServerStatus.Result(
        state: .ok,
        message: "312 facts from 2 sources are served.",
        uptimeSeconds: 3 * 86_400 + 4 * 3_600,
        connections: 2,
        requestsTotal: 1_234_567,
        sources: [
            SourceStatus(
                name: "facts",
                kind: "chucknorris",
                isEnabled: true,
                items: 312,
                freshness: Freshness(origin: .cache, state: .fresh, fetchedAt: ago(3 * 3_600), ageSeconds: 10_800),
                nextRunAt: Timestamp(seconds: now.seconds + 20 * 3_600)
            ),
            SourceStatus(
                name: "gifs",
                kind: "giphy",
                isEnabled: true,
                items: 0,
                freshness: Freshness(
                    origin: .cache,
                    state: .stale,
                    fetchedAt: ago(2 * 86_400),
                    error: SourceFailure(
                        kind: .offline,
                        message: "There is no route to api.giphy.com.",
                        since: ago(7_200),
                        retryAt: Timestamp(seconds: now.seconds + 300)
                    )
                ),
                consecutiveFailures: 7,
                quota: SourceStatus.Quota(
                    limit: 100, used: 12, resetsAt: Timestamp(seconds: now.seconds + 1_200)
                )
            ),
        ],
        database: ServerStatus.Database(cacheBytes: 1_258_291, stateBytes: 36_864, isReadOnly: false),
        version: "0.1.0"
    )

    @Test func isATableAt80Columns() {
        #expect(screen(80) { $0.status(status, now: now) } == """
            state        ok
            message      312 facts from 2 sources are served.
            version      0.1.0
            uptime       3 days 4 hours
            connections  2
            requests     1234567
            databases    cache 1.2 MiB, state 36 KiB

            SOURCE  KIND         ITEMS  STATE               NEXT RUN     FAILURES
            facts   chucknorris    312  fresh, 3 hours ago  in 20 hours         0
            gifs    giphy            0  stale, 2 days ago   -                   7

            gifs: offline since 2 hours ago (There is no route to api.giphy.com); next try
            in 5 minutes
            gifs: 12 of 100 requests used, all back in 20 minutes

            """)
    }

    @Test("A source that was never reached tells why, and that it is tried again; what is overdue runs now")
    func aSourceThatFailsFromTheStart() {
        var status = status
        status.sources = [
            SourceStatus(
                name: "facts",
                kind: "chucknorris",
                isEnabled: true,
                items: 104,
                freshness: Freshness(
                    origin: .builtin,
                    state: .stale,
                    error: SourceFailure(kind: .http, message: "503 Service Unavailable", since: ago(30), retryAt: now)
                ),
                nextRunAt: ago(1),
                consecutiveFailures: 2
            )
        ]
        let lines = screen(80) { $0.status(status, now: now) }.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines[8...].joined(separator: "\n") == """
            SOURCE  KIND         ITEMS  STATE  NEXT RUN  FAILURES
            facts   chucknorris    104  stale  now              2

            facts: answering with errors just now (503 Service Unavailable); next try now

            """)
    }

    @Test func isTheSameTableAt132Columns() {
        let lines = screen(132) { $0.status(status, now: now) }.split(separator: "\n")
        #expect(lines[7] == "SOURCE  KIND         ITEMS  STATE               NEXT RUN     FAILURES")
        #expect(lines[10].hasSuffix(" (There is no route to api.giphy.com); next try in 5 minutes"))
    }

    @Test func isAListAt40Columns() {
        #expect(screen(40) { $0.status(status, now: now) } == """
            state        ok
            message      312 facts from 2 sources
                         are served.
            version      0.1.0
            uptime       3 days 4 hours
            connections  2
            requests     1234567
            databases    cache 1.2 MiB, state 36 KiB

            source       facts
            kind         chucknorris
            items        312
            state        fresh, 3 hours ago
            next run     in 20 hours
            failures     0

            source       gifs
            kind         giphy
            items        0
            state        stale, 2 days ago
            next run     -
            failures     7

            gifs: offline since 2 hours ago (There
            is no route to api.giphy.com); next try
            in 5 minutes
            gifs: 12 of 100 requests used, all back
            in 20 minutes

            """)
    }

    @Test func coloursWhatIsWellAndWhatIsNot() {
        let lines = visible(screen(80, escapes: true) { $0.status(status, now: now) }).split(separator: "\n")
        #expect(lines[0] == "<2mstate<0m        <32mok<0m")
        #expect(lines[8] == "<1mfacts<0m   chucknorris    312  <32mfresh, 3 hours ago<0m  in 20 hours         0")
        #expect(lines[9] == "<1mgifs<0m    giphy            0  <33mstale, 2 days ago<0m   -                   <33m7<0m")
    }

    @Test func tellsDegradedDisabledAndBuiltIn() {
        var status = status
        status.state = .degraded
        status.message = "A database cannot be written."
        status.database.isReadOnly = true
        status.sources[0].freshness = Freshness(origin: .builtin, state: .stale)
        status.sources[0].nextRunAt = nil
        status.sources[1].isEnabled = false
        status.sources[1].freshness = Freshness(origin: .none, state: .empty)
        status.sources[1].quota = nil
        #expect(screen(80) { $0.status(status, now: now) } == """
            state        degraded
            message      A database cannot be written.
            version      0.1.0
            uptime       3 days 4 hours
            connections  2
            requests     1234567
            databases    cache 1.2 MiB, state 36 KiB, read-only

            SOURCE  KIND         ITEMS  STATE     NEXT RUN  FAILURES
            facts   chucknorris    312  built in  -                0
            gifs    giphy            0  off       -                7

            """)
        let coloured = visible(screen(80, escapes: true) { $0.status(status, now: now) })
        #expect(coloured.hasPrefix("<2mstate<0m        <33mdegraded<0m"))
    }

    @Test func isKeysAndValuesForAPipe() {
        #expect(screen(nil) { $0.status(status, now: now) } == """
            state\tok
            message\t312 facts from 2 sources are served.
            version\t0.1.0
            uptime_seconds\t273600
            connections\t2
            requests_total\t1234567
            database.cache_bytes\t1258291
            database.state_bytes\t36864
            database.read_only\tfalse
            source.facts.kind\tchucknorris
            source.facts.enabled\ttrue
            source.facts.items\t312
            source.facts.origin\tcache
            source.facts.state\tfresh
            source.facts.fetched_at\t2026-11-21T09:00:00Z
            source.facts.next_run_at\t2026-11-22T08:00:00Z
            source.facts.consecutive_failures\t0
            source.gifs.kind\tgiphy
            source.gifs.enabled\ttrue
            source.gifs.items\t0
            source.gifs.origin\tcache
            source.gifs.state\tstale
            source.gifs.fetched_at\t2026-11-19T12:00:00Z
            source.gifs.error\toffline: There is no route to api.giphy.com.
            source.gifs.error_since\t2026-11-21T10:00:00Z
            source.gifs.retry_at\t2026-11-21T12:05:00Z
            source.gifs.consecutive_failures\t7
            source.gifs.quota.limit\t100
            source.gifs.quota.used\t12
            source.gifs.quota.resets_at\t2026-11-21T12:20:00Z

            """)
    }

    @Test(arguments: [1, 40, 80, 2_000, nil])
    func letsNoControlCharacterThrough(width: Int?) {
        var status = status
        status.state = ServerStatus.State(rawValue: hostile)
        status.message = hostile
        status.version = hostile
        status.sources[0].name = hostile
        status.sources[0].kind = hostile
        status.sources[0].freshness = Freshness(
            origin: Freshness.Origin(rawValue: hostile),
            state: Freshness.State(rawValue: hostile),
            error: SourceFailure(kind: SourceFailure.Kind(rawValue: hostile), message: hostile, since: now)
        )
        let text = screen(width) { $0.status(status, now: now) }
        #expect(forbidden(in: width == nil ? text.replacing("\t", with: "") : text) == [])
        #expect(text.contains("\ta") || text.contains("  a"))
    }
}
