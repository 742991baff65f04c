import Foundation
import Logging
import NorrisPrefetch
import NorrisServer
import NorrisStore
import NorrisTestSupport

@testable import NorrisDaemon

/// The daemon's own handlers behind a real socket, in this process: the starting collection in a folder of its own,
/// the default configuration without an upstream, one server for an administrator and one for anybody else.
struct ServedHandlers: Sendable {
    /// Whom the server takes its peers for.
    enum Caller: String, CaseIterable {
        // The status counts the requests to the last of them.
        case user, administrator
    }

    private let folder = TemporaryFolder()

    func socketPath(_ caller: Caller) -> String {
        folder(caller.rawValue)
    }

    /// Serves while the body runs, which gets a thread of its own and may block.
    static func serve<Result: Sendable>(
        _ body: @escaping @Sendable (ServedHandlers) throws -> Result
    ) async throws -> Result {
        let served = ServedHandlers()
        let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
        let databases = try Databases(
            cacheFolder: served.folder("cache"),
            stateFolder: served.folder("state"),
            logger: logger
        )
        defer { databases.close() }
        let facts = FactStore(databases: databases)
        facts.importStartingCollection()
        let file = Paths.ConfigurationFile(
            path: try served.folder.write(SeededContent.configuration, to: "config.yaml"), isNamed: true
        )
        let loader = ConfigurationLoader(home: nil, currentDirectory: served.folder.path)
        let handlers = Handlers(
            loaded: try loader.load(file),
            databases: databases,
            facts: facts,
            loader: loader,
            file: file,
            environment: FetchingEnvironment(machine: "test", clock: SystemClock(), trustRoots: nil),
            logger: logger
        )
        try await SeededContent.put(into: handlers.fetching.stores)
        return try await withThrowingTaskGroup(of: Void.self) { tasks in
            for caller in Caller.allCases {
                let (ready, isReady) = AsyncStream.makeStream(of: Void.self)
                let server = Server(
                    socket: try ListeningSocket(binding: served.socketPath(caller), mode: 0o600),
                    registry: handlers.makeRegistry { _ in caller == .administrator },
                    events: handlers.events,
                    logger: logger,
                    onReady: { isReady.finish() }
                )
                tasks.addTask {
                    // A server that cannot start is ready to be found out.
                    defer { isReady.finish() }
                    try await server.run()
                }
                for await _ in ready {}
            }
            defer { tasks.cancelAll() }
            return try await onThread { try body(served) }
        }
    }

    private static func onThread<Result: Sendable>(
        _ body: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Swift.Result(catching: body)) }
        }
    }
}
