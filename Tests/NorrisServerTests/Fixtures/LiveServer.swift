import Dispatch
import Glibc
import Logging
import NorrisProtocol
import NorrisTestSupport
import Synchronization
import Testing

@testable import NorrisServer

/// A server on a real socket for one test.
struct LiveServer {
    let server: Server
    let path: String
    let counters: ServerCounters
    /// The gate for the result of `fact.today`.
    let gate: Gate
    fileprivate let blockade: Blockade

    func connect() throws -> LineClient { try LineClient(path: path) }

    /// Returns connections that the server has accepted.
    func connect(_ count: Int) throws -> [LineClient] {
        let clients = try (0..<count).map { _ in try connect() }
        for client in clients { try client.expectService() }
        return clients
    }

    /// Sends a request on a separate connection, and returns when the server has handled everything before it.
    func roundTrip() throws {
        let client = try connect()
        try client.send(lines: request(0, "server.info"))
        _ = try client.receiveLine()
    }

    /// Runs the body while a request of a client blocks the event loop, so that the server finds all effects at once.
    func blocked(by client: LineClient, _ body: () throws -> Void) throws {
        try client.send(lines: request(0, "recent.clear"))
        blockade.waitUntilEntered()
        do {
            defer { blockade.lift() }
            try body()
        }
        try client.expect("0 {}")
    }

    /// Sends copies of a line until the server stops reading, or up to about `limit` bytes. Returns the bytes sent.
    func send(_ line: [UInt8], to client: LineClient, limit: Int) throws -> Int {
        var chunk: [UInt8] = []
        for _ in 0..<max(1, 65_536 / line.count) { chunk += line }
        var sent = 0
        var refusals = 0
        // If the kernel accepts no bytes during 20 turns of the event loop, the server does not read.
        while sent < limit, refusals < 20 {
            let taken = try client.sendAvailable(chunk[(sent % chunk.count)...])
            sent += taken
            refusals = taken == 0 ? refusals + 1 : 0
            if taken == 0 { try roundTrip() }
        }
        return sent
    }

    /// Returns when `count` connections are open.
    func waitFor(connections count: Int) throws {
        let client = try connect()
        // Each check is a request, so this loop runs at the server's pace. The suite's time limit ends an endless loop.
        repeat { try client.expectService() } while counters.openConnections.count != count + 1
    }
}

extension Server.Tuning {
    /// Never closes a connection for slowness, because the machine may be busy.
    static let patient = Server.Tuning(idleTimeout: .seconds(3600), stallTimeout: .seconds(3600))

    /// Checks timeouts every millisecond; the default timeouts are one hour.
    static func eager(idle: Duration = .seconds(3600), stall: Duration = .seconds(3600)) -> Server.Tuning {
        Server.Tuning(idleTimeout: idle, stallTimeout: stall, tick: .milliseconds(1))
    }
}

/// Runs a server during the body, then stops the server cleanly and waits for its end.
///
/// The server's tasks have a separate thread, so the body may block. `limits` is evaluated for each new connection.
/// `socket` replaces a socket bound to a temporary path.
func withServer(
    _ bodies: [String: Handler.Body] = [:], limits: @autoclosure @escaping @Sendable () -> Server.Limits = .init(),
    tuning: Server.Tuning = .patient, events: EventHub = EventHub(),
    heartbeat: Server.Heartbeat? = nil, isAdministrator: @escaping @Sendable (Peer) -> Bool = { _ in true },
    at path: String? = nil, socket: ListeningSocket? = nil,
    logger: Logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, _ body: (LiveServer) async throws -> Void
) async throws {
    let folder = TemporaryFolder()
    let path = path ?? folder("sock")
    let (gate, blockade) = (Gate(), Blockade())
    let usual = ["fact.today": TestMethods.waiting(for: gate), "recent.clear": blockade.body]
    let registry = TestMethods.registry(bodies.merging(usual) { first, _ in first }, isAdministrator: isAdministrator)
    let (ready, signal) = AsyncStream.makeStream(of: Void.self)
    let server = Server(
        socket: try socket ?? ListeningSocket(binding: path, mode: 0o600), registry: registry, limits: limits,
        heartbeat: heartbeat, events: events, tuning: tuning, logger: logger, onReady: { signal.finish() })
    try await withThrowingTaskGroup { group in
        group.addTask(executorPreference: ServerThread()) {
            defer { signal.finish() }
            try await server.run()
        }
        for await _ in ready {}
        try await body(
            LiveServer(
                server: server, path: path, counters: registry.counters, gate: gate, blockade: blockade)
        )
        server.stop()
        try await group.waitForAll()
    }
}

/// Runs the tasks of a server while tests block all threads of the common pool.
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

    /// Sends lines and appends LF to each.
    func send(lines: String...) throws { try send(lines.map { $0 + "\n" }.joined()) }

    /// Sends the bytes that the kernel accepts without blocking, and returns their number.
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

    /// Expects the next lines in the form of ``outline(_:)``. nil represents the end of the connection.
    func expect(_ outlines: String?..., sourceLocation: SourceLocation = #_sourceLocation) throws {
        for expected in outlines { #expect(try receiveOutline() == expected, sourceLocation: sourceLocation) }
    }

    func expect(events: Event..., sourceLocation: SourceLocation = #_sourceLocation) throws {
        for event in events {
            let text = String(decoding: event.line.dropLast(), as: UTF8.self)
            #expect(try receiveLine() == text, sourceLocation: sourceLocation)
        }
    }

    func expectService(sourceLocation: SourceLocation = #_sourceLocation) throws {
        try send(lines: request(1, "server.info"))
        try expect("1 {}", sourceLocation: sourceLocation)
    }

    /// Expects that the server refuses the connection with one line.
    func expectRefusal(sourceLocation: SourceLocation = #_sourceLocation) throws {
        try expect("null -32004 busy", nil, sourceLocation: sourceLocation)
    }

    func receiveOutline() throws -> String? { try receiveLine().map(outline) }

    /// Waits without reading until the server has closed the connection. poll(2) always reports POLLHUP.
    func waitForClose() throws { try poll(for: 0) }

    /// Waits without reading until bytes can be read.
    func waitForBytes() throws { try poll(for: Int16(POLLIN)) }

    private func poll(for events: Int16) throws {
        var entry = pollfd(fd: descriptor, events: events, revents: 0)
        guard Glibc.poll(&entry, 1, 60_000) == 1 else { throw Failure(description: "Nothing came.") }
    }
}
