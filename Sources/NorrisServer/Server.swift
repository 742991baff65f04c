package import Logging
import NIOCore
import NIOPosix
import NorrisProtocol
import ServiceLifecycle
import Synchronization

/// Serves the protocol on a Unix socket: one event loop, one handler for each connection.
///
/// A graceful shutdown accepts no more, answers every line received, and closes; connections that do not let that
/// happen within ``Server/drainTime`` are cut.
package final class Server: Service, Sendable {
    typealias Job = @Sendable () async -> Void

    /// How many connections are served at once.
    package struct Limits: Equatable, Sendable {
        package var connections: Int
        /// Administrators are excepted.
        package var connectionsPerUser: Int

        package init(connections: Int = 4096, connectionsPerUser: Int = 256) {
            self.connections = connections
            self.connectionsPerUser = connectionsPerUser
        }
    }

    /// Something the serving loop does again and again: while it hangs, so does this.
    package struct Heartbeat: Sendable {
        package var interval: Duration
        package var beat: @Sendable () -> Void

        package init(every interval: Duration, _ beat: @escaping @Sendable () -> Void) {
            self.interval = interval
            self.beat = beat
        }
    }

    /// How long a stop waits for peers that do not take their replies.
    static let drainTime = TimeAmount.seconds(2)

    private let socket: ListeningSocket
    private let registry: MethodRegistry
    private let limits: Mutex<Limits>
    private let heartbeat: Heartbeat?
    private let lastRefusalNote = Mutex<ContinuousClock.Instant?>(nil)
    private let onReady: @Sendable () -> Void
    private let connectionCount: ConnectionCount
    private let logger: Logger

    /// - Parameters:
    ///   - connectionCount: kept up to date with the number of open connections.
    ///   - onReady: called once, when the socket accepts.
    package init(
        socket: ListeningSocket,
        registry: MethodRegistry,
        limits: Limits,
        heartbeat: Heartbeat? = nil,
        connectionCount: ConnectionCount = ConnectionCount(),
        logger: Logger,
        onReady: @escaping @Sendable () -> Void = {}
    ) {
        self.socket = socket
        self.registry = registry
        self.limits = Mutex(limits)
        self.heartbeat = heartbeat
        self.connectionCount = connectionCount
        self.logger = logger
        self.onReady = onReady
    }

    /// Applies to connections that come from now on.
    package func setLimits(_ limits: Limits) {
        self.limits.withLock { $0 = limits }
    }

    package func run() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let eventLoop = group.next()
        let (jobs, feed) = AsyncStream.makeStream(of: Job.self)
        let connections = try await eventLoop.submit {
            NIOLoopBound(ConnectionRegistry(count: self.connectionCount), eventLoop: eventLoop)
        }.get()
        let listener: any Channel
        do {
            listener = try await bootstrap(eventLoop, connections, feed).withBoundSocket(socket.descriptor).get()
        } catch {
            try await group.shutdownGracefully()
            throw error
        }
        startTicking(eventLoop, connections)
        onReady()
        await withGracefulShutdownHandler {
            await withDiscardingTaskGroup { tasks in
                // Ends when the last connection has closed after the shutdown began.
                for await job in jobs {
                    tasks.addTask(operation: job)
                }
            }
        } onGracefulShutdown: {
            self.logger.debug("server.draining")
            listener.close().whenComplete { _ in
                self.socket.removeFile()
                Server.drain(connections, eventLoop, feed)
            }
        }
        try await group.shutdownGracefully()
    }

    private static func drain(
        _ connections: NIOLoopBound<ConnectionRegistry>,
        _ eventLoop: any EventLoop,
        _ feed: AsyncStream<Job>.Continuation
    ) {
        eventLoop.execute {
            let giveUp = eventLoop.scheduleTask(in: drainTime) {
                for connection in connections.value.all { connection.abort() }
            }
            connections.value.drain {
                giveUp.cancel()
                feed.finish()
            }
        }
    }

    private func startTicking(_ eventLoop: any EventLoop, _ connections: NIOLoopBound<ConnectionRegistry>) {
        eventLoop.scheduleRepeatedTask(initialDelay: .seconds(1), delay: .seconds(1)) { _ in
            connections.value.tick(now: .now)
        }
        if let heartbeat {
            let interval = TimeAmount(heartbeat.interval)
            eventLoop.scheduleRepeatedTask(initialDelay: .zero, delay: interval) { _ in heartbeat.beat() }
        }
    }

    private func bootstrap(
        _ eventLoop: any EventLoop,
        _ connections: NIOLoopBound<ConnectionRegistry>,
        _ feed: AsyncStream<Job>.Continuation
    ) -> ServerBootstrap {
        ServerBootstrap(group: eventLoop)
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelOption(.writeBufferWaterMark, value: .init(low: 16 * 1024, high: 64 * 1024))
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try self.welcome(channel, connections.value, feed)
                }
            }
    }

    /// Gives a new connection its handler, or the reason why it is not served.
    private func welcome(
        _ channel: any Channel,
        _ connections: ConnectionRegistry,
        _ feed: AsyncStream<Job>.Continuation
    ) throws {
        let pipeline = channel.pipeline.syncOperations
        let peer = try pipeline.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) { Peer(socket: $0) }
        guard let peer = peer ?? nil else {
            throw ChannelError.operationUnsupported
        }
        if let refusal = refusal(of: peer, connections) {
            noteRefusal(refusal, of: peer)
            return try pipeline.addHandler(RefusalHandler(refusal))
        }
        try pipeline.addHandler(
            ConnectionHandler(
                exchange: Exchange(registry: registry, peer: peer),
                registry: connections,
                jobs: feed,
                patience: .init()
            )
        )
    }

    /// Says a refusal in the log, but not once for every try of somebody who does not give up.
    private func noteRefusal(_ refusal: ResponseError, of peer: Peer) {
        let now = ContinuousClock.now
        let isDue = lastRefusalNote.withLock { last in
            if let last, last.duration(to: now) < .seconds(60) { return false }
            last = now
            return true
        }
        if isDue {
            logger.notice("connection.refused", metadata: ["peer.uid": "\(peer.uid)", "reason": "\(refusal.message)"])
        }
    }

    private func refusal(of peer: Peer, _ connections: ConnectionRegistry) -> ResponseError? {
        let limits = limits.withLock { $0 }
        if connectionCount.current >= limits.connections {
            return .busy(
                "The daemon serves \(limits.connections) connections already.",
                hint: "Close some, or raise limits.connections in its configuration."
            )
        }
        if connections.connections(of: peer.uid) >= limits.connectionsPerUser, !registry.isAdministrator(peer) {
            return .busy(
                "This user has \(limits.connectionsPerUser) connections already.",
                hint: "Close some, or raise limits.connections_per_user in the daemon's configuration."
            )
        }
        return nil
    }
}
