import NorrisFetchProtocol
import NorrisProtocol
import Testing

@testable import NorrisFetch

private func fields(_ headers: [(String, String)]) -> HTTPHeaderFields {
    HTTPHeaderFields(headers.map { (name: $0.0, value: $0.1) })
}

private func reply(_ status: Int, _ headers: (String, String)...) -> HostReply {
    HostReply(HTTPResponse(status: status, headers: fields(headers)))
}

struct RetryAfterTests {
    @Test(arguments: [
        ("120", 120), ("86400", 86_400), ("86401", 86_400), ("999999999999", 86_400),
        ("99999999999999999999999", 86_400), ("1.5", 2), ("Sun, 06 Nov 1994 08:50:37 GMT", 60),
        ("Sunday, 06-Nov-94 08:50:37 GMT", 60), ("Sun Nov  6 08:50:37 1994", 60),
        ("Tue, 08 Nov 1994 08:49:37 GMT", 86_400),
    ]) func secondsAndDatesAreUnderstood(value: String, seconds: Int) {
        #expect(reply(429, ("Retry-After", value)).pause == seconds)
        #expect(reply(404, ("Retry-After", value)).pause == seconds)
        #expect(reply(200, ("Retry-After", value)).pause == nil)
    }

    @Test(arguments: [
        "", "0", "-1", "+1", "1 s", "soon", "Sun, 06 Nov 1994 08:49:36 GMT", "Thu, 01 Jan 1970 00:00:00 GMT",
    ]) func anythingElseIsIgnored(value: String) {
        for status in [429, 503] {
            let reply = reply(status, ("Retry-After", value))
            #expect(reply.isLimit && reply.pause == nil)
        }
    }
}

struct FreshnessLifetimeTests {
    private static let expires = ("Expires", "Sun, 06 Nov 1994 09:49:37 GMT")

    private static let cacheControls: [(String, Int?)] = [
        ("max-age=60", 60), ("public, Max-Age=60", 60), ("no-store, max-age=60, private, no-cache", 60),
        ("max-age=\"60\"", 60), ("max-age = 60", 60), ("max-age=60, max-age=90", 60), ("max-age=86401", 86_400),
        ("max-age=99999999999999999999", 86_400), (",, max-age=60", 60), ("", nil), ("no-store", nil),
        ("max-age=0", nil), ("max-age", nil), ("max-age=-1", nil), ("max-age=1.5", nil), ("s-maxage=60", nil),
    ]

    private static let others: [([(String, String)], Int?)] = [
        ([("cache-control", "max-age=60"), ("age", "20")], 40),
        ([("cache-control", "max-age=60"), ("age", "60")], nil), ([("cache-control", "max-age=60"), ("age", "x")], 60),
        ([("Cache-Control", "public"), ("cache-control", "max-age=60")], 60),
        // Relative to the Date field of the response.
        ([expires], 3600), ([expires, ("Date", "Sun, 06 Nov 1994 09:49:27 GMT")], 10),
        ([expires, ("Date", "Sun, 06 Nov 1994 09:49:37 GMT")], nil), ([("Expires", "0")], nil),
        ([("Expires", "Sun, 06 Nov 1994 08:49:36 GMT")], nil),
        ([("Expires", "Tue, 06 Nov 2001 08:49:37 GMT")], 86_400), ([expires, ("Cache-Control", "max-age=5")], 5),
        ([expires, ("Cache-Control", "max-age=0")], nil), ([expires, ("Cache-Control", "max-age=x")], 3600),
    ]

    @Test(arguments: cacheControls.map { ([("Cache-Control", $0.0)], $0.1) } + others)
    func lifetimes(headers: [(String, String)], seconds: Int?) {
        #expect(freshnessLifetime(fields(headers), now: Fixture.now) == seconds)
    }
}

struct ResponseAgeTests {
    /// Two hours and two days before the time of ``Fixture``.
    private static let (hours, days) = (
        ("Date", "Sun, 06 Nov 1994 06:49:37 GMT"), ("Date", "Fri, 04 Nov 1994 08:49:37 GMT")
    )

    private static let examples: [([(String, String)], Int)] = [
        ([], 0), ([("Age", "0")], 0), ([("Age", "60")], 60), ([("Age", "172800")], 172_800), ([("Age", "-60")], 0),
        ([("Age", "x")], 0), ([("Age", "60"), ("Age", "90")], 60), ([("Age", "99999999999999999999")], 31_536_000),
        // A difference between the clocks.
        ([hours], 0), ([("Date", "Sun, 06 Nov 1994 10:49:37 GMT")], 0),
        ([("Date", "Thu, 05 Sep 1991 23:02:57 GMT")], 0),
        // A cache without Age, which a field names or a difference of days shows.
        ([hours, ("X-Cache", "HIT")], 7_200), ([hours, ("Via", "1.1 cache")], 7_200),
        ([hours, ("Cache-Status", "cache; hit")], 7_200), ([days], 172_800),
        ([hours, ("Age", "60")], 7_200), ([("Date", "Sun, 06 Nov 1994 08:48:37 GMT"), ("Age", "7200")], 7_200),
        ([("Date", "Sun, 06 Nov 1994 08:50:37 GMT"), ("Age", "0")], 0),
    ]

