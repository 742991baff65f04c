import NorrisProtocol
import NorrisTerminal
import Testing

struct FreshnessTextTests {
    private func failure(_ kind: SourceFailure.Kind, since: Timestamp = ago(3 * 3_600)) -> SourceFailure {
        SourceFailure(kind: kind, message: "api.chucknorris.io is away.", since: since)
    }

    @Test(arguments: [
        (SourceFailure.Kind.offline, "offline"), (.timeout, "timing out"), (.http, "answering with errors"),
        (.quota, "out of quota"), (.decode, "sending what cannot be read"), (.credentials, "without a valid key"),
        (SourceFailure.Kind(rawValue: "upside_down"), "upside_down"),
    ])
    func warnsOfEachKindOfFailure(kind: SourceFailure.Kind, text: String) {
        let freshness = Freshness(origin: .cache, state: .fresh, error: failure(kind))
        #expect(freshness.warning(source: "facts", now: now) == """
            facts: \(text) for 3 hours (api.chucknorris.io is away); showing what is stored
            """)
    }

    /// The one ahead is of a daemon that was waited for: the command began before.
    @Test(arguments: [ago(5), ago(-2)])
    func warnsOfAFailureThatHasJustHappened(since: Timestamp) {
        let freshness = Freshness(origin: .builtin, state: .stale, error: failure(.offline, since: since))
        #expect(freshness.warning(source: "facts", now: now) == """
            facts: offline just now (api.chucknorris.io is away); showing what is stored
            """)
    }

    @Test func warnsThatNothingIsStored() {
        let freshness = Freshness(origin: .none, state: .empty, error: failure(.offline))
        #expect(freshness.warning(source: "gifs", now: now) == """
            gifs: offline for 3 hours (api.chucknorris.io is away); nothing is stored yet
            """)
    }

    @Test func warnsOfStaleContent() {
        let old = Freshness(origin: .cache, state: .stale, fetchedAt: ago(3 * 86_400))
        #expect(old.warning(source: "facts", now: now) == """
            facts: out of date, last fetched 3 days ago; showing what is stored
            """)
        let never = Freshness(origin: .cache, state: .stale)
        #expect(never.warning(source: "facts", now: now) == "facts: not fetched yet; showing what is stored")
    }

    @Test(arguments: [
        Freshness(origin: .upstream, state: .fresh, fetchedAt: now),
        Freshness(origin: .cache, state: .fresh, fetchedAt: ago(60)),
        Freshness(origin: .builtin, state: .stale),
        Freshness(origin: .none, state: .empty),
    ])
    func saysNothingWhereNothingIsWrong(freshness: Freshness) {
        #expect(freshness.warning(source: "facts", now: now) == nil)
    }

    @Test func tellsWhenAQuotaIsBack() {
        let error = SourceFailure(
            kind: .quota, message: "", since: ago(600), retryAt: Timestamp(seconds: now.seconds + 2_400)
        )
        #expect(Freshness(origin: .cache, state: .fresh, error: error).warning(source: "gifs", now: now)
            == "gifs: out of quota for 10 minutes; next try in 40 minutes; showing what is stored")
    }
}
