import NorrisTestSupport
import Testing

@testable import NorrisProtocol

struct RequestTests {
    private typealias Content = (id: RequestID?, method: String?, params: JSON?)

    /// Reads a line with one request. The content is complete if there is no fault.
    private func read(_ line: String) throws -> (content: Content, fault: (id: RequestID, error: ResponseError)?) {
        try Array(line.utf8)[...].withRawBytes { bytes in
            guard case .single(let envelope) = try RequestLine(bytes) else { throw NotSingle() }
            let content = (
                id: envelope.id.flatMap { RequestID(JSONValue($0, of: bytes)) },
                method: envelope.method.flatMap { JSONValue($0, of: bytes).text },
                params: envelope.params.map { JSON(json: JSONValue($0, of: bytes)) }
            )
            return (content, envelope.fault(in: bytes).map { ($0.id, $0.error) })
        }
    }

    private struct NotSingle: Error {}

    @Test(
        arguments: [
            (#"{"jsonrpc":"2.0","id":1,"method":"m"}"#, (.integer(1), "m", nil)),
            (#"{"jsonrpc":"2.0","id":"a\u0000","method":"","params":{}}"#, (.string("a\0"), "", [:])),
            (#"{"jsonrpc":"2.0","id":null,"method":"m","params":[]}"#, (.null, "m", [])),
            (#"{"jsonrpc":"2.0","method":"m","params":{"a":[1.5]}}"#, (nil, "m", ["a": [1.5]])),
            // Members that the envelope does not name are ignored.
            (#"{"x":[],"jsonrpc":"2.0","method":"m","Id":7,"result":1,"error":null}"#, (nil, "m", nil)),
        ] as [(String, (id: RequestID?, method: String?, params: JSON?))])
    func isRead(_ line: String, _ expected: (id: RequestID?, method: String?, params: JSON?)) throws {
        let (content, fault) = try read(line)
        #expect(fault == nil)
        #expect((content.id, content.method, content.params) == expected)
    }

    @Test(
        "A line that is no request is refused with the id that could be saved, and names the member",
        arguments: [
            ("1", RequestID.null, ""), ("null", .null, ""), (#""m""#, .null, ""), ("{}", .null, "jsonrpc"),
            (#"{"jsonrpc":"2.0","id":1}"#, .integer(1), "method"),
            (#"{"jsonrpc":"2.0","id":"a","method":1}"#, .string("a"), "method"),
            (#"{"jsonrpc":"1.0","id":1,"method":"m"}"#, .integer(1), "jsonrpc"),
            (#"{"jsonrpc":2.0,"id":1,"method":"m"}"#, .integer(1), "jsonrpc"),
            (#"{"id":1,"method":"m"}"#, .integer(1), "jsonrpc"),
            (#"{"jsonrpc":"2.0","id":1,"method":"m","params":null}"#, .integer(1), "params"),
            (#"{"jsonrpc":"2.0","id":1,"method":"m","params":"a"}"#, .integer(1), "params"),
            (#"{"jsonrpc":"2.0","id":1.0,"method":"m"}"#, .null, "id"),
            (#"{"jsonrpc":"2.0","id":1e0,"method":"m"}"#, .null, "id"),
            (#"{"jsonrpc":"2.0","id":true,"method":"m"}"#, .null, "id"),
            (#"{"jsonrpc":"2.0","id":[1],"method":"m"}"#, .null, "id"),
        ])
    func refusesWhatIsNoRequest(_ line: String, _ id: RequestID, _ member: String) throws {
        let fault = try #require(try read(line).fault)
        #expect((fault.id, fault.error.code, fault.error.reason) == (id, .invalidRequest, "invalid_request"))
        #expect(member.isEmpty || fault.error.message.split(separator: " ").contains(Substring(member)))
    }
}
