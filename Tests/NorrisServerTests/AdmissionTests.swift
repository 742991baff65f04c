import NorrisProtocol
import Testing

@testable import NorrisServer

/// How many connections are served, and what the others get.
@Suite(.timeLimit(.minutes(20)))
struct AdmissionTests {
    private func expectRefusal(_ client: TestClient) throws {
        #expect(try client.receiveOutline() == "null -32004 busy")
        #expect(try client.receiveLine() == nil)
    }

    private func expectService(_ client: TestClient) throws {
        try client.send(request(1, "server.info") + "\n")
        #expect(try client.receiveOutline() == "1 {}")
    }

    @Test func theLimitsAreThoseOfTheContract() {
        #expect(Server.Limits() == Server.Limits(connections: 4096, connectionsPerUser: 256))
    }

    @Test func refusesConnectionsPastTheLimitEvenOfAdministrators() async throws {
        try await withServer(limits: .init(connections: 2, connectionsPerUser: 256)) { live in
            let served = try (0..<2).map { _ in try live.connect() }
            try served.forEach(expectService)
            for _ in 0..<5 { try expectRefusal(try live.connect()) }
            try served.forEach(expectService)
            #expect(live.connections.current == 2)
            #expect(live.connections.accepted == 2)
            #expect(live.connections.refused == 5)
        }
    }

    @Test func refusesTheConnectionsOfAUserPastTheirLimit() async throws {
        let limits = Server.Limits(connections: 4096, connectionsPerUser: 3)
        try await withServer(limits: limits, isAdministrator: { _ in false }) { live in
            let served = try (0..<3).map { _ in try live.connect() }
            try served.forEach(expectService)
            try expectRefusal(try live.connect())
            try served.forEach(expectService)
        }
    }

    @Test func administratorsAreExceptedFromTheirLimit() async throws {
        try await withServer(limits: .init(connections: 4096, connectionsPerUser: 1)) { live in
            let served = try (0..<5).map { _ in try live.connect() }
            try served.forEach(expectService)
        }
    }

    @Test("A peer that has written already sees the line and a clean end", arguments: [1, 1000])
    func refusalOfAWriter(_ requests: Int) async throws {
        let blockade = Blockade()
        try await withServer(["fact.today": blockade.body], limits: .init(connections: 1)) { live in
            let served = try live.connect()
            for _ in 0..<5 {
                try served.send(request(1, "fact.today") + "\n")
                blockade.waitUntilEntered()
                let client = try live.connect()
                try client.send(String(repeating: request(1, "server.info") + "\n", count: requests))
                blockade.lift()
                #expect(try served.receiveOutline() == "1 {}")
                try expectRefusal(client)
            }
        }
    }

    @Test("A peer that writes while it is refused can still read why")
    func refusalOfALateWriter() async throws {
        try await withServer(limits: .init(connections: 1)) { live in
            let served = try live.connect()
            try expectService(served)
            for _ in 0..<50 {
                let client = try live.connect()
                // May come after the server has closed.
                try? client.send(request(1, "server.info") + "\n")
                #expect(try client.receiveOutline() == "null -32004 busy")
            }
            #expect(live.connections.current == 1)
        }
    }

    @Test func aConnectionThatClosesMakesRoom() async throws {
        let limits = Server.Limits(connections: 10, connectionsPerUser: 1)
        try await withServer(limits: limits, isAdministrator: { _ in false }) { live in
            for _ in 0..<50 {
                let client = try live.connect()
                try expectService(client)
                client.endInput()
                // Its end is seen when the server has let go of it, or does so in the same turn of its loop.
                #expect(try client.receiveLine() == nil)
            }
            let last = try live.connect()
            try expectService(last)
            #expect(live.connections.current == 1)
            #expect(live.connections.accepted == 51)
        }
    }

    @Test func newLimitsHoldForConnectionsThatComeThen() async throws {
        try await withServer(limits: .init(connections: 1)) { live in
            let first = try live.connect()
            try expectService(first)
            try expectRefusal(try live.connect())
            live.server.setLimits(.init(connections: 2))
            let second = try live.connect()
            try expectService(second)
            live.server.setLimits(.init(connections: 1))
            try expectService(first)
            try expectService(second)
        }
    }

    @Test("A peer that asks and goes counts until its answer is made")
    func goneButAwaited() async throws {
        let gate = Gate()
        let limits = Server.Limits(connections: 2)
        try await withServer(["fact.today": TestMethods.waiting(for: gate)], limits: limits) { live in
            let observer = try live.connect()
            try expectService(observer)
            let client = try live.connect()
            try client.send(request(1, "fact.today") + "\n")
            try expectService(observer)
            client.close()
            try expectService(observer)
            #expect(live.connections.current == 2)
            try expectRefusal(try live.connect())
            gate.open()
            repeat { try expectService(observer) } while live.connections.current != 1
        }
    }
}
