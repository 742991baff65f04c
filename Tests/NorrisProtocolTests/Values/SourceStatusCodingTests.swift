import NorrisProtocol
import Testing

struct SourceStatusCodingTests {
    @Test func hasAllItsMembers() {
        checkCoding(
            SourceStatus(
                name: "gifs",
                kind: "giphy",
                isEnabled: true,
                items: 3,
                freshness: Freshness(origin: .cache, state: .stale),
                nextRunAt: Timestamp(seconds: 1),
                consecutiveFailures: 2,
                quota: SourceStatus.Quota(limit: 100, used: 7, resetsAt: Timestamp(seconds: 3600))
            ),
            json: #"{"name":"gifs","kind":"giphy","enabled":true,"items":3,"#
                + #""freshness":{"origin":"cache","state":"stale","error":null},"#
                + #""next_run_at":"1970-01-01T00:00:01Z","consecutive_failures":2,"#
                + #""quota":{"limit":100,"used":7,"resets_at":"1970-01-01T01:00:00Z"}}"#
        )
    }

    @Test func leavesOutWhatIsUnknown() {
        checkCoding(
            SourceStatus(
                name: "facts",
                kind: "chucknorris",
                isEnabled: false,
                items: 0,
                freshness: Freshness(origin: .none, state: .empty)
            ),
            json: #"{"name":"facts","kind":"chucknorris","enabled":false,"items":0,"#
                + #""freshness":{"origin":"none","state":"empty","error":null},"consecutive_failures":0}"#
        )
    }
}
