import NorrisProtocol
import NorrisTestSupport
import Testing

@testable import NorrisDaemon

struct ProtocolDocumentTests {
    @Test("Every example of PROTOCOL.md runs as it is written", .timeLimit(.minutes(20)))
    func examplesRun() async throws {
        let examples = try ProtocolExample.examples(in: ProtocolExample.document())
        for fault in try await faults(of: examples) { Issue.record("\(fault)") }
    }

    /// Runs each example on a separate connection and returns the faults.
    private func faults(of examples: [ProtocolExample]) async throws -> [String] {
        var faults: [String] = []
        try await FakeUpstream.run { upstream in
            try await FetchingDaemon.run(
                upstream, clock: ManualClock(.now()), facts: ", enabled: false", others: SeededContent.configuration,
                fetches: false
            ) { daemon in
                try await SeededContent.put(into: daemon.core.stores, at: daemon.clock.now)
                // Closes the watch connection, because the examples count connections.
                daemon.watch.endInput()
                while try daemon.watch.receiveLine() != nil {}
                for example in examples {
                    let caller = try #require(FetchingDaemon.Caller(rawValue: example.caller), "Line \(example.line)")
                    do {
                        try example.run(try daemon.client(caller))
                    } catch {
                        faults.append("\(error)")
                    }
                }
            }
        }
        return faults
    }

    @Test("Every method has an example, and so has every error a client can provoke")
    func examplesAreComplete() throws {
        let steps = try ProtocolExample.examples(in: ProtocolExample.document()).flatMap(\.steps)
        let sent = steps.compactMap { step in if case .send(let line) = step { line } else { nil } }
        let received = steps.compactMap { step in if case .receive(let line) = step { line } else { nil } }
        for method in MethodTable.methods {
            #expect(sent.contains { $0.contains("\"\(method.name)\"") }, "\(method.name)")
        }
        for code in [-32700, -32600, -32601, -32602, -32001, -32003] {
            #expect(received.contains { $0.contains("\"code\":\(code),") }, "\(code)")
        }
    }
}
