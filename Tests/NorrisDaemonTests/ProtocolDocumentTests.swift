import NorrisProtocol
import NorrisTestSupport
import Testing

/// PROTOCOL.md shows what the daemon really says.
struct ProtocolDocumentTests {
    @Test("Every example of PROTOCOL.md runs as it is written", .timeLimit(.minutes(20)))
    func examplesRun() async throws {
        let examples = try ProtocolExample.examples(in: ProtocolExample.document())
        let faults = try await ServedHandlers.serve { served in
            try examples.compactMap { example -> String? in
                let caller = example.caller.isEmpty ? .administrator : ServedHandlers.Caller(rawValue: example.caller)
                guard let caller else { return "Line \(example.line): nobody is called \(example.caller)" }
                let client = try LineClient(path: served.socketPath(caller))
                do {
                    try example.run(client)
                    return nil
                } catch {
                    return "\(error)"
                }
            }
        }
        for fault in faults {
            Issue.record("\(fault)")
        }
    }

    @Test("Every method has an example, and so has every error a client can provoke")
    func examplesAreComplete() throws {
        let steps = try ProtocolExample.examples(in: ProtocolExample.document()).flatMap(\.steps)
        let sent = steps.compactMap { step in
            if case .send(let line) = step { line } else { nil }
        }
        let received = steps.compactMap { step in
            if case .receive(let line) = step { line } else { nil }
        }
        for method in MethodTable.methods {
            #expect(sent.contains { $0.contains("\"\(method.name)\"") }, "\(method.name)")
        }
        for code in [-32700, -32600, -32601, -32602, -32001, -32003] {
            #expect(received.contains { $0.contains("\"code\":\(code),") }, "\(code)")
        }
    }

    @Test("A reply that differs from its example by a byte is found")
    func patternsAreExact() {
        let pattern = ReplyPattern(#"{"id":1,"pid":…,"next":"‹next›","error":null}"#)
        #expect(pattern.match(#"{"id":1,"pid":77,"next":"b.x","error":null}"#) == ["next": "b.x"])
        #expect(pattern.match(#"{"id":1,"pid":77,"next":"b.x","error":null} "#) == nil)
        #expect(pattern.match(#"{"id":2,"pid":77,"next":"b.x","error":null}"#) == nil)
        #expect(pattern.match(#"{"id":1,"pid":77,"error":null}"#) == nil)
        #expect(pattern.match(#"{"id":1,"pid":77,"next":"b.x","error":1}"#) == nil)
        #expect(ReplyPattern("a…b…b").match("ab") == nil)
        #expect(ReplyPattern("a…b…b").match("abb") == [:])
        #expect(ReplyPattern("e\u{301}").match("\u{E9}") == nil)
        #expect(ReplyPattern("a").match("ab") == nil)
    }

    @Test("An example that is not answered as written is found")
    func wrongExamplesFail() async throws {
        let document = """
            ```jsonrpc
            --> {"jsonrpc":"2.0","method":"server.info"}
            <-- {…}
            ```
            ```jsonrpc
            --> {"jsonrpc":"2.0","id":1,
                "method":"server.info"}
            ```
            ```jsonrpc user
            --> {"jsonrpc":"2.0","id":1,"method":"server.reload"}
            <-- {"jsonrpc":"2.0","id":1,"result":{}}
            ```
            """
        let examples = try ProtocolExample.examples(in: document)
        #expect(examples.map(\.line) == [2, 6, 10])
        #expect(examples[1].steps == [.send(#"{"jsonrpc":"2.0","id":1,"method":"server.info"}"#)])
        let faults = try await ServedHandlers.serve { served in
            examples.filter { example in
                let caller = ServedHandlers.Caller(rawValue: example.caller) ?? .administrator
                guard let client = try? LineClient(path: served.socketPath(caller)) else { return false }
                return (try? example.run(client)) == nil
            }.count
        }
        #expect(faults == 3)
    }
}
