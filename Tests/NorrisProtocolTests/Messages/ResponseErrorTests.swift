import NorrisProtocol
import Testing

struct ResponseErrorTests {
    @Test func hasAllItsMembers() {
        checkCoding(
            ResponseError(
                .invalidParams,
                reason: "invalid_params",
                message: "count must be an integer.",
                hint: "Leave it out.",
                details: ["parameter": "count", "seen": [1]]
            ),
            json: #"{"code":-32602,"message":"count must be an integer.","#
                + #""data":{"reason":"invalid_params","hint":"Leave it out.","parameter":"count","seen":[1]}}"#,
            ignoresUnknown: false
        )
    }

    @Test func leavesOutAHintThereIsNot() {
        checkCoding(
            ResponseError(.internalError, reason: "internal", message: "m"),
            json: #"{"code":-32603,"message":"m","data":{"reason":"internal"}}"#,
            ignoresUnknown: false
        )
    }

    @Test("A code and a message stand, whatever another server sends as data", arguments: [
        #"{"code":-32000,"message":"m"}"#,
        #"{"code":-32000,"message":"m","data":null}"#,
        #"{"code":-32000,"message":"m","data":"text"}"#,
        #"{"code":-32000,"message":"m","data":[1]}"#,
        #"{"code":-32000,"message":"m","data":{}}"#,
        #"{"code":-32000,"message":"m","data":{"reason":7,"hint":["h"]}}"#,
        #"{"code":-32000,"message":"m","data":{"reason":null,"hint":null}}"#,
    ])
    func standsWithoutUsefulData(_ json: String) {
        checkDecoding(
            ResponseError(ErrorCode(rawValue: -32000), reason: "", message: "m"), json: json, ignoresUnknown: false
        )
    }

    @Test("What is unknown in data is kept, and so is a code of a newer daemon")
    func keepsWhatItDoesNotKnow() throws {
        let error = try ResponseError(
            json: ["code": -32099, "message": "m", "x": 1, "data": ["reason": "new", "retry_at": "later"]]
        )
        #expect(error.code.rawValue == -32099)
        #expect(error.reason == "new")
        #expect(error.details == ["retry_at": "later"])
    }

    @Test func keepsAllOfManyDetails() throws {
        let members = (0..<40_000).map { #""k\#($0)":\#($0)"# }.joined(separator: ",")
        let text = #"{"code":-32099,"message":"m","data":{"hint":"h",\#(members),"reason":"new"}}"#
        let error = try ResponseError(json: JSON.parse(text))
        #expect(error.reason == "new")
        #expect(error.hint == "h")
        #expect(error.details.members.map { $0.key } == (0..<40_000).map { "k\($0)" })
        #expect(error.details["k39999"] == 39_999)
    }

    @Test("Every error by name", arguments: [
        (ResponseError.parseError(JSONError(.tooDeep, at: 31)), -32700, "parse_error"),
        (.invalidRequest("m"), -32600, "invalid_request"),
        (.lineTooLong(maximum: 65_536), -32600, "line_too_long"),
        (.unknownMethod("m"), -32601, "unknown_method"),
        (.invalidParams("m"), -32602, "invalid_params"),
        (.internalError(), -32603, "internal"),
        (.notFound("m"), -32001, "not_found"),
        (.permissionDenied(method: "m"), -32003, "permission_denied"),
        (.busy("m"), -32004, "busy"),
        (.storage("m"), -32005, "storage"),
        (.shuttingDown, -32006, "shutting_down"),
    ])
    func hasItsCodeAndReason(_ error: ResponseError, _ code: Int64, _ reason: String) {
        #expect(error.code.rawValue == code)
        #expect(error.reason == reason)
        #expect(error.message.last == "." || error.message == "m")
        #expect(!error.message.hasSuffix(".."))
    }

    @Test func spellsTheCodeNobodyHasANameFor() {
        #expect(ErrorCode.nothingCached.rawValue == -32002)
    }

    @Test("A hostile name is cut in messages, at a whole code point")
    func cutsHostileNames() {
        let name = String(repeating: "\u{1F94B}", count: 10_000)
        #expect(ResponseError.unknownMethod(name).message.unicodeScalars.count < 120)
        #expect(name.quotedForMessage == "\"" + String(repeating: "\u{1F94B}", count: 80) + "…\"")
        #expect(String(repeating: "a", count: 80).quotedForMessage == "\"" + String(repeating: "a", count: 80) + "\"")
        #expect("".quotedForMessage == "\"\"")
        // One character to a reader, ten thousand code points to the wire.
        let marks = "e" + String(repeating: "\u{301}", count: 10_000)
        #expect(marks.quotedForMessage.unicodeScalars.count == 83)
    }
}
