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
        (SourceFailure.Kind(rawValue: "upside_down"), "failing for 3 hours: "),
    ]) func warnsOfEachKindOfFailure(kind: SourceFailure.Kind, text: String) {
        let freshness = Freshness(origin: .cache, state: .fresh, error: failure(kind))
        #expect(freshness.concern(now: now) == "\(text)api.chucknorris.io is away")
    }

    @Test(
        arguments: [
            (
                SourceFailure.Kind.decode, "not a feed (text/html). Its feed may be https://e.org/feed.", 7_200,
                "not a feed (text/html). Its feed may be https://e.org/feed. Next try at 14:00"
            ),
            (.quota, "rate limit (HTTP 429).", 12_120, "rate limit (HTTP 429), next try at 15:22"),
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

    @Test(arguments: [
        Freshness(origin: .upstream, state: .fresh, fetchedAt: now),
        Freshness(origin: .cache, state: .fresh, fetchedAt: ago(60)), Freshness(origin: .builtin, state: .stale),
        Freshness(origin: .none, state: .empty),
    ]) func saysNothingWhereNothingIsWrong(freshness: Freshness) { #expect(freshness.concern(now: now) == nil) }
}

struct RelativeTimeTests {
    @Test(
        arguments: [
            (59, "just now"), (60, "1 minute ago"), (119, "1 minute ago"), (120, "2 minutes ago"),
            (3_600, "1 hour ago"), (86_399, "23 hours ago"), (30 * 86_400 - 1, "29 days ago"),
            (30 * 86_400, "1 month ago"), (365 * 86_400, "1 year ago"), (-59, "in a moment"), (-7_200, "in 2 hours"),
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
        (-1, "0 B"), (1_023, "1023 B"), (1_536, "1.5 KiB"), (10_188, "9.9 KiB"), (10_189, "10 KiB"),
        (1_048_063, "1023 KiB"), (1_048_064, "1.0 MiB"), (.max, "8.0 EiB"),
    ]) func roundsToWhatFitsThreeDigits(bytes: Int, text: String) { #expect(byteSizeText(bytes) == text) }
}

struct EventTextTests {
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

    @Test(arguments: ["\u{1B}[2J", "a\nb", "a\tb", "\u{202E}", "\u{9B}"])
    func showsNoCommandThatWouldNotBeTheOneMeant(word: String) {
        #expect(shellCommand(["search", word]) == nil)
    }
}
