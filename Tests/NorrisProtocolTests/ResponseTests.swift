import NorrisProtocol
import NorrisTestSupport
import Testing

struct ResponseTests {
    @Test(
        arguments: [
            (
                #"{"jsonrpc":"2.0","id":1,"result":{"fact":null}}"#, .integer(1),
                .success(EncodedJSON(["fact": nil] as JSON))
            ),
            (#"{"jsonrpc":"2.0","id":"a","result":[]}"#, .string("a"), .success(EncodedJSON([] as JSON))),
            (
                #"{"jsonrpc":"2.0","id":null,"error":{"code":-32006,"message":"The daemon is stopping.","#
                    + #""data":{"reason":"shutting_down","hint":"Connect again; the new daemon will answer."}}}"#,
                .null, .failure(.shuttingDown)
            ),
        ] as [(String, RequestID, Response.Outcome)])
    func isReadAndWritten(_ json: String, _ id: RequestID, _ outcome: Response.Outcome) throws {
        let response = Response(id: id, outcome: outcome)
        checkEncoding(response, json: json)
        #expect(try Response(json: JSON.parse(json)) == response)
    }

    @Test func ignoresUnknownMembers() throws {
        let json = try JSON.parse(#"{"jsonrpc":"2.0","x":1,"id":1,"result":{"a":1}}"#)
        #expect(try Response(json: json) == Response(id: .integer(1), outcome: .success(EncodedJSON(["a": 1] as JSON))))
    }

    @Test(arguments: [
        (#"[]"#, ""), (#"{"jsonrpc":"2.0","result":1}"#, "id"), (#"{"jsonrpc":"2.0","id":1.5,"result":1}"#, "id"),
        (#"{"jsonrpc":"2.0","id":1}"#, "error"), (#"{"jsonrpc":"2.0","id":1,"error":{"message":"m"}}"#, "error.code"),
        (#"{"jsonrpc":"2.0","id":1,"error":{"code":-1}}"#, "error.message"),
        (#"{"jsonrpc":"2.0","id":1,"error":{"code":-1.5,"message":"m"}}"#, "error.code"),
    ]) func saysWhatMakesItNoResponse(_ json: String, _ path: String) throws {
        let value = try JSON.parse(json)
        let error = #expect(throws: JSONDecodingError.self) { try Response(json: value) }
        #expect(error?.path == path)
    }

    @Test(arguments: [
        (#"{"id":7,"result":{"items":[{"text":"a\u00e9\n"},{"text":"b"}]}}"#, "aé\n"),
        (#" {"i\u0064":7,"r\u0065sult":{"x":{"items":1},"items":[{"id":"text","text":"é"}]},"items":[]} "#, "é"),
        (#"{"result":{"items":[{"text":""}]},"id":7}"#, ""),
    ]) func textOfTheFirstItem(line: String, text: String) {
        #expect(Response.firstItemText(Array(line.utf8), of: 7) == text)
    }

    @Test(arguments: [
        "", "[]", "7", "{}", #"{"result":[]}"#, #"{"result":{}}"#, #"{"result":{"items":{}}}"#,
        #"{"result":{"items":[]}}"#, #"{"result":{"items":[7,{"text":"b"}]}}"#, #"{"result":{"items":[{"text":7}]}}"#,
        #"{"error":{"items":[{"text":"a"}]}}"#,
        // Invalid JSON after the text.
        #"{"result":{"items":[{"text":"a"}]}"#, #"{"result":{"items":[{"text":"a"}]}}}"#,
        #"{"result":{"items":[{"text":"a"}]},"result":1}"#, #"{"result":{"items":[{"text":"a","text":"b"}]}}"#,
    ]) func noTextOfAFirstItem(line: String) {
        let line = line.hasPrefix("{") ? #"{"id":7,"# + line.dropFirst() : line
        #expect(Response.firstItemText(Array(line.utf8), of: 7) == nil)
    }

    @Test("The text of a response to another request is not taken", arguments: ["8", "null", #""7""#, "7.0", ""])
    func textOfAnotherResponse(id: String) {
        let member = id.isEmpty ? "" : #""id":\#(id),"#
        let line = #"{\#(member)"result":{"items":[{"text":"a"}]}}"#
        #expect(Response.firstItemText(Array(line.utf8), of: 7) == nil)
    }

    @Test("A response answers the request with its id; an error without an id answers any") func answersOneRequest() {
        let error = Response.Outcome.failure(.busy("The daemon is busy."))
        #expect(Response(id: .integer(7), outcome: .success(EncodedJSON(true))).answers(7))
        #expect(Response(id: .integer(7), outcome: error).answers(7))
        #expect(Response(id: .null, outcome: error).answers(7))
        for id in [RequestID.null, .integer(8), .string("7")] {
            #expect(!Response(id: id, outcome: .success(EncodedJSON(true))).answers(7))
        }
        #expect(!Response(id: .integer(8), outcome: error).answers(7))
    }
}

struct ResponseErrorTests {
    @Test func hasAllItsMembers() throws {
        let error = ResponseError(
            .invalidParams, reason: "invalid_params", "count must be an integer.", hint: "Leave it out.",
            details: ["parameter": "count", "seen": [1]])
        let json =
            #"{"code":-32602,"message":"count must be an integer.","#
            + #""data":{"reason":"invalid_params","hint":"Leave it out.","parameter":"count","seen":[1]}}"#
        checkEncoding(error, json: json)
        #expect(try ResponseError(json: JSON.parse(json)) == error)
    }

    @Test(
        "A code and a message stand, whatever another server sends as data",
        arguments: [
            #"{"code":-32000,"message":"m"}"#, #"{"code":-32000,"message":"m","data":null}"#,
            #"{"code":-32000,"message":"m","data":"text"}"#, #"{"code":-32000,"message":"m","data":[1]}"#,
            #"{"code":-32000,"message":"m","data":{}}"#,
            #"{"code":-32000,"message":"m","data":{"reason":7,"hint":["h"]}}"#,
            #"{"code":-32000,"message":"m","data":{"reason":null,"hint":null}}"#,
        ])
    func standsWithoutUsefulData(_ json: String) throws {
        let error = try ResponseError(json: JSON.parse(json))
        #expect(error == ResponseError(ErrorCode(rawValue: -32000), reason: "", "m"))
    }

    @Test("Unknown members of data and unknown codes of a newer daemon are kept") func keepsWhatItDoesNotKnow() throws {
        let error = try ResponseError(json: [
            "code": -32099, "message": "m", "x": 1, "data": ["reason": "new", "retry_at": "later"],
        ])
        #expect(error.code.rawValue == -32099)
        #expect(error.reason == "new")
        #expect(error.details == ["retry_at": "later"])
    }

    @Test("A hostile name is cut in messages, at a whole code point") func cutsHostileNames() {
        let name = String(repeating: "\u{1F94B}", count: 10_000)
        #expect(ResponseError.unknownMethod(name).message.unicodeScalars.count < 120)
        #expect(name.quotedForMessage == "\"" + String(repeating: "\u{1F94B}", count: 80) + "…\"")
        #expect(String(repeating: "a", count: 80).quotedForMessage == "\"" + String(repeating: "a", count: 80) + "\"")
        #expect("".quotedForMessage == "\"\"")
        // One character for a reader, but 10,001 code points in the protocol.
        let marks = "e" + String(repeating: "\u{301}", count: 10_000)
        #expect(marks.quotedForMessage.unicodeScalars.count == 83)
    }
}
