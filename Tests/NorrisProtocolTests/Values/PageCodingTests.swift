import NorrisProtocol
import Testing

struct PageCodingTests {
    private let fact = Fact(id: "a", text: "t", categories: [], source: "builtin")
    private let factJSON = #"{"id":"a","text":"t","categories":[],"source":"builtin"}"#

    @Test func hasAllItsMembers() {
        checkCoding(
            Page(
                items: [fact, fact],
                total: 1000,
                next: "b.x",
                freshness: Freshness(origin: .builtin, state: .stale)
            ),
            json: #"{"items":["# + factJSON + "," + factJSON + #"],"total":1000,"next":"b.x","#
                + #""freshness":{"origin":"builtin","state":"stale","error":null}}"#
        )
    }

    @Test("The last page of many matches has neither next nor total")
    func leavesOutWhatIsUnknown() {
        checkCoding(Page(items: [fact]), json: #"{"items":["# + factJSON + "]}")
    }

    @Test func mayBeEmpty() {
        checkCoding(Page<Fact>(items: [], total: 0), json: #"{"items":[],"total":0}"#)
    }

    @Test func saysWhichItemIsOdd() {
        #expect(throws: JSONDecodingError(path: "items.0", message: "must be an object")) {
            try Page<Fact>(json: ["items": [1]])
        }
        #expect(throws: JSONDecodingError(path: "items", message: "is missing")) { try Page<Fact>(json: [:]) }
    }
}
