import NorrisProtocol
import Synchronization
import NorrisTestSupport
import Testing

@testable import NorrisServer

/// The lines of a connection do not delay other connections, and every resource of the server has a limit.
@Suite(.timeLimit(.minutes(20))) struct FairnessTests {
    // MARK: Turns

    /// Writes the number of calls of the counted method.
    private func report(_ counter: Counter) -> Handler.Body {
        { _, json throws(ResponseError) in
            json.integer(counter.value)
            return nil
        }
    }

    private func receiveNumber(_ client: LineClient) throws -> Int {
        let outline = try #require(try client.receiveOutline())
        return try #require(outline.split(separator: " ").last.flatMap { Int($0) })
    }

    @Test(
        "A request waits for at most one turn of each connection that has sent thousands of lines before it",
        arguments: [1, 8], [false, true]
    )
    func turns(connections: Int, inBatches: Bool) async throws {
        let calls = Counter()
        let bodies = ["server.metrics": report(calls), "server.status": TestMethods.counted(calls, TestMethods.echo)]
        try await withServer(bodies) { live in
            let senders = try live.connect(connections)
            let clients = try live.connect(2)
            let line = notification("server.status")
            let lines =
                inBatches
                ? Array(repeating: batch(Array(repeating: line, count: 64)), count: 30)
                : Array(repeating: line, count: 30 * 64)
            try live.blocked(by: clients[0]) {
                for sender in senders {
                    // The additional first line makes turns end inside batches.
                    try sender.send(([line] + lines + [request(2, "server.status")]).joined(separator: "\n") + "\n")
                }
                try clients[1].send(lines: request(3, "server.metrics"))
            }
            #expect(try receiveNumber(clients[1]) <= connections * Limit.turnLines)
            for sender in senders { try sender.expect(#"2 """#) }
            #expect(calls.value == connections * (30 * 64 + 2))
        }
    }

    // MARK: Deferred work

    /// Counts running requests and stores the maximum.
    private final class Gauge: Sendable {
        private let state = Mutex((running: 0, peak: 0))

        var running: Int { state.withLock { $0.running } }
        var peak: Int { state.withLock { $0.peak } }

        /// Counts a request as running until the gate opens, then writes `{}`.
        func work(until gate: Gate) -> Deferred.Work {
            { () async throws(ResponseError) -> [UInt8] in
                self.state.withLock { $0 = ($0.running + 1, max($0.peak, $0.running + 1)) }
                await gate.wait()
                self.state.withLock { $0.running -= 1 }
                return Array("{}".utf8)
            }
        }
    }

    @Test("Of a user at most four requests that wait for a disk run at a time, and four that wait for a network")
    func deferredWork() async throws {
        let gate = Gate()
        let disk = Gauge()
        let network = Gauge()
        let bodies: [String: Handler.Body] = [
            "fact.today": { _, _ throws(ResponseError) in .disk(disk.work(until: gate)) },
            "gif.random": { _, _ throws(ResponseError) in .network(network.work(until: gate)) },
        ]
        try await withServer(bodies) { live in
            let diskClients = try (0..<10).map { _ in try live.connect() }
            for (id, client) in diskClients.enumerated() { try client.send(request(id, "fact.today") + "\n") }
            // The server serves other connections while these requests wait.
            while disk.running < 4 { try live.roundTrip() }
            let networkClients = try (0..<10).map { _ in try live.connect() }
            for (id, client) in networkClients.enumerated() { try client.send(request(id, "gif.random") + "\n") }
            while network.running < 4 { try live.roundTrip() }
            for _ in 0..<20 { try live.roundTrip() }
            #expect(disk.running == 4 && network.running == 4)
            gate.open()
            for clients in [diskClients, networkClients] {
                for (id, client) in clients.enumerated() { try client.expect("\(id) {}") }
            }
            #expect(disk.peak == 4 && network.peak == 4)
            #expect(disk.running == 0 && network.running == 0)
        }
    }
}
