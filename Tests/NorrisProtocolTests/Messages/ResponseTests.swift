import NorrisProtocol
import Testing

struct ResponseTests {
    @Test(arguments: [
        (#"{"jsonrpc":"2.0","id":1,"result":{"fact":null}}"#, RequestID.integer(1), JSON.object(["fact": nil])),
        (#"{"jsonrpc":"2.0","id":"a","result":[]}"#, .string("a"), .array([])),
        (#"{"jsonrpc":"2.0","id":null,"result":null}"#, .null, .null),
    ])
    func succeeds(_ json: String, _ id: RequestID, _ result: JSON) {
        checkCoding(Response(id: id, outcome: .success(result)), json: json, ignoresUnknown: false)
    }

    @Test func fails() {
        checkCoding(
            Response(id: .null, outcome: .failure(.shuttingDown)),
            json: #"{"jsonrpc":"2.0","id":null,"error":{"code":-32006,"message":"The daemon is stopping.","#
                + #""data":{"reason":"shutting_down","hint":"Connect again; the next daemon answers."}}}"#,
            ignoresUnknown: false
        )
    }

    @Test func ignoresUnknownMembers() throws {
        let json = try JSON.parse(#"{"jsonrpc":"2.0","x":1,"id":1,"result":{"a":1}}"#)
        #expect(try Response(json: json) == Response(id: .integer(1), outcome: .success(["a": 1])))
    }

    @Test(arguments: [
        (#"{"jsonrpc":"2.0","id":1,"error":{}}"#, true),
        (#" { "error" : {"code": and so on"#, true),
        (#"{"x":{"result":[1]},"\u0065rror":1}"#, true),
        (#"{"jsonrpc":"2.0","id":1,"result":{"error":1},"error":1}"#, false),
        (#"{"jsonrpc":"2.0","method":"error","params":{"error":1}}"#, false),
        (#"{"x" 1,"error":1}"#, false),
        (#"{"x":1"#, false),
        ("{}", false),
        (#"["error",1]"#, false),
        ("", false),
    ])
    func recognizesAnErrorByItsKey(_ line: String, _ isError: Bool) {
        #expect(Response.isError(Array(line.utf8)) == isError)
    }

    @Test func writesAResultInPlace() {
        var json = JSONWriter()
        Response.write(id: .string("a"), to: &json) { $0.bool(true) }
        json.newline()
        Response.write(id: .integer(2), error: ResponseError(.busy, reason: "busy", message: "m"), to: &json)
        #expect(
            String(decoding: json.bytes, as: UTF8.self) == """
                {"jsonrpc":"2.0","id":"a","result":true}
                {"jsonrpc":"2.0","id":2,"error":{"code":-32004,"message":"m","data":{"reason":"busy"}}}
                """
        )
    }

    @Test(arguments: [
        (#"[]"#, ""),
        (#"{"jsonrpc":"2.0","result":1}"#, "id"),
        (#"{"jsonrpc":"2.0","id":1.5,"result":1}"#, "id"),
        (#"{"jsonrpc":"2.0","id":1}"#, "error"),
        (#"{"jsonrpc":"2.0","id":1,"error":{"message":"m"}}"#, "error.code"),
        (#"{"jsonrpc":"2.0","id":1,"error":{"code":-1}}"#, "error.message"),
        (#"{"jsonrpc":"2.0","id":1,"error":{"code":-1.5,"message":"m"}}"#, "error.code"),
    ])
    func saysWhatMakesItNoResponse(_ json: String, _ path: String) throws {
        let value = try JSON.parse(json)
        let error = #expect(throws: JSONDecodingError.self) { try Response(json: value) }
        #expect(error?.path == path)
    }

    @Test(arguments: [
        (#"{"result":{"items":[{"text":"a\u00e9\n"},{"text":"b"}]}}"#, "aé\n"),
        (#" {"id":{"items":[]},"r\u0065sult":{"x":{"items":1},"items":[{"id":"text","text":"é"}]},"items":[]} "#, "é"),
        (#"{"result":{"items":[{"text":""}]}}"#, ""),
    ])
    func textOfTheFirstItem(line: String, text: String) {
        #expect(Response.firstItemText(Array(line.utf8)) == text)
    }

    @Test(arguments: [
        "", "[]", "7", "{}", #"{"result":[]}"#, #"{"result":{}}"#, #"{"result":{"items":{}}}"#,
        #"{"result":{"items":[]}}"#, #"{"result":{"items":[7,{"text":"b"}]}}"#, #"{"result":{"items":[{"text":7}]}}"#,
        #"{"error":{"items":[{"text":"a"}]}}"#,
        // Not JSON, if only behind the text.
        #"{"result":{"items":[{"text":"a"}]}"#, #"{"result":{"items":[{"text":"a"}]}}}"#,
        #"{"result":{"items":[{"text":"a"}]},"result":1}"#, #"{"result":{"items":[{"text":"a","text":"b"}]}}"#,
    ])
    func noTextOfAFirstItem(line: String) {
        #expect(Response.firstItemText(Array(line.utf8)) == nil)
    }
}
