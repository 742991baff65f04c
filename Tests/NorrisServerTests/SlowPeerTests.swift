import NorrisProtocol
import NorrisTestSupport
import Testing

@testable import NorrisServer

/// Tests of peers that do not read, and of peers that send nothing.
@Suite(.timeLimit(.minutes(20))) struct SlowPeerTests {
    static func large(_ id: Int, count: Int) -> String { request(id, "fact.random", #"{"count":\#(count)}"#) + "\n" }

    /// Returns when the counter does not change during 20 turns of the event loop.
    private func waitUntilItStops(_ live: LiveServer, _ counter: Counter) throws {
        var before = -1
        while counter.value != before {
            before = counter.value
            for _ in 0..<20 { try live.roundTrip() }
        }
    }

    // MARK: Back-pressure

    @Test("For a peer that does not read, nothing is answered beyond what may be held for it")
    func holdsLittle() async throws {
        let calls = Counter()
        try await withServer(["fact.random": TestMethods.counted(calls, TestMethods.large)]) { live in
            let client = try live.connect()
            try client.send((0..<200).map { SlowPeerTests.large($0, count: 8) }.joined())
            try waitUntilItStops(live, calls)
            #expect((1...8).contains(calls.value))
            for id in 0..<200 {
                let line = try #require(try client.receiveLine())
                #expect(line.hasPrefix(#"{"jsonrpc":"2.0","id":\#(id),"result":"xxx"#))
                #expect(line.utf8.count > 8 * 65_536)
            }
            #expect(calls.value == 200)
        }
    }

    @Test("The server stops reading from a peer that does not read, and goes on when it does")
    func stopsReading() async throws {
        try await withServer { live in
            let client = try live.connect()
            let id = String(repeating: "i", count: 150)
            let line = Array((request(1, "fact.get", #"{"id":"\#(id)"}"#) + "\n").utf8)
            let limit = 4 * 1024 * 1024
            let sent = try live.send(line, to: client, limit: limit)
            #expect(sent < limit)
            // The rest of a line that the kernel accepted in part, sent as soon as the server reads again.
            var rest = sent % line.count == 0 ? [] : line[(sent % line.count)...]
            var received = 0
            while !rest.isEmpty {
                rest = rest.dropFirst(try client.sendAvailable(rest))
                guard !rest.isEmpty else { break }
                #expect(try client.receiveLine()?.hasSuffix(#"iii"}"#) == true)
                received += 1
            }
            client.endInput()
            while let reply = try client.receiveLine() {
                #expect(reply.hasSuffix(#"iii"}"#))
                received += 1
            }
            #expect(received == (sent + line.count - 1) / line.count)
        }
    }

    // MARK: Stalled peers

    @Test("A peer that takes nothing is closed", arguments: [false, true]) func stalled(endsInput: Bool) async throws {
        try await withServer(tuning: .eager(stall: .milliseconds(1))) { live in
            let client = try live.connect()
            try client.send(SlowPeerTests.large(1, count: 60))
            if endsInput { client.endInput() }
            try client.waitForClose()
            let received = try client.receiveToEnd()
            #expect(received.count < 60 * 65_536)
            try live.waitFor(connections: 0)
        }
    }

    // MARK: Idle peers

    @Test(
        "A silent peer is closed", arguments: ["", "{", request(1, "server.info") + "\n", notification("nope") + "\n"])
    func idle(_ text: String) async throws {
        try await withServer(tuning: .eager(idle: .milliseconds(1))) { live in
            let client = try live.connect()
            // The server may have closed the connection before.
            try? client.send(text)
            try client.waitForClose()
        }
    }

    // MARK: Common limit

    @Test("Past the common limit the connections that hold most are closed, and no others")
    func commonLimit() async throws {
        // Without ticks the server does not measure the progress of peers.
        let tuning = Server.Tuning(tick: .seconds(3600), replies: 8 << 20)
        try await withServer(tuning: tuning) { live in
            // The server stores slightly less than the replies, because the kernel buffers some bytes.
            let counts = [40, 20, 50, 41, 60]
            let clients = try counts.map { count in
                let client = try live.connect()
                try client.send(SlowPeerTests.large(count, count: count))
                try live.roundTrip()
                return client
            }
            var complete: [Int] = []
            for (count, client) in zip(counts, clients) {
                client.endInput()
                if try client.receiveToEnd().count > count * 65_536 { complete.append(count) }
            }
            // The limit is 128 × 64 KiB. 40 + 20 + 50 fit. 41 more close the 50, and then 60 more are closed.
            #expect(complete == [40, 20, 41])
        }
    }
}
