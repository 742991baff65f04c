import Foundation
import Glibc
import NorrisProtocol
import NorrisSystem
import NorrisTestSupport
import Testing

@testable import NorrisServer

/// Tests of the connection limits and of the refusal of further connections.
@Suite(.timeLimit(.minutes(20))) struct AdmissionTests {
    @Test("All refusals are counted, and one a minute is logged")
    func refusesConnectionsPastTheLimitEvenOfAdministrators() async throws {
        let recorder = LogRecorder()
        let limits = Server.Limits(connections: 2, connectionsPerUser: 256)
        try await withServer(limits: limits, logger: recorder.logger) { live in
            let served = try live.connect(2)
            for _ in 0..<5 { try live.connect().expectRefusal() }
            try served.forEach { try $0.expectService() }
            #expect(live.counters.openConnections.count == 2)
            #expect(live.counters.acceptedConnections.count == 2)
            #expect(live.counters.refusedConnections.count == 5)
        }
        #expect(recorder.lines.count { $0.contains("connection.refused") } == 1)
    }

    @Test func refusesTheConnectionsOfAUserPastTheirLimitUntilOneCloses() async throws {
        try await withServer(limits: .init(connectionsPerUser: 3), isAdministrator: { _ in false }) { live in
            for _ in 0..<10 {
                let served = try live.connect(3)
                try live.connect().expectRefusal()
                for client in served {
                    try client.expectService()
                    client.endInput()
                    // The server has released the connection, or releases it in the same turn of its event loop.
                    try client.expect(nil)
                }
            }
        }
    }

    @Test func administratorsAreExceptedFromTheirLimit() async throws {
        try await withServer(limits: .init(connectionsPerUser: 1)) { live in _ = try live.connect(5) }
    }

    @Test("A peer that has written already sees the line and a clean end", arguments: [1, 1000])
    func refusalOfAWriter(_ requests: Int) async throws {
        try await withServer(limits: .init(connections: 1)) { live in
            let served = try live.connect()
            for _ in 0..<5 {
                var client: LineClient?
                try live.blocked(by: served) {
                    client = try live.connect()
                    try client?.send(String(repeating: request(1, "server.info") + "\n", count: requests))
                }
                try client?.expectRefusal()
            }
        }
    }

    @Test func newLimitsHoldForConnectionsThatComeThen() async throws {
        let changes = Counter()
        try await withServer(limits: .init(connections: changes.value == 1 ? 2 : 1)) { live in
            let first = try live.connect(1)
            try live.connect().expectRefusal()
            changes.increment()
            let second = try live.connect(1)
            changes.increment()
            try live.connect().expectRefusal()
            for client in first + second { try client.expectService() }
        }
    }

    @Test("A peer that asks and goes counts until its answer is made") func goneButAwaited() async throws {
        try await withServer(limits: .init(connections: 2)) { live in
            let observer = try live.connect(1)[0]
            let client = try live.connect()
            try client.send(lines: request(1, "fact.today"))
            try observer.expectService()
            client.close()
            try observer.expectService()
            #expect(live.counters.openConnections.count == 2)
            try live.connect().expectRefusal()
            live.gate.open()
            repeat { try observer.expectService() } while live.counters.openConnections.count != 1
        }
    }

    @Test func theLastSixteenConnectionsAreForAdministrators() async throws {
        let promotions = Counter()
        try await withServer(limits: .init(connections: 20), isAdministrator: { _ in promotions.value > 0 }) { live in
            var served = try live.connect(4)
            try live.connect().expectRefusal()
            promotions.increment()
            served += try live.connect(16)
            try live.connect().expectRefusal()
            #expect(live.counters.openConnections.count == 20)
        }
    }

    @Test("4,096 connections may wait to be accepted, on an inherited socket too", arguments: [false, true])
    func backlog(isInherited: Bool) async throws {
        let folder = TemporaryFolder()
        let bound = try ListeningSocket(binding: folder("sock"), mode: 0o600)
        // The creator of the inherited socket has chosen a shorter queue.
        if isInherited { #expect(listen(bound.descriptor, 5) == 0) }
        let listening = isInherited ? ListeningSocket(inherited: bound.descriptor) : bound
        let setting = try String(contentsOfFile: "/proc/sys/net/core/somaxconn", encoding: .utf8)
        let maximum = try #require(Int(setting.trimmingCharacters(in: .whitespacesAndNewlines)))
        try await withServer(at: folder("sock"), socket: listening) { live in
            let client = try live.connect()
            var waiting = 0
            try live.blocked(by: client) {
                while waiting < 4096, connectAndClose(live.path) == 0 { waiting += 1 }
            }
            // The kernel limits the queue to net.core.somaxconn.
            #expect(waiting >= min(4096, maximum))
            try live.roundTrip()
            try client.expectService()
        }
    }

    @Test("Without descriptors further connections are refused with a line, and the others are served on")
    func noDescriptors() async {
        // The descriptor limit applies to the whole process.
        await #expect(processExitsWith: .success) {
            try await withServer { live in
                let witness = try live.connect()
                var clients: [LineClient] = []
                var limit = rlimit()
                try live.blocked(by: witness) {
                    // The clients connect before the limit applies, and the server accepts them after.
                    clients = try (0..<20).map { _ in try live.connect() }
                    for client in clients { try client.send(lines: request(2, "server.info")) }
                    limit = limitDescriptors(toFree: 5)
                }
                var served: [LineClient] = []
                for client in clients {
                    let outline = try client.receiveOutline()
                    if outline == "2 {}" {
                        served.append(client)
                    } else {
                        #expect(outline == "null -32004 busy")
                        try client.expect(nil)
                    }
                }
                #expect((2...5).contains(served.count))
                for _ in 0..<3 { try (served + [witness]).forEach { try $0.expectService() } }
                // A descriptor for the new client and a descriptor for the server.
                for client in served.prefix(2) { client.close() }
                try live.connect().expectService()
                try witness.expectService()
                setDescriptorLimit(limit)
            }
        }
    }
}

/// Connects without waiting and closes, so that the connection stays in the listening queue. Returns 0 or errno.
private func connectAndClose(_ path: String) -> CInt {
    guard let address = SocketAddress(path: path) else { return EINVAL }
    let kind = CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue) | CInt(SOCK_NONBLOCK.rawValue)
    let descriptor = socket(AF_UNIX, kind, 0)
    let code = address.withPointer({ connect(descriptor, $0, $1) }) == 0 ? 0 : errno
    close(descriptor)
    return code
}

/// Lowers the limit of this process so that it can open `count` more descriptors. Returns the old limit.
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
