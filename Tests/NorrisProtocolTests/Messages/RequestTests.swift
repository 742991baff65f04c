import NorrisProtocol
import Testing

struct RequestTests {
    @Test(arguments: [
        (#"{"jsonrpc":"2.0","id":1,"method":"m"}"#, Request(id: .integer(1), method: "m")),
        (#"{"jsonrpc":"2.0","id":"a\u0000","method":"","params":{}}"#, Request(id: .string("a\0"), method: "", params: [:])),
        (#"{"jsonrpc":"2.0","id":null,"method":"m","params":[]}"#, Request(id: .null, method: "m", params: [])),
        (#"{"jsonrpc":"2.0","method":"m","params":{"a":[1.5]}}"#, Request(id: nil, method: "m", params: ["a": [1.5]])),
    ])
    func isReadAndWritten(_ json: String, _ request: Request) throws {
        #expect(try Request(line: json) == request)
        checkEncoding(request, json: json)
    }

    @Test("Members that the envelope does not name are ignored")
    func ignoresUnknownMembers() throws {
        let json = #"{"x":[],"jsonrpc":"2.0","method":"m","Id":7,"result":1,"error":null}"#
        #expect(try Request(line: json) == Request(id: nil, method: "m"))
    }

    @Test("The largest ids come back as they were sent", arguments: [1 << 53, -(1 << 53), 0])
    func keepsLargeIntegers(_ id: Int64) throws {
        let line = #"{"jsonrpc":"2.0","id":\#(id),"method":"m"}"#
        checkEncoding(try Request(line: line), json: line)
    }

    @Test("Ids that only look the same are told apart by their bytes")
    func keepsTheBytesOfAnID() throws {
        let line = "{\"jsonrpc\":\"2.0\",\"id\":\"e\u{301}\",\"method\":\"m\"}"
        checkEncoding(try Request(line: line), json: line)
    }

    @Test("A line that is no request is refused with the id that could be saved", arguments: [
        ("1", RequestID.null),
        ("null", .null),
        (#""m""#, .null),
        ("{}", .null),
        (#"{"jsonrpc":"2.0","id":1}"#, .integer(1)),
        (#"{"jsonrpc":"2.0","id":"a","method":1}"#, .string("a")),
        (#"{"jsonrpc":"2.0","id":1,"method":null}"#, .integer(1)),
        (#"{"jsonrpc":"1.0","id":1,"method":"m"}"#, .integer(1)),
        (#"{"jsonrpc":2.0,"id":1,"method":"m"}"#, .integer(1)),
        (#"{"id":1,"method":"m"}"#, .integer(1)),
        (#"{"jsonrpc":"2.0","id":1,"method":"m","params":null}"#, .integer(1)),
        (#"{"jsonrpc":"2.0","id":1,"method":"m","params":"a"}"#, .integer(1)),
        (#"{"jsonrpc":"2.0","id":1,"method":"m","params":1}"#, .integer(1)),
        (#"{"jsonrpc":"2.0","id":1.0,"method":"m"}"#, .null),
        (#"{"jsonrpc":"2.0","id":1e0,"method":"m"}"#, .null),
        (#"{"jsonrpc":"2.0","id":true,"method":"m"}"#, .null),
        (#"{"jsonrpc":"2.0","id":[1],"method":"m"}"#, .null),
        (#"{"jsonrpc":"2.0","id":{},"method":"m"}"#, .null),
        (#"{"jsonrpc":"1.0","id":1.5}"#, .null),
    ])
    func refusesWhatIsNoRequest(_ json: String, _ id: RequestID) throws {
        let refusal = #expect(throws: EnvelopeError.self) { try Request(line: json) }
        #expect(refusal?.id == id)
        #expect(refusal?.error.code == .invalidRequest)
        #expect(refusal?.error.reason == "invalid_request")
    }

    @Test("The refusal names the member at fault", arguments: [
        (#"{"jsonrpc":"2.0","id":1.5,"method":"m"}"#, "id"),
        (#"{"id":1,"method":"m"}"#, "jsonrpc"),
        (#"{"jsonrpc":"2.0","id":1}"#, "method"),
        (#"{"jsonrpc":"2.0","id":1,"method":"m","params":1}"#, "params"),
    ])
    func namesTheMember(_ json: String, _ member: String) throws {
        let refusal = #expect(throws: EnvelopeError.self) { try Request(line: json) }
        #expect(refusal?.error.message.split(separator: " ").contains(Substring(member)) == true)
    }
}
