import NorrisProtocol
import Testing

@testable import NorrisUpstream

/// All by the clock of `Asking`, which stands at 1994-11-06T08:49:37Z, 784,111,777 seconds after 1970.
struct RateLimitTests {
    @Test(
        arguments: [
            ("1994-11-06T08:54:37.518123Z", .seconds(300)), ("1994-11-06T09:49:47+01:00", .seconds(10)),
            ("784111837", .seconds(60)), ("1994-11-08T08:49:37Z", .seconds(86_400)), ("9000000000", .seconds(86_400)),
            ("1994-11-06T08:49:37Z", nil), ("784111776", nil), ("60", nil), ("", nil), ("soon", nil), ("-5", nil),
            ("99999999999999999999", nil), ("+784111837", nil),
        ] as [(String, Duration?)]
    )
    func theMomentOfTheReset(value: String, expected: Duration?) {
        #expect(rateLimitReset([("X-RateLimit-Reset", value)], now: Asking.now) == expected)
    }

    @Test func withoutAFieldThereIsNone() {
        #expect(rateLimitReset([], now: Asking.now) == nil)
    }

    private func notBefore(_ headers: HTTPHeaderFields) -> Duration? {
        FetchInfo(HTTPResponse(status: 200, headers: headers), sent: Validators(), now: Asking.now).notBefore
    }

    @Test func theLastAnswerOfAnAllowancePutsTheNextOff() {
        let reset = ("X-RateLimit-Reset", "1994-11-06T08:54:37.000000Z")
        #expect(notBefore([("X-RateLimit-Remaining", "0"), reset]) == .seconds(300))
        #expect(notBefore([("X-RateLimit-Remaining", "1"), reset]) == nil)
        #expect(notBefore([reset]) == nil)
    }

    @Test func theLaterOfResetAndFreshnessCounts() {
        let used: [(name: String, value: String)] = [("X-RateLimit-Remaining", "0"), ("X-RateLimit-Reset", "784111837")]
        #expect(notBefore(HTTPHeaderFields(used + [("Cache-Control", "max-age=90")])) == .seconds(90))
        #expect(notBefore(HTTPHeaderFields(used + [("Cache-Control", "max-age=30")])) == .seconds(60))
    }

    private func retryAfter(_ status: Int, _ headers: HTTPHeaderFields) -> Duration? {
        UpstreamError(
            status: status, from: HTTPURL("https://h/")!, headers: headers, body: [], now: Asking.now
        ).retryAfter
    }

    @Test func aRefusalIsPutOffUntilTheReset() {
        #expect(retryAfter(429, [("X-RateLimit-Reset", "1994-11-06T08:49:47Z")]) == .seconds(10))
        #expect(retryAfter(429, [("X-RateLimit-Reset", "784111807")]) == .seconds(30))
        #expect(retryAfter(429, [("Retry-After", "5"), ("X-RateLimit-Reset", "784111807")]) == .seconds(5))
        #expect(retryAfter(503, [("X-RateLimit-Reset", "784111807")]) == nil)
    }
}
