import NorrisProtocol
import NorrisThreads
import NorrisTestSupport
import Testing

@testable import NorrisServer

@Suite(.timeLimit(.minutes(20))) struct InputMemoryTests {
    /// The reply before the server closes a connection because of its input, in the form of ``outline(_:)``.
    private static let closing = "null -32004 busy"

    private static let halfLine = String(repeating: "x", count: 65_000)

    /// Returns when the server stores at least this many bytes of input.
    private func waitForInput(of live: LiveServer, atLeast bytes: Int) throws {
        for _ in 0..<2_000 where live.ledger.used(of: .input) < bytes { try live.roundTrip() }
        try #require(live.ledger.used(of: .input) >= bytes)
    }

    @Test("A half line on each of a few dozen connections is kept, and takes little more memory than it has bytes")
    func halfLines() async throws {
        try await withServer { live in
            let clients = try live.connect(48)
            for client in clients { try client.send(InputMemoryTests.halfLine) }
            try waitForInput(of: live, atLeast: 48 * 65_000)
            #expect(live.ledger.used(of: .input) <= 48 * 69_632)
            for client in clients { try client.send("\n") }
            for client in clients { try client.expect("null -32700 parse_error") }
            #expect(live.counters.openConnections == 48)
        }
    }

    @Test("Past a user's share the connection whose half line has stood longest gets an error and is closed")
    func share() async throws {
        let tuning = Server.Tuning(idleTimeout: .seconds(3600), stallTimeout: .seconds(3600), inputShare: 200_000)
        try await withServer(tuning: tuning) { live in
            let clients = try live.connect(4)
            for (index, client) in clients.prefix(2).enumerated() {
                try client.send(InputMemoryTests.halfLine)
                try waitForInput(of: live, atLeast: (index + 1) * 65_000)
            }
            // The age of a line begins with its own first byte, not with the line before.
            try clients[0].send("\n" + InputMemoryTests.halfLine)
            try clients[0].expect("null -32700 parse_error")
            try clients[2].send(InputMemoryTests.halfLine)
            try clients[1].expect(InputMemoryTests.closing, nil)
            try clients[3].expectService()
            for client in [clients[0], clients[2]] {
                try client.send("\n")
                try client.expect("null -32700 parse_error")
            }
        }
    }

    @Test("Past the account's limit connections are closed, and their memory is given back") func limit() async throws {
        let ledger = MemoryLedger(limits: [.input: 300_000])
        try await withServer(ledger: ledger) { live in
            let clients = try live.connect(8)
            for (index, client) in clients.enumerated() {
                try client.send(InputMemoryTests.halfLine)
                // One after the other, because the connection with the oldest line is closed.
                if index < 4 {
                    try waitForInput(of: live, atLeast: (index + 1) * 65_000)
                } else {
                    try clients[index - 4].expect(InputMemoryTests.closing, nil)
                }
            }
            #expect(ledger.used(of: .input) <= 300_000)
            for client in clients { client.close() }
            try live.waitFor(connections: 0)
            #expect(ledger.used(of: .input) == 0)
        }
        #expect(ledger.used(of: .replies) == 0)
    }

    @Test("Lines behind replies that a peer does not take count, and their connection is closed")
    func blockedLines() async throws {
        let tuning = Server.Tuning(idleTimeout: .seconds(3600), stallTimeout: .seconds(3600), inputShare: 100_000)
        try await withServer(tuning: tuning) { live in
            let clients = try live.connect(2)
            // The reply exceeds the kernel's buffer, so the next lines stay in the server.
            try clients[0].send(SlowPeerTests.large(1, count: 60) + InputMemoryTests.halfLine)
            try waitForInput(of: live, atLeast: 60_000)
            try clients[1].send(InputMemoryTests.halfLine)
            try clients[0].expectClosedBehindReply()
            try clients[1].send("\n")
            try clients[1].expect("null -32700 parse_error")
        }
    }
}

extension LineClient {
    /// Expects a long reply, the error for the input, and the end.
    fileprivate func expectClosedBehindReply() throws {
        let reply = try #require(try receiveLine())
        #expect(reply.hasPrefix(#"{"jsonrpc":"2.0","id":1,"result":"xxx"#))
        #expect(try receiveLine()?.contains("-32004") == true)
        try waitForClose()
    }
}
