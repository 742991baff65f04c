import NorrisProtocol
import NorrisTerminal
import NorrisTestSupport
import NorrisText
import Testing

struct FreshnessTextTests {
    private func failure(_ kind: SourceFailure.Kind, since: Timestamp = ago(3 * 3_600)) -> SourceFailure {
        SourceFailure(kind: kind, message: "api.chucknorris.io is away.", since: since)
    }

    @Test(arguments: [
        (SourceFailure.Kind.offline, "offline for 3 hours: "), (.timeout, "failing for 3 hours: "),
        (.decode, "failing for 3 hours: "), (SourceFailure.Kind(rawValue: "upside_down"), "failing for 3 hours: "),
    ]) func warnsOfEachKindOfFailure(kind: SourceFailure.Kind, text: String) {
        let freshness = Freshness(origin: .cache, state: .fresh, error: failure(kind))
        #expect(freshness.concern(now: now) == "\(text)api.chucknorris.io is away")
    }

    @Test(
        arguments: [
            (
                SourceFailure.Kind.decode, "not a feed (text/html). Its feed may be https://e.org/feed.", nil,
                "not a feed (text/html). Its feed may be https://e.org/feed"
            ),
            (
                .decode, "not a feed (text/html). Its feed may be https://e.org/feed.", 7_200,
                "not a feed (text/html). Its feed may be https://e.org/feed. Next try at 14:00"
            ),
            (.quota, "rate limit (HTTP 429).", 12_120, "rate limit (HTTP 429), next try at 15:22"),
            (.quota, "rate limit (HTTP 429).", 86_400 * 2, "rate limit (HTTP 429), next try in 2 days"),
            (.timeout, "no complete answer within 2 s", 30, "no complete answer within 2 s, next try in a moment"),
            (.timeout, "no complete answer within 2 s", -1, "no complete answer within 2 s, next try now"),
            (.offline, "", nil, "offline"), (.http, "", nil, "failing"),
        ] as [(SourceFailure.Kind, String, Int64?, String)])
    func saysWhatFailedAndWhenTheNextTryIs(kind: SourceFailure.Kind, message: String, seconds: Int64?, text: String) {
        setUTC()
        let retry = seconds.map { Timestamp(seconds: now.seconds + $0) }
        let failure = SourceFailure(kind: kind, message: message, since: now, retryAt: retry)
        #expect(failure.outlook(now: now) == text)
    }

    /// The time in the future belongs to a daemon that started after the command.
    @Test(arguments: [ago(5), ago(-2)]) func warnsOfAFailureThatHasJustHappened(since: Timestamp) {
        let freshness = Freshness(origin: .builtin, state: .stale, error: failure(.offline, since: since))
        #expect(
            freshness.concern(now: now) == """
                offline: api.chucknorris.io is away
                """)
    }

    @Test func warnsThatNothingIsStored() {
        let freshness = Freshness(origin: .none, state: .empty, error: failure(.offline))
        #expect(
            freshness.concern(now: now) == """
                offline for 3 hours: api.chucknorris.io is away
                """)
    }

    @Test func warnsOfStaleContent() {
        let old = Freshness(origin: .cache, state: .stale, fetchedAt: ago(3 * 86_400))
        #expect(
            old.concern(now: now) == """
                out of date, last fetched 3 days ago
                """)
        let never = Freshness(origin: .cache, state: .stale)
        #expect(never.concern(now: now) == "not fetched yet")
    }

    @Test(arguments: [
        Freshness(origin: .upstream, state: .fresh, fetchedAt: now),
        Freshness(origin: .cache, state: .fresh, fetchedAt: ago(60)), Freshness(origin: .builtin, state: .stale),
        Freshness(origin: .none, state: .empty),
    ]) func saysNothingWhereNothingIsWrong(freshness: Freshness) { #expect(freshness.concern(now: now) == nil) }

    @Test func tellsWhenAQuotaIsBack() {
        setUTC()
        let error = SourceFailure(
            kind: .quota, message: "The quota is used up.", since: ago(600),
            retryAt: Timestamp(seconds: now.seconds + 2_400))
        #expect(
            Freshness(origin: .cache, state: .fresh, error: error).concern(now: now)
                == "failing for 10 minutes: The quota is used up, next try at 12:40")
    }
}

struct RelativeTimeTests {
    @Test(
        arguments: [
            (0, "just now"), (59, "just now"), (60, "1 minute ago"), (119, "1 minute ago"), (120, "2 minutes ago"),
            (3_599, "59 minutes ago"), (3_600, "1 hour ago"), (10_800, "3 hours ago"), (86_399, "23 hours ago"),
            (86_400, "1 day ago"), (30 * 86_400 - 1, "29 days ago"), (30 * 86_400, "1 month ago"),
            (365 * 86_400 - 1, "12 months ago"), (365 * 86_400, "1 year ago"), (6 * 365 * 86_400, "6 years ago"),
            (-1, "in a moment"), (-59, "in a moment"), (-60, "in 1 minute"), (-7_200, "in 2 hours"),
            (-400 * 86_400, "in 1 year"),
        ] as [(Int64, String)])
    func roundsDownToTheLargestUnit(seconds: Int64, text: String) {
        #expect(relativeTime(of: ago(seconds), at: now) == text)
    }

