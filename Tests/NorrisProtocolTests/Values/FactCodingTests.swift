import NorrisProtocol
import Testing

struct FactCodingTests {
    @Test func hasAllItsMembers() {
        checkCoding(
            Fact(
                id: "-x_1",
                text: "Chuck Norris counted to infinity.\n\tTwice.",
                categories: ["dev", "science"],
                source: "chucknorris",
                url: "https://api.chucknorris.io/jokes/-x_1",
                createdAt: Timestamp(seconds: 0),
                updatedAt: Timestamp(seconds: 86_399)
            ),
            json: #"{"id":"-x_1","text":"Chuck Norris counted to infinity.\n\tTwice.","categories":["dev","science"],"#
                + #""source":"chucknorris","url":"https://api.chucknorris.io/jokes/-x_1","#
                + #""created_at":"1970-01-01T00:00:00Z","updated_at":"1970-01-01T23:59:59Z"}"#
        )
    }

    @Test func leavesOutWhatIsUnknown() {
        checkCoding(
            Fact(id: "fortune:0", text: "t", categories: [], source: "fortune:linux"),
            json: #"{"id":"fortune:0","text":"t","categories":[],"source":"fortune:linux"}"#
        )
    }

    @Test("A null where a member may be absent reads as absent")
    func readsNullAsAbsent() {
        checkDecoding(
            Fact(id: "a", text: "t", categories: [], source: "builtin"),
            json: #"{"id":"a","text":"t","categories":[],"source":"builtin","url":null,"created_at":null}"#
        )
    }

    @Test(arguments: ["id", "text", "categories", "source"])
    func refusesToBeWithout(_ key: String) throws {
        var object: JSONObject = ["id": "a", "text": "t", "categories": [], "source": "builtin"]
        object[key] = nil
        #expect(throws: JSONDecodingError(path: key, message: "is missing")) { try Fact(json: .object(object)) }
    }

    @Test func saysWhichMemberIsOdd() {
        let json: JSON = ["id": "a", "text": "t", "categories": ["dev", 1], "source": "builtin"]
        #expect(throws: JSONDecodingError(path: "categories.1", message: "must be a string")) { try Fact(json: json) }
    }
}
