package import Logging
import NIOCore
import NIOPosix
import NorrisProtocol
import ServiceLifecycle
import Synchronization

/// Serves the protocol on a Unix socket: one event loop, one handler for each connection.
///
/// A graceful shutdown accepts no more, answers every line received, and closes; connections that do not let that
/// happen within ``Server/Pace/drainTime`` are cut.
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

    /// What the contract says of slow and silent peers; other figures are for tests.
    struct Pace: Sendable {
        var patience = ConnectionStateMachine.Patience()
        /// How often the clock is looked at.
        var tick = Duration.seconds(1)
        /// How long a stop waits for peers that do not take their replies.
        var drainTime = Duration.seconds(2)
        /// How many bytes are held for slow readers altogether.
        var maximumUnsent = 64 * 1024 * 1024
    }

    /// What a run works with.
    private struct Running {
        let listener: any Channel
        let connections: NIOLoopBound<ConnectionRegistry>
        let feed: AsyncStream<Job>.Continuation
    }

    private let socket: ListeningSocket
    private let registry: MethodRegistry
    private let limits: Mutex<Limits>
    private let pace: Pace
    private let heartbeat: Heartbeat?
    private let onReady: @Sendable () -> Void
    private let events: EventHub
    private let connectionCount: ConnectionCount
    private let logger: Logger
    /// From the moment the socket accepts until a stop begins.
    private let running = Mutex<Running?>(nil)

    /// - Parameters:
    ///   - events: what connections may subscribe to; a stop is told there.
    ///   - connectionCount: counts them.
    ///   - onReady: called once, when the socket accepts.
    package convenience init(
        socket: ListeningSocket,
        registry: MethodRegistry,
        limits: Limits,
        heartbeat: Heartbeat? = nil,
        events: EventHub = EventHub(),
        connectionCount: ConnectionCount = ConnectionCount(),
        logger: Logger,
        onReady: @escaping @Sendable () -> Void = {}
    ) {
        self.init(
            socket: socket, registry: registry, limits: limits, pace: Pace(), heartbeat: heartbeat,
            events: events, connectionCount: connectionCount, logger: logger, onReady: onReady
        )
    }

    init(
        socket: ListeningSocket,
        registry: MethodRegistry,
        limits: Limits,
        pace: Pace,
        heartbeat: Heartbeat? = nil,
        events: EventHub = EventHub(),
        connectionCount: ConnectionCount = ConnectionCount(),
        logger: Logger,
        onReady: @escaping @Sendable () -> Void = {}
    ) {
        self.socket = socket
        self.registry = registry
        self.limits = Mutex(limits)
        self.pace = pace
        self.heartbeat = heartbeat
        self.events = events
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
            let registry = ConnectionRegistry(maximumUnsent: self.pace.maximumUnsent, count: self.connectionCount)
            return NIOLoopBound(registry, eventLoop: eventLoop)
        }.get()
        let listener: any Channel
        do {
            listener = try await bootstrap(eventLoop, connections, feed).withBoundSocket(socket.descriptor).get()
        } catch {
            socket.removeFile()
            try await group.shutdownGracefully()
            throw error
        }
        running.withLock { $0 = Running(listener: listener, connections: connections, feed: feed) }
        startTicking(eventLoop, connections)
        onReady()
        await withGracefulShutdownHandler {
            await withDiscardingTaskGroup { tasks in
                // Ends when the last connection has closed after the shutdown began, or when this task is cancelled.
                for await job in jobs {
                    tasks.addTask(operation: job)
                }
            }
        } onGracefulShutdown: {
            self.stop()
        }
        // A run that was cancelled instead has not been stopped yet.
        if running.withLock({ $0.take() }) != nil {
            socket.removeFile()
        }
        try await group.shutdownGracefully()
    }

    /// Begins a clean stop, which ends ``run()``.
    func stop() {
        guard let running = running.withLock({ $0.take() }) else { return }
        logger.debug("server.draining")
        socket.removeFile()
        // The connections get it on the event loop before they are drained there.
        events.publish(.server(.stopping))
        running.listener.close().whenComplete { _ in self.drain(running) }
    }

    private func drain(_ running: Running) {
        let eventLoop = running.listener.eventLoop
        eventLoop.execute {
            let giveUp = eventLoop.scheduleTask(in: TimeAmount(self.pace.drainTime)) {
                for connection in running.connections.value.all { connection.abort() }
            }
            running.connections.value.drain {
                giveUp.cancel()
                running.feed.finish()
            }
        }
    }

    private func startTicking(_ eventLoop: any EventLoop, _ connections: NIOLoopBound<ConnectionRegistry>) {
        let tick = TimeAmount(pace.tick)
        eventLoop.scheduleRepeatedTask(initialDelay: tick, delay: tick) { _ in
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
            connectionCount.refuse()
            logger.notice("connection.refused", metadata: ["peer.uid": "\(peer.uid)", "reason": "\(refusal.message)"])
            return try pipeline.addHandler(RefusalHandler(refusal))
        }
        try pipeline.addHandler(
            ConnectionHandler(
                exchange: Exchange(registry: registry, peer: peer, subscription: Subscription(hub: events)),
                registry: connections,
                jobs: feed,
                patience: pace.patience
            )
        )
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
