import NorrisProtocol
import NorrisTerminal
import NorrisText
import Testing

struct StatusScreenTests {
    private let status = ServerStatus.Result(
        state: .ok, message: "312 facts from 2 sources are served.", uptimeSeconds: 3 * 86_400 + 4 * 3_600,
        connections: 2, requestsTotal: 1_234_567,
        sources: [
            SourceStatus(
                name: "facts", kind: "chucknorris", isEnabled: true, items: 312,
                freshness: Freshness(origin: .cache, state: .fresh, fetchedAt: ago(3 * 3_600), ageSeconds: 10_800),
                nextRunAt: Timestamp(seconds: now.seconds + 20 * 3_600)),
            SourceStatus(
                name: "gifs", kind: "giphy", isEnabled: true, items: 0,
                freshness: Freshness(
                    origin: .cache, state: .stale, fetchedAt: ago(2 * 86_400),
                    error: SourceFailure(
                        kind: .offline, message: "There is no route to api.giphy.com.", since: ago(7_200),
                        retryAt: Timestamp(seconds: now.seconds + 300))), consecutiveFailures: 7,
                quota: SourceStatus.Quota(limit: 100, used: 12, resetsAt: Timestamp(seconds: now.seconds + 1_200))),
        ], database: ServerStatus.Database(cacheBytes: 1_258_291, stateBytes: 36_864, isReadOnly: false),
        version: "0.1.0")

    private func lines(
        _ width: Int, escapes: Bool = false, _ status: ServerStatus.Result? = nil, isVerbose: Bool = true
    ) -> [Substring] {
        visible(screen(width, escapes: escapes) { $0.status(status ?? self.status, now: now, isVerbose: isVerbose) })
            .split(separator: "\n", omittingEmptySubsequences: false)
    }

    @Test(arguments: [
        (0, 100, "gifs 0 of 100 requests"),
        (120, 100, "gifs 120 of 100 requests · all back in 20 minutes"), (0, 0, "gifs 0 of 0 requests"),
    ]) func showsTheQuota(used: Int, limit: Int, line: String) {
        var status = status
        status.sources[1].quota?.used = used
        status.sources[1].quota?.limit = limit
        #expect(lines(80, status).contains(Substring(line)))
    }

    @Test func onlyAdministratorsNeedConnectionsRequestsAndQuotas() {
        func extra(_ isVerbose: Bool) -> [Substring] {
            lines(80, isVerbose: isVerbose).filter { line in
                ["connections", "requests ", "gifs 12 of"].contains { line.hasPrefix($0) }
            }
        }
        #expect(extra(true).count == 3)
        #expect(extra(false) == [])
    }

    @Test func fitsIntoAnyWidthThatHoldsItsLongestPart() {
        for width in 32...132 {
            for line in lines(width) {
                #expect(displayWidth(of: String(line)) <= width)
            }
        }
        // A narrower table has the same parts, one per line.
        for width in 1..<32 {
            #expect(lines(width).contains("fresh, 3 hours ago") || lines(width).contains("  fresh, 3 hours ago"))
        }
    }

    @Test func aHeldHostHasALine() {
        var status = status
        let until = Timestamp(seconds: now.seconds + 3 * 86_400)
        status.hosts = [.init(host: "www.reddit.com", until: until, reason: "HTTP 429", sources: 30)]
        #expect(lines(100, status).contains("www.reddit.com: HTTP 429, next request in 3 days for 30 sources"))
        let pairs = visible(screen(nil) { $0.status(status, now: now, isVerbose: false) })
        #expect(pairs.contains("host.www.reddit.com\tuntil \(until), HTTP 429, 30 sources\n"))
    }
}
