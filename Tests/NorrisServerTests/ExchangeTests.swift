import NorrisProtocol
import Testing

@testable import NorrisServer

struct ExchangeTests {
    private let registry = TestMethods.registry()

    private func reply(_ line: String) async throws -> String { try outline(try await registry.reply(to: line)) }

    @Test(
        "The examples of the specification",
        arguments: [
            (#"{"jsonrpc": "2.0", "method": "fact.get", "params": [42, 23], "id": 1}"#, "1 -32602 invalid_params"),
            (#"{"jsonrpc": "2.0", "method": "fact.get", "params": [], "id": 2}"#, "2 -32602 invalid_params"),
            (#"{"jsonrpc": "2.0", "method": "fact.get", "params": {"id": "19"}, "id": 3}"#, #"3 "19""#),
            (#"{"id": 4, "params": {"id": "19"}, "method": "fact.get", "jsonrpc": "2.0"}"#, #"4 "19""#),
            (#"{"jsonrpc": "2.0", "method": "update", "params": [1,2,3,4,5]}"#, ""),
            (#"{"jsonrpc": "2.0", "method": "foobar"}"#, ""),
            (#"{"jsonrpc": "2.0", "method": "foobar", "id": "1"}"#, #""1" -32601 unknown_method"#),
            (#"{"jsonrpc": "2.0", "method": "foobar, "params": "bar", "baz]"#, "null -32700 parse_error"),
            (#"{"jsonrpc": "2.0", "method": 1, "params": "bar"}"#, "null -32600 invalid_request"),
            (
                #"[{"jsonrpc": "2.0", "method": "sum", "params": [1,2,4], "id": "1"}, {"jsonrpc": "2.0", "method"]"#,
                "null -32700 parse_error"
            ), ("[]", "null -32600 invalid_request"), ("[1]", "[null -32600 invalid_request]"),
            ("[1,2,3]", "[null -32600 invalid_request, null -32600 invalid_request, null -32600 invalid_request]"),
            (
                """
                [{"jsonrpc": "2.0", "method": "fact.get", "params": {"id": "7"}, "id": "1"}, \
                {"jsonrpc": "2.0", "method": "notify_hello", "params": [7]}, \
                {"jsonrpc": "2.0", "method": "fact.get", "params": {"id": "19"}, "id": "2"}, \
                {"foo": "boo"}, \
                {"jsonrpc": "2.0", "method": "foo.get", "params": {"name": "myself"}, "id": "5"}, \
                {"jsonrpc": "2.0", "method": "server.info", "id": "9"}]
                """, #"["1" "7", "2" "19", null -32600 invalid_request, "5" -32601 unknown_method, "9" {}]"#
            ),
            (
                """
                [{"jsonrpc": "2.0", "method": "notify_sum", "params": [1,2,4]}, \
                {"jsonrpc": "2.0", "method": "notify_hello", "params": [7]}]
                """, ""
            ),
        ])
    func specification(_ line: String, _ expected: String) async throws {
        #expect(try await reply(line) == expected)
    }

    // MARK: Order of checks

    @Test(
        "Each line is wrong in this and in every later way",
        arguments: [
            (#"{"jsonrpc":"2.0","id":1,"method":"nope","params":3"#, "null -32700 parse_error"),
            (#"{"jsonrpc":"2.0","id":1,"method":"nope","params":3}"#, "1 -32600 invalid_request"),
            (request(1, "nope", "[]"), "1 -32601 unknown_method"),
            (request(1, "server.reload", "[]"), "1 -32003 permission_denied"),
            (request(1, "server.reload", #"{"x":1}"#), "1 -32003 permission_denied"),
            (request(1, "fact.get", "[]"), "1 -32602 invalid_params"),
            (request(1, "fact.get", "{}"), "1 -32602 invalid_params"),
            (request(1, "fact.get", #"{"id":7}"#), "1 -32602 invalid_params"),
            (request(1, "fact.get", #"{"id":"a","x":1}"#), "1 -32602 invalid_params"),
            (request(1, "fact.get", #"{"id":"a"}"#), "1 -32001 not_found"),
        ])
    func order(_ line: String, _ expected: String) async throws {
        let calls = Counter()
        let notFound = TestMethods.counted(calls, TestMethods.throwing(.notFound("No such fact.")))
        let registry = TestMethods.registry(["fact.get": notFound], isAdministrator: { _ in false })
        #expect(try outline(try await registry.reply(to: line)) == expected)
        #expect(calls.value == (expected.contains("-32001") ? 1 : 0))
    }

    // MARK: Envelope

    @Test(
        "Ids come back as they were sent",
        arguments: ["0", "1", "-1", "9007199254740992", "-9007199254740992", "null", #""""#, #""a""#, #""ä\n\"""#])
    func ids(_ id: String) async throws {
        #expect(try await reply(request(id, "fact.get", #"{"id":"x"}"#)) == id + #" "x""#)
        #expect(try await reply(request(id, "nope")) == id + " -32601 unknown_method")
        #expect(
            try await reply(#"{"jsonrpc":"1.0","id":\#(id),"method":"server.info"}"#) == id + " -32600 invalid_request")
    }

    @Test(
        "The sign of a zero comes back in results and errors",
        arguments: ["fact.get", "nope", "server.info\",\"params\":\"x"])
    func negativeZero(_ method: String) async throws {
        let line = request("-0", method)
        #expect(try await registry.reply(to: line).hasPrefix(#"{"jsonrpc":"2.0","id":-0,""#))
        #expect(try await registry.reply(to: "[\(line)]").hasPrefix(#"[{"jsonrpc":"2.0","id":-0,""#))
    }

    @Test func aLongNameOfAParameterIsCutWhereverItIsNamed() async throws {
        let name = String(repeating: "ä", count: 20_000)
        for line in [request(1, "fact.random", #"{"\#(name)":1}"#), request(1, name)] {
            let reply = try await registry.reply(to: line)
            #expect(reply.contains(String(repeating: "ä", count: 80) + "…"))
            #expect(reply.utf8.count < 1_000)
        }
    }

    @Test(
        "A well-formed request without an id is never answered",
        arguments: [
            notification("server.info"), notification("nope"), notification("server.info", "[]"),
            notification("fact.get"), notification("fact.get", #"{"id":1}"#), notification("fact.random", #"{"x":1}"#),
            notification("server.reload"), notification("fact.get", #"{"id":"a"}"#),
        ])
    func notificationsAreNeverAnswered(_ line: String) async throws {
        for body in [TestMethods.echo, TestMethods.deferredEcho, TestMethods.throwing(.internalError())] {
            let registry = TestMethods.registry(["fact.get": body], isAdministrator: { _ in false })
            #expect(try await registry.reply(to: line).isEmpty)
            #expect(try await registry.reply(to: "[\(line),\(line)]").isEmpty)
        }
    }

    // MARK: Bodies that fail

    @Test("The partial output of a body that throws is discarded", arguments: [false, true])
    func throwingBody(inBatch: Bool) async throws {
        let error = ResponseError.storage("The disk is full.", hint: "Make room.")
        let registry = TestMethods.registry(["server.info": TestMethods.throwing(error)])
        let line = request(1, "server.info")
        let expected =
            #"{"jsonrpc":"2.0","id":1,"error":{"code":-32005,"message":"The disk is full.","#
            + #""data":{"reason":"storage","hint":"Make room."}}}"#
        if inBatch {
            let other = request(2, "fact.get", #"{"id":"a"}"#)
            let reply = #"{"jsonrpc":"2.0","id":2,"result":"a"}"#
            #expect(try await registry.reply(to: "[\(line),\(other),\(line)]") == "[\(expected),\(reply),\(expected)]")
        } else {
            #expect(try await registry.reply(to: line) == expected)
        }
    }

    /// A line that differs from the last line only in its id is not parsed, but has the same reply as a parsed line.
    @Test(
        "Lines that repeat another",
        arguments: [
            #"{"jsonrpc":"2.0","id":@,"method":"server.info"}"#, #"{"jsonrpc":"2.0","method":"server.info","id":@}"#,
            #"{"jsonrpc":"2.0","method":"fact.get","params":{"id":"19"},"id": @ }"#,
        ])
    func repeatedLines(_ form: String) async throws {
        let exchange = Exchange(registry: registry)
        let caller = Caller.nobody
        func check(_ line: String) async throws {
            var json = JSONWriter()
            var turn = Turn.endless
            #expect(exchange.answer(Array(line.utf8)[...], of: caller, &turn, into: &json) == nil)
            #expect(
                String(decoding: json.bytes, as: UTF8.self) == (try await registry.reply(to: line)) + "\n", "\(line)")
        }
        func line(_ id: String) -> String { form.replacing("@", with: id) }
        // The server remembers a line after some repetitions.
        for id in 1...20 { try await check(line("\(id)")) }
        for id in [
            "0", "7", "10", "999999999999999", "1000000000000000", "9007199254740992", "9007199254740993", "007", "00",
            "-5", "1.5", "1e3", "1 2", "+1", "", "x", "null", "true", "\"7\"", "[1]", "7,\"id\":8", "1\u{0}",
        ] {
            try await check(line(id))
            try await check(line("5"))
        }
        for other in [
            line("5") + "x", line("5") + " ", " " + line("5"), String(line("5").dropLast()),
            line("5").replacing("9", with: "8"), line("5").replacing("2.0", with: "2.1"),
            line("5").replacing("info", with: "inf0"), "5",
        ] { try await check(other) }
    }
}

struct MethodRegistryTests {
    private static let names = MethodTable.methods.map(\.name)

    @Test("Only administrators may call what the table says", arguments: MethodTable.methods.map(\.name))
    func permission(_ name: String) async throws {
        let isAdministrative = try #require(MethodTable.methods.first { $0.name == name }).isAdministrative
        let stranger = TestMethods.registry(isAdministrator: { $0 != .nobody })
        let administrator = TestMethods.registry(isAdministrator: { $0 == .nobody })
        let line = request(1, name, #"{"id":"a","query":"b"}"#)
        #expect(try await stranger.reply(to: line).contains("-32003") == isAdministrative)
        #expect(try await administrator.reply(to: line).contains("-32003") == false)
    }
}
