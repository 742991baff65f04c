import NorrisProtocol
import Testing

struct RecentMethodCodingTests {
    @Test func recentList() throws {
        checkCoding(
            RecentList.Result(items: [
                RecentList.Search(kind: .fact, query: "round house", at: Timestamp(seconds: 0)),
                RecentList.Search(kind: .gif, query: "kick", at: Timestamp(seconds: 1)),
            ]),
            json: #"{"items":[{"kind":"fact","query":"round house","at":"1970-01-01T00:00:00Z"},"#
                + #"{"kind":"gif","query":"kick","at":"1970-01-01T00:00:01Z"}]}"#
        )
    }

    @Test func keepsKindsOfANewerDaemon() throws {
        let search = try RecentList.Search(json: ["kind": "post", "query": "x", "at": "2026-11-21T12:00:00Z"])
        #expect(search.kind.rawValue == "post")
    }

    @Test func recentClear() {
        checkCoding(RecentClear.Result(removed: 6), json: #"{"removed":6}"#)
    }
}
