import NorrisProtocol
import NorrisTestSupport
import Testing

@testable import NorrisServer

@Suite(.timeLimit(.minutes(20))) struct InputMemoryTests {
    /// The reply before the server closes a connection because of its input, in the form of ``outline(_:)``.
    private static let closing = "null -32004 busy"

    private static let halfLine = String(repeating: "x", count: 65_000)

    /// Never closes a connection for slowness.
    private func tuning(input: Int) -> Server.Tuning {
        Server.Tuning(idleTimeout: .seconds(3600), stallTimeout: .seconds(3600), input: input)
    }

    /// Returns connections that have sent a half line each, which the server has read.
    private func connectWithHalfLines(_ live: LiveServer, _ count: Int) throws -> [LineClient] {
        let clients = try live.connect(count)
        for client in clients { try client.send(InputMemoryTests.halfLine) }
        try live.roundTrip()
        return clients
    }

    /// Completes the half lines, and expects that the connections are open.
    private func complete(_ clients: [LineClient]) throws {
        for client in clients {
            try client.send("\n")
            try client.expect("null -32700 parse_error")
            try client.expectService()
        }
    }

    @Test("A half line on each of a few dozen connections is kept, and takes little more memory than it has bytes")
    func halfLines() async throws {
        try await withServer(tuning: tuning(input: 48 * 69_632)) { live in
            try complete(connectWithHalfLines(live, 48))
        }
    }

    @Test("The connection whose half line exceeds its user's share gets an error and is closed, and no other")
    func share() async throws {
        try await withServer(tuning: tuning(input: 150_000)) { live in
            let clients = try connectWithHalfLines(live, 2)
            for _ in 0..<3 {
                let further = try live.connect()
                try further.send(InputMemoryTests.halfLine)
                try further.expect(InputMemoryTests.closing, nil)
            }
            try live.connect().expectService()
            try complete(clients)
        }
    }

    @Test("The connection whose waiting request exceeds its user's share gets an error and is closed, and no other")
    func waitingRequest() async throws {
        try await withServer(tuning: tuning(input: 150_000)) { live in
            let clients = try connectWithHalfLines(live, 2)
            let padding = String(repeating: " ", count: 60_000)
            let further = try live.connect(2)
            try further[0].send(lines: padding + request(1, "fact.today"))
            try further[0].expect(InputMemoryTests.closing, nil)
            try further[1].send(lines: request(2, "fact.today"))
            try live.roundTrip()
            live.gate.open()
            #expect(try further[1].receiveOutline()?.hasPrefix("2 ") == true)
            try complete(clients)
        }
    }

    @Test("The memory of completed lines and of closed connections is given back") func givenBack() async throws {
        try await withServer(tuning: tuning(input: 150_000)) { live in
            for _ in 0..<3 {
                try complete(connectWithHalfLines(live, 2))
                let clients = try connectWithHalfLines(live, 2)
                for client in clients { client.close() }
                try live.waitFor(connections: 0)
            }
        }
    }

    @Test("Lines behind replies that a peer does not take count, and their connection is closed")
    func blockedLines() async throws {
        try await withServer(tuning: tuning(input: 70_000)) { live in
            let clients = try connectWithHalfLines(live, 1) + live.connect(1)
            // The reply exceeds the kernel's buffer, so the next lines stay in the server.
            try clients[1].send(SlowPeerTests.large(1, count: 60) + InputMemoryTests.halfLine)
            try clients[1].expectClosedBehindReply()
            try complete([clients[0]])
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
