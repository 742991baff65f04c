import Foundation
import Glibc
import NorrisProtocol
import NorrisTestSupport
import Synchronization
import Testing

@testable import NorrisServer

/// What one connection sends does not keep others waiting, and limits hold for each resource of the server.
@Suite(.timeLimit(.minutes(20)))
struct FairnessTests {
    // MARK: Turns

    /// Writes how often the counter's method was called so far.
    private func report(_ counter: Counter) -> MethodBody {
        { _, json throws(ResponseError) in
            json.integer(counter.value)
            return nil
        }
    }

    private func batch(_ entries: [String]) -> String {
        "[" + entries.joined(separator: ",") + "]"
    }

    /// The result of a reply that is a number.
    private func receiveNumber(_ client: TestClient) throws -> Int {
        let outline = try #require(try client.receiveOutline())
        return try #require(outline.split(separator: " ").last.flatMap { Int($0) })
    }

    @Test(
        "A request waits for at most one turn of each connection that has sent thousands of lines before it",
        arguments: [1, 8], [false, true]
    )
    func turns(connections: Int, inBatches: Bool) async throws {
        let blockade = Blockade()
        let calls = Counter()
        let bodies = [
            "fact.today": blockade.body, "server.info": report(calls),
            "server.status": TestMethods.counted(calls, TestMethods.echo),
        ]
        try await withServer(bodies) { live in
            let holder = try live.connect()
            let senders = try (0..<connections).map { _ in try live.connect() }
            let client = try live.connect()
            // All of them are accepted before anything is sent.
            try live.roundTrip()
            try holder.send(request(1, "fact.today") + "\n")
            blockade.waitUntilEntered()
            let line = notification("server.status")
            let lines =
                inBatches
                ? Array(repeating: batch(Array(repeating: line, count: 64)), count: 30)
                : Array(repeating: line, count: 30 * 64)
            for sender in senders {
                // By the first line no batch ends with a turn.
                try sender.send(([line] + lines + [request(2, "server.status")]).joined(separator: "\n") + "\n")
            }
            try client.send(request(3, "server.info") + "\n")
            blockade.lift()
            #expect(try receiveNumber(client) <= connections * Turn.maximumLines)
            for sender in senders {
                #expect(try sender.receiveOutline() == #"2 """#)
            }
            #expect(calls.value == connections * (30 * 64 + 2))
        }
    }

