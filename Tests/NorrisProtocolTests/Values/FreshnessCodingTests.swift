import NorrisProtocol
import Testing

struct FreshnessCodingTests {
    @Test func hasAllItsMembers() {
        checkCoding(
            Freshness(
                origin: .upstream,
                state: .fresh,
                fetchedAt: Timestamp(seconds: 60),
                ageSeconds: 5,
                error: SourceFailure(
                    kind: .http, message: "Status 503.", since: Timestamp(seconds: 61), retryAt: Timestamp(seconds: 62)
                )
            ),
            json: #"{"origin":"upstream","state":"fresh","fetched_at":"1970-01-01T00:01:00Z","age_seconds":5,"#
                + #""error":{"kind":"http","message":"Status 503.","since":"1970-01-01T00:01:01Z","#
                + #""retry_at":"1970-01-01T00:01:02Z"}}"#
        )
    }

    @Test("Its error is null where there is none, unlike every other member of the protocol")
    func writesNullForNoError() {
        checkCoding(Freshness(origin: .builtin, state: .stale), json: #"{"origin":"builtin","state":"stale","error":null}"#)
    }

    @Test func readsAnAbsentErrorAsNone() {
        checkDecoding(Freshness(origin: .none, state: .empty), json: #"{"origin":"none","state":"empty"}"#)
    }

    @Test("Words of a newer daemon are kept")
    func keepsUnknownWords() {
        checkCoding(
            Freshness(
                origin: .init(rawValue: "mirror"),
                state: .init(rawValue: "ripe"),
                error: SourceFailure(kind: .init(rawValue: "weather"), message: "Rain.", since: Timestamp(seconds: 0))
            ),
            json: #"{"origin":"mirror","state":"ripe","#
                + #""error":{"kind":"weather","message":"Rain.","since":"1970-01-01T00:00:00Z"}}"#
        )
    }

    @Test func spellsItsWords() {
        #expect(
            [Freshness.Origin.upstream, .cache, .builtin, .none].map(\.jsonText)
                == [#""upstream""#, #""cache""#, #""builtin""#, #""none""#]
        )
        #expect([Freshness.State.fresh, .stale, .empty].map(\.jsonText) == [#""fresh""#, #""stale""#, #""empty""#])
        #expect(
            [SourceFailure.Kind.offline, .timeout, .http, .quota, .decode, .credentials].map(\.rawValue)
                == ["offline", "timeout", "http", "quota", "decode", "credentials"]
        )
    }

    @Test func refusesAWordThatIsNoString() {
        #expect(throws: JSONDecodingError(path: "origin", message: "must be a string")) {
            try Freshness(json: ["origin": 1, "state": "fresh", "error": nil])
        }
    }

    @Test func saysWhereInItsErrorTheFaultIs() {
        #expect(throws: JSONDecodingError(path: "error.since", message: "is missing")) {
            try Freshness(json: ["origin": "cache", "state": "stale", "error": ["kind": "http", "message": "m"]])
        }
    }
}