    @Test func survivesTheEndsOfTime() {
        let first = Timestamp(seconds: .min)
        let last = Timestamp(seconds: .max)
        #expect(relativeTime(of: first, at: last) == "10005 years ago")
        #expect(relativeTime(of: last, at: first) == "in 10005 years")
    }

    @Test(arguments: [
        (-5, "0 seconds"), (0, "0 seconds"), (1, "1 second"), (59, "59 seconds"), (60, "1 minute"),
        (61, "1 minute 1 second"), (3_600, "1 hour"), (3_659, "1 hour"), (3_660, "1 hour 1 minute"),
        (3 * 86_400 + 4 * 3_600 + 59, "3 days 4 hours"), (400 * 86_400, "400 days"),
    ]) func writesDurationsInTheirTwoLargestUnits(seconds: Int, text: String) {
        #expect(durationText(seconds: seconds) == text)
    }
}

struct ByteSizeTextTests {
    @Test(arguments: [
        (-1, "0 B"), (0, "0 B"), (1_023, "1023 B"), (1_024, "1.0 KiB"), (1_536, "1.5 KiB"), (10_188, "9.9 KiB"),
        (10_189, "10 KiB"), (36_864, "36 KiB"), (1_048_063, "1023 KiB"), (1_048_064, "1.0 MiB"), (1_258_291, "1.2 MiB"),
        (1 << 30, "1.0 GiB"), (5 << 40, "5.0 TiB"), (1 << 50, "1.0 PiB"), (.max, "8.0 EiB"),
    ]) func roundsToWhatFitsThreeDigits(bytes: Int, text: String) { #expect(byteSizeText(bytes) == text) }
}

struct EventTextTests {
    private static let offline = SourceFailure(kind: .offline, message: "No route.", since: ago(7_200))

    @Test(
        "A short text for each event",
        arguments: [
            (Event.source("facts", .started, at: now), "started"),
            (.source("facts", .finished, items: 1, at: now), "finished: 1 item"),
            (.source("facts", .finished, at: now), "finished"),
            (.source("facts", .failed, error: offline, at: now), "failed: offline for 2 hours: No route"),
            (.source("facts", .failed, at: now), "failed"),
            (.item(source: "facts", added: 1_200, at: now), "1,200 new"),
            (.server(.reloaded, at: now), "reloaded"), (.server(.degraded, at: now), "degraded"),
            (.source("facts", Event.Phase(rawValue: "resting"), at: now), "resting"),
        ])
    func words(_ event: Event, _ text: String) {
        #expect(event.summary == text)
    }

    @Test(arguments: [
        (0, "0"), (999, "999"), (1_000, "1,000"), (1_234_567, "1,234,567"), (100_000, "100,000"), (-1_000, "-1,000"),
        (Int.min, "-9,223,372,036,854,775,808"),
    ]) func digitsAreInGroups(number: Int, text: String) { #expect(groupedDigits(number) == text) }

    @Test func whatIsOverdueIsDueNow() {
        #expect(upcomingTime(of: ago(-300), at: now) == "in 5 minutes")
        #expect(upcomingTime(of: now, at: now) == "now")
        #expect(upcomingTime(of: ago(86_400), at: now) == "now")
    }
}

struct ShellQuotingTests {
    @Test(arguments: [
        ("dev", "dev"), ("--page", "--page"), ("/run/norrisd.sock", "/run/norrisd.sock"), ("", "''"),
        ("chuck norris", "'chuck norris'"), ("don't", "'don'\\''t'"), ("$HOME", "'$HOME'"), ("~", "'~'"),
        ("=ls", "'=ls'"), ("é", "'é'"),
    ]) func quotesOnlyWhatNeedsIt(word: String, quoted: String) { #expect(shellQuoted(word) == quoted) }

    @Test(arguments: [
        "plain", "", " ", "'", "''", "\"", "\\", "a'b'c", "`id`", "$(id)", "${HOME}", "*", "?", "[a]", "{a,b}", "!!",
        "a;b", "a&b", "a|b", "<a>", "#a", "~root", "%1", "=a", "-n", "日本語 '👍'", "e\u{301}'\u{301}x",
    ]) func givesAShellTheSameBytes(word: String) throws {
        #expect(try run("sh", ["-c", "printf %s \(shellQuoted(word))"]).output == word)
    }

    @Test func joinsWordsToACommand() {
        #expect(shellCommand(["norrisctl", "search", "two words"]) == "norrisctl search 'two words'")
    }

    @Test(arguments: ["\u{1B}[2J", "a\nb", "a\tb", "\u{202E}", "\u{9B}"])
    func showsNoCommandThatWouldNotBeTheOneMeant(word: String) {
        #expect(shellCommand(["search", word]) == nil)
    }
}