    @Test("A batch goes on in the next turn, and its reply is one line")
    func batchOverTwoTurns() async throws {
        let blockade = Blockade()
        let calls = Counter()
        let bodies = [
            "fact.today": blockade.body, "server.info": report(calls),
            "fact.get": TestMethods.counted(calls, TestMethods.echo),
        ]
        try await withServer(bodies) { live in
            let holder = try live.connect()
            let sender = try live.connect()
            let client = try live.connect()
            try live.roundTrip()
            try holder.send(request(1, "fact.today") + "\n")
            blockade.waitUntilEntered()
            let entries = (0..<64).map { request($0, "fact.get", #"{"id":"\#($0)"}"#) }
            try sender.send(notification("fact.get", #"{"id":"a"}"#) + "\n" + batch(entries) + "\n")
            try sender.send(request(64, "server.info") + "\n")
            try client.send(request(2, "server.info") + "\n")
            blockade.lift()
            // The batch is 64 lines and one stands before it.
            #expect(try receiveNumber(client) <= Turn.maximumLines)
            let expected = (0..<64).map { #"\#($0) "\#($0)""# }.joined(separator: ", ")
            #expect(try sender.receiveOutline() == "[\(expected)]")
            #expect(try sender.receiveOutline() == "64 65")
        }
    }

    // MARK: Deferred work

    /// How many run at the moment, and the most that ever did.
    private final class Gauge: Sendable {
        private let state = Mutex((running: 0, peak: 0))

        var running: Int { state.withLock { $0.running } }
        var peak: Int { state.withLock { $0.peak } }

        func enter() {
            state.withLock { state in
                state.running += 1
                state.peak = max(state.peak, state.running)
            }
        }

        func leave() {
            state.withLock { $0.running -= 1 }
        }

        /// Counts as running until the gate is open, then writes `{}`.
        func work(until gate: Gate) -> Deferred.Work {
            { () async throws(ResponseError) -> [UInt8] in
                self.enter()
                await gate.wait()
                self.leave()
                return Array("{}".utf8)
            }
        }
    }

    @Test("Of a user at most four requests that wait for a disk run at a time, and four that wait for a network")
    func deferredWork() async throws {
        let gate = Gate()
        let disk = Gauge()
        let network = Gauge()
        let bodies: [String: MethodBody] = [
            "fact.today": { _, _ throws(ResponseError) in .disk(disk.work(until: gate)) },
            "gif.random": { _, _ throws(ResponseError) in .network(network.work(until: gate)) },
        ]
        try await withServer(bodies) { live in
            let diskClients = try (0..<10).map { _ in try live.connect() }
            for (id, client) in diskClients.enumerated() { try client.send(request(id, "fact.today") + "\n") }
            // Others are served while these wait.
            while disk.running < 4 { try live.roundTrip() }
            let networkClients = try (0..<10).map { _ in try live.connect() }
            for (id, client) in networkClients.enumerated() { try client.send(request(id, "gif.random") + "\n") }
            while network.running < 4 { try live.roundTrip() }
            for _ in 0..<20 { try live.roundTrip() }
            #expect(disk.running == 4)
            #expect(network.running == 4)
            gate.open()
            for clients in [diskClients, networkClients] {
                for (id, client) in clients.enumerated() {
                    #expect(try client.receiveOutline() == "\(id) {}")
                }
            }
            #expect(disk.peak == 4)
            #expect(network.peak == 4)
            #expect(disk.running == 0)
            #expect(network.running == 0)
        }
    }

    @Test("Entries of batches count among the four as other requests do")
    func deferredEntries() async throws {
        let gate = Gate()
        let disk = Gauge()
        let bodies: [String: MethodBody] = [
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
            for client in clients {
                #expect(try client.receiveOutline() == "[0 {}, 1 {}, 2 {}]")
            }
            #expect(disk.peak == 4)
        }
    }

    // MARK: Peers that go

    /// Waits until no connection but the observer's is left.
    ///
    /// - Returns: false for a server that keeps one for good; without idle connections to close it has no other end.
    private func isAlone(_ observer: TestClient, _ live: LiveServer) throws -> Bool {
        for _ in 0..<100_000 {
            try expectService(observer)
            if live.connections.current == 1 { return true }
        }
        return false
    }

    @Test("A peer that goes while its notification waits is let go of, and what it sent after that has its effect")
    func goneBehindANotification() async throws {
        let gate = Gate()
        let calls = Counter()
        let bodies = [
            "fact.today": TestMethods.waiting(for: gate), "fact.get": TestMethods.counted(calls, TestMethods.echo),
        ]
        try await withServer(bodies) { live in
            let observer = try live.connect()
            let client = try live.connect()
            try live.roundTrip()
            try client.send(notification("fact.today") + "\n")
            try expectService(observer)
            // Not read before the first is done.
            try client.send(notification("fact.get", #"{"id":"a"}"#) + "\n")
            client.close()
            for _ in 0..<20 { try expectService(observer) }
            #expect(calls.value == 0)
            gate.open()
            #expect(try isAlone(observer, live))
            #expect(calls.value == 1)
        }
    }

    @Test("Batches of notifications of a peer that closes at once have their effect, and it is let go of")
    func goneBehindBatches() async throws {
        let blockade = Blockade()
        let calls = Counter()
        let bodies = [
            "fact.today": blockade.body, "server.status": TestMethods.counted(calls, TestMethods.echo),
        ]
        try await withServer(bodies) { live in
            let observer = try live.connect()
            let client = try live.connect()
            try expectService(observer)
            try observer.send(request(2, "fact.today") + "\n")
            blockade.waitUntilEntered()
            // More than is read at a time; by the first line turns end within batches.
            let line = notification("server.status")
            let lines = [line] + Array(repeating: batch(Array(repeating: line, count: 64)), count: 30)
            try client.send(lines.joined(separator: "\n") + "\n")
            client.close()
            blockade.lift()
            #expect(try observer.receiveOutline() == "2 {}")
            #expect(try isAlone(observer, live))
            #expect(calls.value == 30 * 64 + 1)
        }
    }

    // MARK: Connections

    @Test func theLastSixteenConnectionsAreForAdministrators() async throws {
        let promotions = Counter()
        let limits = Server.Limits(connections: 20)
        try await withServer(limits: limits, isAdministrator: { _ in promotions.value > 0 }) { live in
            var served = try (0..<4).map { _ in try live.connect() }
            try served.forEach(expectService)
            try expectRefusal(try live.connect())
            promotions.increment()
            served += try (0..<16).map { _ in try live.connect() }
            try served.forEach(expectService)
            try expectRefusal(try live.connect())
            #expect(live.connections.current == 20)
        }
    }

    @Test("4,096 connections may wait to be accepted, on an inherited socket too", arguments: [false, true])
    func backlog(isInherited: Bool) async throws {
        let folder = TemporaryFolder()
        let bound = try ListeningSocket(binding: folder("sock"), mode: 0o600)
        // Whoever made the socket that is inherited has chosen a shorter queue.
        if isInherited { #expect(listen(bound.descriptor, 5) == 0) }
        let listening = isInherited ? ListeningSocket(inherited: bound.descriptor) : bound
        let setting = try String(contentsOfFile: "/proc/sys/net/core/somaxconn", encoding: .utf8)
        let maximum = try #require(Int(setting.trimmingCharacters(in: .whitespacesAndNewlines)))
        let blockade = Blockade()
        try await withServer(["fact.today": blockade.body], at: folder("sock"), socket: listening) { live in
            let client = try live.connect()
            try client.send(request(1, "fact.today") + "\n")
            blockade.waitUntilEntered()
            var waiting = 0
            while waiting < 4096, connectAndClose(live.path) == 0 { waiting += 1 }
            blockade.lift()
            // The kernel lowers the number to its own limit.
            #expect(waiting >= min(4096, maximum))
            #expect(try client.receiveOutline() == "1 {}")
            try live.roundTrip()
            try expectService(client)
        }
    }

    @Test("Without descriptors further connections are refused with a line, and the others are served on")
    func noDescriptors() async {
        // The limit is that of a whole process.
        await #expect(processExitsWith: .success) {
            let blockade = Blockade()
            try await withServer(["fact.today": blockade.body]) { live in
                let witness = try live.connect()
                try expectService(witness)
                try witness.send(request(1, "fact.today") + "\n")
                blockade.waitUntilEntered()
                // These ends are open before there are no more descriptors; the server has yet to open the others.
                let clients = try (0..<20).map { _ in try live.connect() }
                for client in clients { try client.send(request(2, "server.info") + "\n") }
                let limit = limitDescriptors(toFree: 5)
                blockade.lift()
                #expect(try witness.receiveOutline() == "1 {}")
                var served: [TestClient] = []
                for client in clients {
                    let outline = try client.receiveOutline()
                    if outline == "2 {}" {
                        served.append(client)
                    } else {
                        #expect(outline == "null -32004 busy")
                        #expect(try client.receiveLine() == nil)
                    }
                }
                #expect((2...5).contains(served.count))
                for _ in 0..<3 { try (served + [witness]).forEach(expectService) }
                // One for a new client and one for the server.
                for client in served.prefix(2) { client.close() }
                try expectService(try live.connect())
                try expectService(witness)
                setDescriptorLimit(limit)
            }
        }
    }
}

private func expectService(_ client: TestClient) throws {
    try client.send(request(1, "server.info") + "\n")
    #expect(try client.receiveOutline() == "1 {}")
}

private func expectRefusal(_ client: TestClient) throws {
    #expect(try client.receiveOutline() == "null -32004 busy")
    #expect(try client.receiveLine() == nil)
}

/// Connects without waiting and closes; the connection stays in the listening socket's queue.
///
/// - Returns: 0, or the error's number.
private func connectAndClose(_ path: String) -> CInt {
    guard let address = try? SocketAddress(path: path) else { return EINVAL }
    let kind = CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue) | CInt(SOCK_NONBLOCK.rawValue)
    let descriptor = socket(AF_UNIX, kind, 0)
    let code = address.withPointer({ connect(descriptor, $0, $1) }) == 0 ? 0 : errno
    close(descriptor)
    return code
}

/// Lowers the limit of this process, so that so many more descriptors can be opened.
///
/// - Returns: the limit before.
private func limitDescriptors(toFree count: Int) -> rlimit {
    var limit = rlimit()
    getrlimit(CInt(RLIMIT_NOFILE.rawValue), &limit)
    var next: CInt = 0
    var free = 0
    while free < count {
        if fcntl(next, F_GETFD) < 0 { free += 1 }
        next += 1
    }
    setDescriptorLimit(rlimit(rlim_cur: rlim_t(next), rlim_max: limit.rlim_max))
    return limit
}

private func setDescriptorLimit(_ limit: rlimit) {
    var limit = limit
    #expect(setrlimit(CInt(RLIMIT_NOFILE.rawValue), &limit) == 0)
}
