import Dispatch
import Logging
import NorrisProtocol
import NorrisTestSupport

@testable import NorrisServer

/// A server on a real socket, for the time of a test.
struct LiveServer {
    let server: Server
    let path: String
    let connections: ConnectionCount
    let registry: MethodRegistry

    func connect() throws -> TestClient {
        try TestClient(path: path)
    }

    /// Returns when the server has done what it could do before; by one request on a connection of its own.
    func roundTrip() throws {
        let client = try connect()
        try client.send(request(0, "server.info") + "\n")
        _ = try client.receiveLine()
    }

    /// Sends copies of a line, without reading, until the server stops taking them.
    ///
    /// - Returns: how many bytes were taken; `limit` or a little more where it never stopped.
    func send(_ line: [UInt8], to client: TestClient, limit: Int) throws -> Int {
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
        // Each round is a request to the server, so this goes at its pace. The suite's time limit ends what has no end.
        repeat {
            try client.send(request(0, "server.info") + "\n")
            _ = try client.receiveLine()
        } while connections.current != count + 1
    }
}

extension Server.Pace {
    /// Nobody is closed for being slow, however busy the machine is.
    static let patient = Server.Pace(patience: .init(idle: .seconds(3600), stalled: .seconds(3600)))
}

/// Runs a server while the body runs, then stops it cleanly and waits for its end.
///
/// The server has a thread of its own beside its event loop's: bodies may block without holding it up.
///
/// - Parameter socket: another than one bound to a path of its own.
func withServer(
    _ bodies: [String: MethodBody] = [:],
    limits: Server.Limits = Server.Limits(),
    pace: Server.Pace = .patient,
    events: EventHub = EventHub(),
    isAdministrator: @escaping @Sendable (Peer) -> Bool = { _ in true },
    at path: String? = nil,
    socket: ListeningSocket? = nil,
    _ body: (LiveServer) async throws -> Void
) async throws {
    let folder = TemporaryFolder()
    let path = path ?? folder("sock")
    let connections = ConnectionCount()
    let registry = TestMethods.registry(bodies, isAdministrator: isAdministrator)
    let (ready, signal) = AsyncStream.makeStream(of: Void.self)
    let server = Server(
        socket: try socket ?? ListeningSocket(binding: path, mode: 0o600),
        registry: registry,
        limits: limits,
        pace: pace,
        events: events,
        connectionCount: connections,
        logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
        onReady: { signal.finish() }
    )
    try await withThrowingTaskGroup { group in
        group.addTask(executorPreference: ServerThread()) {
            defer { signal.finish() }
            try await server.run()
        }
        for await _ in ready {}
        try await body(LiveServer(server: server, path: path, connections: connections, registry: registry))
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
