import NorrisProtocol
import Testing

@testable import NorrisServer

struct ExchangeTests {
    private let peer = Peer(uid: 1000, gid: 1000, groups: [])

    /// The reply line to a line, waited for if need be; nil for none.
    private func reply(to line: String, _ registry: MethodRegistry = TestMethods.registry()) async throws -> String? {
        var json = JSONWriter()
        let exchange = Exchange(registry: registry, peer: peer)
        var bytes: [UInt8]
        if let rest = exchange.answer(Array(line.utf8)[...], into: &json) {
            #expect(json.count == 0, "Nothing is sent before the rest is known")
            bytes = await rest()
        } else {
            bytes = json.bytes
        }
        guard let last = bytes.popLast() else { return nil }
        try #require(last == UInt8(ascii: "\n"))
        try #require(!bytes.contains(UInt8(ascii: "\n")))
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Code and id of the error that answers a line.
    private func refusal(of line: String, _ registry: MethodRegistry = TestMethods.registry()) async throws -> Refusal {
        let response = try Response(json: JSON.parse(try #require(try await reply(to: line, registry))))
        guard case .failure(let error) = response.outcome else { return Refusal(code: 0, id: response.id) }
        return Refusal(code: error.code.rawValue, id: response.id)
    }

    struct Refusal: Equatable {
        let code: Int64
        let id: RequestID
    }

    // MARK: The specification's examples, with methods of this protocol

    @Test func namedParameters() async throws {
        let line = #"{"jsonrpc": "2.0", "method": "fact.search", "params": {"query": "a"}, "id": 3}"#
        #expect(try await reply(to: line) == #"{"jsonrpc":"2.0","id":3,"result":{"query":"a"}}"#)
    }

    @Test func positionalParametersAreRefused() async throws {
        let line = #"{"jsonrpc": "2.0", "method": "fact.search", "params": [42, 23], "id": 1}"#
        #expect(try await refusal(of: line) == Refusal(code: -32602, id: .integer(1)))
    }

    @Test(arguments: [
        #"{"jsonrpc": "2.0", "method": "fact.search", "params": {"query": "a"}}"#,
        #"{"jsonrpc": "2.0", "method": "foobar"}"#,
        #"{"jsonrpc": "2.0", "method": "fact.random", "params": [1]}"#,
        #"{"jsonrpc": "2.0", "method": "fact.random", "params": {"count": 0}}"#,
        #"{"jsonrpc": "2.0", "method": "server.reload"}"#,
        #"[{"jsonrpc": "2.0", "method": "fact.random"}, {"jsonrpc": "2.0", "method": "foobar"}]"#,
    ])
    func notificationsAreNeverAnswered(line: String) async throws {
        #expect(try await reply(to: line) == nil)
    }

    @Test(arguments: [
        (#"{"jsonrpc": "2.0", "method": "foobar", "id": "1"}"#, -32601, RequestID.string("1")),
        (#"{"jsonrpc": "2.0", "method": "foobar, "params": "bar", "baz]"#, -32700, .null),
        (#"{"jsonrpc": "2.0", "method": 1, "params": "bar"}"#, -32600, .null),
        (#"[ {"jsonrpc": "2.0", "method": "sum", "params": [1,2,4], "id": "1"}, {"jsonrpc": "2.0", "method" ]"#, -32700, .null),
        ("[]", -32600, .null),
    ])
    func examplesOfErrors(line: String, code: Int64, id: RequestID) async throws {
        #expect(try await refusal(of: line) == Refusal(code: code, id: id))
    }

    @Test(arguments: [("[1]", 1), ("[1,2,3]", 3), ("[[]]", 1), ("[null, true, \"a\"]", 3)])
    func everyEntryThatIsNoRequestGetsItsError(line: String, count: Int) async throws {
        let replies = try JSON.parse(try #require(try await reply(to: line))).arrayValue()
        #expect(replies.count == count)
        for reply in replies {
            let response = try Response(json: reply)
            #expect(response.id == .null)
            guard case .failure(let error) = response.outcome else { Issue.record("No error"); continue }
            #expect(error.code == .invalidRequest)
        }
    }

    @Test func theSpecificationsLongBatch() async throws {
        let line = """
            [{"jsonrpc":"2.0","method":"fact.search","params":{"query":"a"},"id":"1"},\
            {"jsonrpc":"2.0","method":"fact.random"},\
            {"jsonrpc":"2.0","method":"fact.search","params":{"query":"b"},"id":"2"},\
            {"foo":"boo"},\
            {"jsonrpc":"2.0","method":"foo.get","params":{"name":"myself"},"id":"5"},\
            {"jsonrpc":"2.0","method":"server.info","id":"9"}]
            """
        let registry = TestMethods.registry(["fact.search": TestMethods.laterEcho])
        let replies = try JSON.parse(try #require(try await reply(to: line, registry))).arrayValue()
        let ids = try replies.map { try Response(json: $0).id }
        #expect(ids == [.string("1"), .string("2"), .null, .string("5"), .string("9")])
        #expect(try Response(json: replies[1]).outcome == .success(["later": "b"]))
    }

    // MARK: Envelopes

    @Test(arguments: [
        (#"{"jsonrpc":"1.0","id":7,"method":"server.info"}"#, -32600, RequestID.integer(7)),
        (#"{"id":7,"method":"server.info"}"#, -32600, .integer(7)),
        (#"{"jsonrpc":"2.0","id":7}"#, -32600, .integer(7)),
        (#"{"jsonrpc":"2.0","id":7,"method":"server.info","params":1}"#, -32600, .integer(7)),
        (#"{"jsonrpc":"2.0","id":7,"method":"server.info","params":null}"#, -32600, .integer(7)),
        (#"{"jsonrpc":"2.0","method":"server.info","params":"x"}"#, -32600, .null),
        (#"{"jsonrpc":"2.0","id":1.0,"method":"server.info"}"#, -32600, .null),
        (#"{"jsonrpc":"2.0","id":1e2,"method":"server.info"}"#, -32600, .null),
        (#"{"jsonrpc":"2.0","id":true,"method":"server.info"}"#, -32600, .null),
        (#"{"jsonrpc":"2.0","id":{},"method":"server.info"}"#, -32600, .null),
        (#"{"jsonrpc":"2.0","id":9007199254740993,"method":"server.info"}"#, -32700, .null),
        ("17", -32600, .null),
    ])
    func badEnvelopes(line: String, code: Int64, id: RequestID) async throws {
        #expect(try await refusal(of: line) == Refusal(code: code, id: id))
    }

    @Test(arguments: ["null", "\"\"", "\"ü\"", "-9007199254740992", "9007199254740992", "0"])
    func idsComeBackAsSent(id: String) async throws {
        let line = #"{"jsonrpc":"2.0","id":\#(id),"method":"server.info","x":[1]}"#
        #expect(try await reply(to: line) == #"{"jsonrpc":"2.0","id":\#(id),"result":{}}"#)
    }

    // MARK: The order of the checks

    @Test func theMethodIsLookedAtBeforeThePermissionAndThatBeforeTheParameters() async throws {
        let noMethod = #"{"jsonrpc":"2.0","id":1,"method":"server.reboot","params":{"x":1}}"#
        #expect(try await refusal(of: noMethod).code == -32601)
        let reload = #"{"jsonrpc":"2.0","id":1,"method":"server.reload","params":{"x":1}}"#
        #expect(try await refusal(of: reload).code == -32003)
        #expect(try await refusal(of: reload, TestMethods.registry(isAdministrator: { $0.uid == 1000 })).code == -32602)
    }

    @Test func parametersAreCheckedBeforeTheBodyRuns() async throws {
        let registry = TestMethods.registry(["fact.random": { _, _ throws(ResponseError) in
            Issue.record("The body must not run")
            return nil
        }])
        let line = #"{"jsonrpc":"2.0","id":1,"method":"fact.random","params":{"count":101}}"#
        #expect(try await refusal(of: line, registry).code == -32602)
    }

    // MARK: Bodies

    @Test func aFailingBodyLeavesNothingOfItsResult() async throws {
        let registry = TestMethods.registry(["fact.random": TestMethods.failing])
        let one = #"{"jsonrpc":"2.0","id":1,"method":"fact.random"}"#
        let error = #""error":{"code":-32001,"message":"Nothing here.","data":{"reason":"not_found"}}}"#
        #expect(try await reply(to: one, registry) == #"{"jsonrpc":"2.0","id":1,"# + error)
        let info = #"{"jsonrpc":"2.0","id":2,"method":"server.info"}"#
        #expect(
            try await reply(to: "[\(info),\(one),\(info)]", registry)
                == #"[{"jsonrpc":"2.0","id":2,"result":{}},{"jsonrpc":"2.0","id":1,"# + error
                + #",{"jsonrpc":"2.0","id":2,"result":{}}]"#
        )
    }

    @Test func aLaterAnswerAndALaterFailure() async throws {
        let registry = TestMethods.registry(["fact.search": TestMethods.laterEcho])
        let good = #"{"jsonrpc":"2.0","id":1,"method":"fact.search","params":{"query":"a"}}"#
        #expect(try await reply(to: good, registry) == #"{"jsonrpc":"2.0","id":1,"result":{"later":"a"}}"#)
        let bad = #"{"jsonrpc":"2.0","id":1,"method":"fact.search","params":{"query":"fail"}}"#
        #expect(try await refusal(of: bad, registry).code == -32005)
        let silent = #"{"jsonrpc":"2.0","method":"fact.search","params":{"query":"a"}}"#
        #expect(try await reply(to: silent, registry) == nil)
        #expect(try await reply(to: "[\(silent),\(silent)]", registry) == nil)
    }

    @Test func requestsAreCounted() async throws {
        let registry = TestMethods.registry()
        let info = #"{"jsonrpc":"2.0","id":2,"method":"server.info"}"#
        _ = try await reply(to: "[\(info),\(info),1]", registry)
        _ = try await reply(to: info, registry)
        #expect(registry.requestsTotal == 3)
    }

    // MARK: Limits

    @Test func aBatchHoldsSixtyFourRequests() async throws {
        let info = #"{"jsonrpc":"2.0","id":2,"method":"server.info"}"#
        let full = Array(repeating: info, count: 64).joined(separator: ",")
        #expect(try JSON.parse(try #require(try await reply(to: "[\(full)]"))).arrayValue().count == 64)
        #expect(try await refusal(of: "[\(full),\(info)]") == Refusal(code: -32600, id: .null))
    }

    @Test(arguments: [false, true])
    func entriesPastFourMebibytesAreRefused(isLater: Bool) async throws {
        let size = 1024 * 1024
        let long: MethodBody = { _, json throws(ResponseError) in
            guard isLater else { return try TestMethods.long(size)(.init(arguments: .none, peer: Peer(uid: 0, gid: 0, groups: [])), &json) }
            return { () async throws(ResponseError) -> [UInt8] in
                JSON.string(String(repeating: "x", count: size)).jsonBytes
            }
        }
        let registry = TestMethods.registry(["fact.random": long])
        let entries = (0..<64).map { #"{"jsonrpc":"2.0","id":\#($0),"method":"fact.random"}"# }
        let line = try #require(try await reply(to: "[\(entries.joined(separator: ","))]", registry))
        #expect(line.utf8.count <= 4 * 1024 * 1024)
        let replies = try JSON.parse(line).arrayValue().map { try Response(json: $0) }
        #expect(replies.map(\.id) == (0..<64).map { .integer($0) })
        let codes = replies.map { reply -> Int64 in
            guard case .failure(let error) = reply.outcome else { return 0 }
            return error.code.rawValue
        }
        #expect(codes == [0, 0, 0] + Array(repeating: -32004, count: 61))
    }

    @Test func aReplyThatWouldBeLongerIsRefused() async throws {
        let line = #"{"jsonrpc":"2.0","id":1,"method":"fact.random"}"#
        let envelope = #"{"jsonrpc":"2.0","id":1,"result":""}"#.utf8.count + 1
        let fits = TestMethods.registry(["fact.random": TestMethods.long(Exchange.maximumReply - envelope)])
        #expect(try await refusal(of: line, fits).code == 0)
        let tooLong = TestMethods.registry(["fact.random": TestMethods.long(Exchange.maximumReply - envelope + 1)])
        #expect(try await refusal(of: line, tooLong) == Refusal(code: -32004, id: .integer(1)))
    }

    @Test func aBatchsBracketCountsTowardsTheDepth() async throws {
        func request(_ depth: Int) -> String {
            let nest = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
            return #"{"jsonrpc":"2.0","id":1,"method":"server.info","x":\#(nest)}"#
        }
        #expect(try await refusal(of: request(31)).code == 0)
        #expect(try await refusal(of: request(32)).code == -32700)
        #expect(try await reply(to: "[\(request(30))]")?.contains("result") == true)
        #expect(try await refusal(of: "[\(request(31))]").code == -32700)
    }

    @Test func aLongLineHasItsOwnReason() throws {
        var json = JSONWriter()
        Exchange(registry: TestMethods.registry(), peer: peer).refuseLongLine(into: &json)
        let line = String(decoding: json.bytes.dropLast(), as: UTF8.self)
        let response = try Response(json: JSON.parse(line))
        guard case .failure(let error) = response.outcome else { Issue.record("No error"); return }
        #expect(response.id == .null)
        #expect(error.code == .invalidRequest)
        #expect(error.reason == "line_too_long")
    }
}

extension Arguments {
    /// Those of a request without parameters.
    static var none: Arguments {
        get throws(ResponseError) { try ServerInfo.description.arguments(from: nil) }
    }
}
