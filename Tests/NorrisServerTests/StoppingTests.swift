import Glibc
import NorrisProtocol
import NorrisTestSupport
import Testing

@testable import NorrisServer

/// Tests of a clean stop: every received line is answered, and no peer delays the end of the server.
@Suite(.timeLimit(.minutes(20))) struct StoppingTests {
    private static let patient = Server.Tuning(
        idleTimeout: .seconds(3600), stallTimeout: .seconds(3600), drainTime: .seconds(3600))

    private static func lines(_ ids: Range<Int>) -> String {
        ids.map { request($0, "fact.get", #"{"id":"\#($0)"}"#) + "\n" }.joined()
    }

    @Test("Every line that has come is answered, and an incomplete one is dropped", arguments: ["", "{\"jsonrpc\":"])
    func answersEveryLine(_ rest: String) async throws {
        try await withServer(tuning: StoppingTests.patient) { live in
            let clients = try (0..<5).map { _ in try live.connect() }
            // The connections are accepted, but the server need not have read the lines when the stop begins.
            try live.roundTrip()
            for client in clients { try client.send(StoppingTests.lines(0..<1000) + rest) }
            live.server.stop()
            for client in clients {
                for id in 0..<1000 { try client.expect(#"\#(id) "\#(id)""#) }
                try client.expect(nil)
            }
        }
    }

    @Test func anAwaitedAnswerIsDelivered() async throws {
        try await withServer(tuning: StoppingTests.patient) { live in
            let client = try live.connect()
            let witness = try live.connect()
            try client.send(request(1, "fact.today") + "\n" + StoppingTests.lines(2..<100))
            try live.roundTrip()
            live.server.stop()
            try witness.expect(nil)
            live.gate.open()
            try client.expect("1 {}")
            for id in 2..<100 { try client.expect(#"\#(id) "\#(id)""#) }
            try client.expect(nil)
        }
    }

    @Test("A peer that never stops sending does not keep the server") func endlessPeer() async throws {
        try await withServer(tuning: StoppingTests.patient) { live in
            let client = try live.connect()
            let lines = String(repeating: notification("fact.get", #"{"id":"a"}"#) + "\n", count: 1000)
            try live.roundTrip()
            try client.send(lines)
            live.server.stop()
            // Ends when the server has closed the connection.
            #expect(throws: LineClient.Failure.self) {
                while true { try client.send(lines) }
            }
        }
    }

    @Test func aPeerThatReadsNothingIsCut() async throws {
        var tuning = Server.Tuning.patient
        tuning.drainTime = .milliseconds(50)
        let folder = TemporaryFolder()
        var client: LineClient?
        try await withServer(tuning: tuning, at: folder("sock")) { live in
            client = try live.connect()
            try client?.send(request(1, "fact.random", #"{"count":60}"#) + "\n")
            try live.roundTrip()
        }
        // The server has ended although the client has not read.
        let received = try #require(try client?.receiveToEnd())
        #expect(!received.isEmpty)
        #expect(received.count < 60 * 65_536)
    }

    @Test("Requests that have not begun in time are dropped, and requests that wait for a network have longer")
    func requestsAreCut() async throws {
        let (gate, begun) = (Gate(), Counter())
        let work: Deferred.Work = { () async throws(ResponseError) in
            begun.increment()
            await gate.wait()
            return Array("{}".utf8)
        }
        var tuning = StoppingTests.patient
        (tuning.drainTime, tuning.networkDrainTime) = (.milliseconds(50), .seconds(3600))
        let bodies: [String: Handler.Body] = [
            "recent.list": { _, _ throws(ResponseError) in .disk(work) },
            "gif.trending": { _, _ throws(ResponseError) in .network(work) },
        ]
        try await withServer(bodies, tuning: tuning) { live in
            defer { gate.open() }
            let clients = try live.connect(Limit.workPerUser + 8)
            for client in clients { try client.send(lines: request(1, "recent.list")) }
            let patient = try live.connect()
            try patient.send(lines: request(2, "gif.trending"))
            while begun.value < Limit.workPerUser + 1 { try live.roundTrip() }
            live.server.stop()
            for client in clients { try client.expect(nil) }
            gate.open()
            try patient.expect("2 {}")
            try patient.expect(nil)
        }
        #expect(begun.value == Limit.workPerUser + 1)
    }

    // MARK: Socket

    @Test func noMoreConnectionsAreAccepted() async throws {
        try await withServer(tuning: StoppingTests.patient) { live in
            let client = try live.connect()
            try client.send(lines: request(1, "fact.today"))
            try live.roundTrip()
            live.server.stop()
            #expect(throws: LineClient.Failure.self) { try live.connect() }
            live.gate.open()
            try client.expect("1 {}")
        }
    }

    private struct Cancelled: Error {}

    @Test("The socket's file goes with the server", arguments: [false, true])
    func socketFile(isCancelled: Bool) async throws {
        let folder = TemporaryFolder()
        do {
            try await withServer(at: folder("sock")) { live in
                try live.roundTrip()
                #expect(access(live.path, F_OK) == 0)
                if isCancelled { throw Cancelled() }
                // A second stop has no effect.
                live.server.stop()
            }
        } catch is Cancelled {}
        #expect(access(folder("sock"), F_OK) != 0)
    }

    @Test("An inherited socket outlives the server, and the next one serves those who wait there")
    func inheritedSocket() async throws {
        let folder = TemporaryFolder()
        // Represents the service manager, which keeps its own descriptor.
        let manager = try ListeningSocket(binding: folder("sock"), mode: 0o600)
        defer { close(manager.descriptor) }
        for _ in 0..<3 {
            let early = try LineClient(path: folder("sock"))
            try early.send(lines: request(1, "server.info"))
            let inherited = ListeningSocket(inherited: dup(manager.descriptor))
            #expect(inherited.boundPath == nil)
            try await withServer(at: folder("sock"), socket: inherited) { live in
                try early.expect("1 {}")
                try live.roundTrip()
            }
            #expect(access(folder("sock"), F_OK) == 0)
        }
    }
}
