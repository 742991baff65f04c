import Dispatch
import Glibc
import Logging
import NorrisProtocol
import NorrisSystem
import NorrisTestSupport
import Synchronization
import Testing

@testable import NorrisServer

/// A server on a real socket, for the time of a test.
struct LiveServer {
    let server: Server
    let path: String
    let counters: ServerCounters
    /// What the result of `fact.today` waits for.
    let gate: Gate
    let ledger: MemoryLedger
    fileprivate let blockade: Blockade

    func connect() throws -> LineClient { try LineClient(path: path) }

    /// Connections that are accepted already.
    func connect(_ count: Int) throws -> [LineClient] {
        let clients = try (0..<count).map { _ in try connect() }
        for client in clients { try client.expectService() }
        return clients
    }

    /// Returns when the server has done what it could do before; by one request on a connection of its own.
    func roundTrip() throws {
        let client = try connect()
        try client.send(lines: request(0, "server.info"))
        _ = try client.receiveLine()
    }

    /// Runs the body while the event loop stands still in a request of a client: the server finds all at once what
    /// happens meanwhile.
    func blocked(by client: LineClient, _ body: () throws -> Void) throws {
        try client.send(lines: request(0, "recent.clear"))
        blockade.waitUntilEntered()
        do {
            defer { blockade.lift() }
            try body()
        }
        try client.expect("0 {}")
    }

    /// Sends copies of a line, without reading, until the server stops taking them.
    ///
    /// - Returns: how many bytes were taken; `limit` or a little more where it never stopped.
    func send(_ line: [UInt8], to client: LineClient, limit: Int) throws -> Int {
        var chunk: [UInt8] = []
        for _ in 0..<max(1, 65_536 / line.count) { chunk += line }
        var sent = 0
        var refusals = 0
        // When the kernel takes nothing more over several turns of the server's loop, the server does not read.
        while sent < limit, refusals < 20 {
            let taken = try client.sendAvailable(chunk[(sent % chunk.count)...])
            sent += taken
            refusals = taken == 0 ? refusals + 1 : 0
            if taken == 0 { try roundTrip() }
        }
        return sent
    }

    /// Returns when so many connections are open.
    func waitFor(connections count: Int) throws {
        let client = try connect()
        // Each of these is a request, so this goes at the server's pace. The suite's time limit ends what has no end.
        repeat { try client.expectService() } while counters.openConnections != count + 1
    }
}

extension Server.Tuning {
    /// Nobody is closed for being slow, however busy the machine is.
    static let patient = Server.Tuning(idleTimeout: .seconds(3600), stallTimeout: .seconds(3600))

    /// Checks as often as it can, but never times out, unless a test says so.
    static func eager(idle: Duration = .seconds(3600), stall: Duration = .seconds(3600)) -> Server.Tuning {
        Server.Tuning(idleTimeout: idle, stallTimeout: stall, tick: .milliseconds(1))
    }
}

/// Runs a server while the body runs, then stops it cleanly and waits for its end.
///
/// The server has a thread of its own beside its event loop's: bodies may block without holding it up.
///
/// - Parameters:
///   - limits: read for each new connection.
///   - socket: another than one bound to a path of its own.
func withServer(
    _ bodies: [String: MethodBody] = [:], limits: @autoclosure @escaping @Sendable () -> Server.Limits = .init(),
    tuning: Server.Tuning = .patient, ledger: MemoryLedger = MemoryLedger(), events: EventHub = EventHub(),
    isAdministrator: @escaping @Sendable (Peer) -> Bool = { _ in true }, at path: String? = nil,
    socket: ListeningSocket? = nil, _ body: (LiveServer) async throws -> Void
) async throws {
    let folder = TemporaryFolder()
    let path = path ?? folder("sock")
    let (gate, blockade) = (Gate(), Blockade())
    let usual = ["fact.today": TestMethods.waiting(for: gate), "recent.clear": blockade.body]
    let registry = TestMethods.registry(bodies.merging(usual) { first, _ in first }, isAdministrator: isAdministrator)
    let (ready, signal) = AsyncStream.makeStream(of: Void.self)
    let server = Server(
        socket: try socket ?? ListeningSocket(binding: path, mode: 0o600), registry: registry, limits: limits,
        events: events, tuning: tuning, ledger: ledger, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
        onReady: { signal.finish() })
    try await withThrowingTaskGroup { group in
        group.addTask(executorPreference: ServerThread()) {
            defer { signal.finish() }
            try await server.run()
        }
        for await _ in ready {}
        try await body(
            LiveServer(
                server: server, path: path, counters: registry.counters, gate: gate, ledger: ledger, blockade: blockade)
        )
        server.stop()
        try await group.waitForAll()
    }
}

