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

    @Test("A batch goes on in the next turn, and its reply is one line") func batchOverTwoTurns() async throws {
        let calls = Counter()
        let bodies = ["server.metrics": report(calls), "fact.get": TestMethods.counted(calls, TestMethods.echo)]
        try await withServer(bodies) { live in
            let clients = try live.connect(3)
            let entries = (0..<64).map { request($0, "fact.get", #"{"id":"\#($0)"}"#) }
            let report = request(64, "server.metrics")
            try live.blocked(by: clients[0]) {
                try clients[1].send(lines: notification("fact.get", #"{"id":"a"}"#), batch(entries), report)
                try clients[2].send(lines: report)
            }
            // The batch has 64 lines and follows another line.
            #expect(try receiveNumber(clients[2]) <= Limit.turnLines)
            let expected = (0..<64).map { #"\#($0) "\#($0)""# }.joined(separator: ", ")
            try clients[1].expect("[\(expected)]", "64 65")
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

    @Test("Entries of batches count among the four as other requests do") func deferredEntries() async throws {
        let gate = Gate()
        let disk = Gauge()
        let bodies: [String: Handler.Body] = [
            "fact.today": { _, _ throws(ResponseError) in .disk(disk.work(until: gate)) }
        ]
        try await withServer(bodies) { live in
            let clients = try (0..<6).map { _ in try live.connect() }
            let entries = (0..<3).map { request($0, "fact.today") } + [notification("fact.today")]
            for client in clients { try client.send(batch(entries) + "\n") }
            while disk.running < 4 { try live.roundTrip() }
            for _ in 0..<20 { try live.roundTrip() }
            #expect(disk.running == 4)
            gate.open()
            for client in clients { try client.expect("[0 {}, 1 {}, 2 {}]") }
            #expect(disk.peak == 4)
        }
    }

    // MARK: Peers that disconnect

    /// Waits until only the observer is connected, at most for 100,000 requests.
    private func isAlone(_ observer: LineClient, _ live: LiveServer) throws -> Bool {
        for _ in 0..<100_000 {
            try observer.expectService()
            if live.counters.openConnections == 1 { return true }
        }
        return false
    }

    @Test("A peer that disconnects while its notification waits is released, and its later lines take effect")
    func goneBehindANotification() async throws {
        let calls = Counter()
        try await withServer(["fact.get": TestMethods.counted(calls, TestMethods.echo)]) { live in
            let observer = try live.connect()
            let client = try live.connect()
            try live.roundTrip()
            try client.send(lines: notification("fact.today"))
            try observer.expectService()
            // The server reads this line after the end of the first request.
            try client.send(lines: notification("fact.get", #"{"id":"a"}"#))
            client.close()
            for _ in 0..<20 { try observer.expectService() }
            #expect(calls.value == 0)
            live.gate.open()
            #expect(try isAlone(observer, live))
            #expect(calls.value == 1)
        }
    }

    @Test("Batches of notifications of a peer that closes at once have their effect, and it is let go of")
    func goneBehindBatches() async throws {
        let calls = Counter()
        try await withServer(["server.status": TestMethods.counted(calls, TestMethods.echo)]) { live in
            let observer = try live.connect()
            let client = try live.connect()
            try observer.expectService()
            // More than the server reads at once. The additional first line makes turns end inside batches.
            let line = notification("server.status")
            let lines = [line] + Array(repeating: batch(Array(repeating: line, count: 64)), count: 30)
            try live.blocked(by: observer) {
                try client.send(lines.joined(separator: "\n") + "\n")
                client.close()
            }
            #expect(try isAlone(observer, live))
            #expect(calls.value == 30 * 64 + 1)
        }
    }
}