    @Test(arguments: examples) func theAgeOfAResponse(headers: [(String, String)], seconds: Int) {
        #expect(responseAge(fields(headers), now: Fixture.now) == seconds)
    }

    private static let lifetimes: [([(String, String)], Bool)] = [
        ([("Warning", "110 - \"Response is stale\"")], true),
        ([("Warning", "111 cache \"Revalidation failed\"")], true),
        ([("Warning", "214 - \"Transformed\", 110 - \"Stale\"")], true),
        ([("Warning", "214 110 \"Transformed\"")], false),
        ([("Age", "61"), ("Cache-Control", "max-age=60")], true),
        ([("Age", "60"), ("Cache-Control", "max-age=60")], false),
        ([("Age", "5"), ("Cache-Control", "max-age=0, must-revalidate")], false),
        ([("Age", "50"), ("Cache-Control", "max-age=10, s-maxage=100")], false),
        ([("Age", "101"), ("Cache-Control", "max-age=1000, s-maxage=100")], true),
        ([("Age", "172800"), ("Cache-Control", "max-age=604800")], false), ([("Age", "172800")], false),
        ([hours, ("X-Cache", "STALE"), ("Cache-Control", "max-age=60")], true),
        ([days, ("Cache-Control", "max-age=60")], true),
        ([hours, ("Cache-Control", "max-age=60")], false),
    ]

    @Test(arguments: lifetimes) func isStaleAfterItsLifetime(headers: [(String, String)], expected: Bool) {
        #expect(isStale(fields(headers), now: Fixture.now) == expected)
    }
}

/// Relative to the time of ``Fixture``: 1994-11-06T08:49:37Z, 784,111,777 seconds after 1970.
struct HostReplyTests {
    private static let none = ("X-RateLimit-Remaining", "0.0")

    @Test(
        arguments: [
            ("1994-11-06T08:54:37.518123Z", 300), ("1994-11-06T09:49:47+01:00", 10),
            ("Sun, 06 Nov 1994 08:50:37 GMT", 60), ("30", 30), ("29.2", 30), ("1994-11-08T08:49:37Z", 86_400),
            ("784111837", 86_400), ("9000000000", 86_400), ("9000000000000", 86_400),
            ("99999999999999999999", 86_400), ("1994-11-06T08:49:37Z", nil), ("0", nil), ("", nil), ("soon", nil),
            ("abc", nil), ("-5", nil),
        ] as [(String, Int?)]
    )
    func theMomentOfTheReset(value: String, expected: Int?) {
        for name in ["RateLimit", "X-RateLimit"] {
            #expect(reply(429, ("\(name)-Reset", value)).pause == expected)
            let success = reply(304, ("\(name)-Remaining", "0"), ("\(name)-Reset", value))
            #expect(success.isLimit && success.pause == expected)
        }
    }

    @Test("From a billion on a number is a Unix time") func unixTime() {
        var response = HTTPResponse(status: 429, headers: [("X-RateLimit-Reset", "1800000060")])
        response.receivedAt = Timestamp(seconds: 1_800_000_000)
        #expect(HostReply(response).pause == 60)
        response.receivedAt = Timestamp(seconds: 1_800_000_061)
        #expect(HostReply(response).pause == nil)
    }

    @Test("Fewer than one remaining request is none", arguments: ["0", "0.0", "0.9", "1", "1.0", "-1", "x", ""])
    func remaining(value: String) {
        let reply = reply(200, ("X-RateLimit-Remaining", value), ("X-RateLimit-Reset", "30"))
        let isNone = ["0", "0.0", "0.9"].contains(value)
        #expect(reply.isLimit == isNone && reply.pause == (isNone ? 30 : nil))
        #expect(reply.isSuccess && reply.status == 200)
    }

    @Test(
        "The drafts of one field for all",
        arguments: [
            (#""default";r=0;t=30"#, 30), (#""burst";r=0;t=5, "daily";r=50;t=3600"#, 5),
            (#""burst"; r=0; t=5, "daily"; r=0; t=3600"#, 3600), ("limit=100, remaining=0, reset=40", 40),
            (#""default";r=1;t=30"#, nil), ("limit=100, remaining=5, reset=40", nil), ("=;,=", nil), ("", nil),
        ] as [(String, Int?)]
    )
    func oneField(value: String, expected: Int?) {
        let reply = reply(200, ("RateLimit", value))
        #expect(reply.isLimit == (expected != nil) && reply.pause == expected)
    }

    @Test func aRefusalSaysWhenToComeBackInItsFirstUsableField() {
        #expect(reply(429, ("Retry-After", "5"), ("X-RateLimit-Reset", "30")).pause == 5)
        #expect(reply(429, ("Retry-After", "-1"), ("X-RateLimit-Reset", "30")).pause == 30)
        #expect(reply(403, Self.none, ("X-RateLimit-Reset", "30")).pause == 30)
        #expect(!reply(403, Self.none).isLimit && !reply(404, Self.none).isLimit && !reply(503, Self.none).isLimit)
        #expect(reply(500, ("X-RateLimit-Reset", "30")).pause == nil)
        #expect(reply(429).isLimit && reply(429).pause == nil && reply(429).host == "h")
    }
}