/// Where a server's tasks run, so that they go on while tests block all threads of the common pool.
private final class ServerThread: TaskExecutor {
    private let queue = DispatchQueue(label: "norris.server.tests")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

extension LineClient {
    // MARK: Sending

    func send(_ text: String) throws { try send(Array(text.utf8)) }

    func send(_ bytes: [UInt8]) throws {
        var sent = 0
        while sent < bytes.count { sent += try sendSome(bytes[sent...], flags: 0) }
    }

    /// Sends lines with their ends.
    func send(lines: String...) throws { try send(lines.map { $0 + "\n" }.joined()) }

    /// Sends what the kernel takes at once; 0 where it takes nothing.
    func sendAvailable(_ bytes: ArraySlice<UInt8>) throws -> Int { try sendSome(bytes, flags: CInt(MSG_DONTWAIT)) }

    private func sendSome(_ bytes: ArraySlice<UInt8>, flags: CInt) throws -> Int {
        let count = bytes.withUnsafeBytes {
            Glibc.send(descriptor, $0.baseAddress, $0.count, flags | CInt(MSG_NOSIGNAL))
        }
        if count < 0, flags & CInt(MSG_DONTWAIT) != 0, errno == EAGAIN { return 0 }
        guard count >= 0 else { throw Failure(description: "send: \(String(cString: strerror(errno)))") }
        return count
    }

    // MARK: Receiving

    /// The next lines say this, as ``outline(_:)`` has it; nil stands for the end.
    func expect(_ outlines: String?..., sourceLocation: SourceLocation = #_sourceLocation) throws {
        for expected in outlines { #expect(try receiveOutline() == expected, sourceLocation: sourceLocation) }
    }

    /// These events come next.
    func expect(events: Event..., sourceLocation: SourceLocation = #_sourceLocation) throws {
        for event in events {
            let text = String(decoding: event.line.dropLast(), as: UTF8.self)
            #expect(try receiveLine() == text, sourceLocation: sourceLocation)
        }
    }

    /// The server answers a request.
    func expectService(sourceLocation: SourceLocation = #_sourceLocation) throws {
        try send(lines: request(1, "server.info"))
        try expect("1 {}", sourceLocation: sourceLocation)
    }

    /// The server refuses the connection with one line.
    func expectRefusal(sourceLocation: SourceLocation = #_sourceLocation) throws {
        try expect("null -32004 busy", nil, sourceLocation: sourceLocation)
    }

    func receiveOutline() throws -> String? { try receiveLine().map(outline) }

    /// Waits until the server has closed, without reading anything: POLLHUP comes unasked, once both directions are
    /// shut.
    func waitForClose() throws { try poll(for: 0) }

    /// Waits until there is something to be read, without reading it.
    func waitForBytes() throws { try poll(for: Int16(POLLIN)) }

    private func poll(for events: Int16) throws {
        var entry = pollfd(fd: descriptor, events: events, revents: 0)
        guard Glibc.poll(&entry, 1, 300_000) == 1 else { throw Failure(description: "Nothing came.") }
    }
}
