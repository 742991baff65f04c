import CEpoll
import Glibc
package import Logging
import NorrisProtocol
import ServiceLifecycle
import Synchronization

/// Serves the protocol on a Unix socket: one thread runs an ``EventLoop``, tasks do what has to wait.
///
/// A graceful shutdown accepts no more, answers every line received, and closes; connections that do not let that
/// happen within ``Server/Pace/drainTime`` are cut.
package final class Server: Service, Sendable {
    typealias Job = @Sendable () async -> Void

    /// How many connections are served at once.
    package struct Limits: Equatable, Sendable {
        /// The last sixteen are kept for administrators.
        package var connections: Int
        /// Administrators are excepted.
        package var connectionsPerUser: Int

        package init(connections: Int = 4096, connectionsPerUser: Int = 256) {
            self.connections = connections
            self.connectionsPerUser = connectionsPerUser
        }

        static let keptForAdministrators = 16

        func connections(forAdministrators isAdministrator: Bool) -> Int {
            isAdministrator ? connections : max(1, connections - Limits.keptForAdministrators)
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
        /// The shortest time between two looks at connections that rest.
        var tick = Duration.seconds(1)
        /// How long a stop waits for peers that do not take their replies.
        var drainTime = Duration.seconds(2)
        /// How many bytes are held for slow readers altogether.
        var maximumUnsent = 64 * 1024 * 1024
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
    private let running = Mutex<Inbox?>(nil)

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
        let (jobs, feed) = AsyncStream.makeStream(of: Job.self)
        let inbox: Inbox
        do {
            try socket.listen()
            inbox = try Inbox()
            try start(inbox, feed)
        } catch {
            socket.removeFile()
            throw error
        }
        running.withLock { $0 = inbox }
        onReady()
        await withTaskCancellationHandler {
            await withGracefulShutdownHandler {
                await withDiscardingTaskGroup { tasks in
                    // Ends with the event loop.
                    for await job in jobs {
                        tasks.addTask(operation: job)
                    }
                }
            } onGracefulShutdown: {
                self.stop()
            }
        } onCancel: {
            inbox.send(.abort)
        }
        // A run that was cancelled instead has not been stopped yet.
        if running.withLock({ $0.take() }) != nil {
            socket.removeFile()
        }
    }

    /// Starts the event loop on a thread of its own, which ends the feed when it ends.
    private func start(_ inbox: Inbox, _ feed: AsyncStream<Job>.Continuation) throws {
        let settings = EventLoop.Settings(
            pace: pace, limits: { self.limits.withLock { $0 } }, heartbeat: heartbeat, events: events,
            count: connectionCount, logger: logger, run: { feed.yield($0) }
        )
        var loop: EventLoop? = try EventLoop(
            listener: socket.descriptor, registry: registry, inbox: inbox, settings: settings
        )
        try startThread(named: "norrisd-loop") {
            if var loop = loop.take() { loop.run() }
            feed.finish()
        }
    }

    /// Begins a clean stop, which ends ``run()``.
    func stop() {
        guard let inbox = running.withLock({ $0.take() }) else { return }
        logger.debug("server.draining")
        socket.removeFile()
        // The connections get it on the event loop before they are drained there.
        events.publish(.server(.stopping))
        inbox.send(.drain)
    }
}

/// Runs a body on a new thread, which nobody waits for (pthread_create(3)).
private func startThread(named name: String, _ body: @escaping () -> Void) throws(SystemError) {
    final class Start {
        let name: String
        let body: () -> Void
        init(_ name: String, _ body: @escaping () -> Void) { (self.name, self.body) = (name, body) }
    }
    var thread = pthread_t()
    // Owned by the thread from here on.
    let start = Unmanaged.passRetained(Start(name, body))
    let code = pthread_create(&thread, nil, { argument in
        // What was retained above, and nothing else, is passed; never nil.
        let start = Unmanaged<Start>.fromOpaque(argument!).takeRetainedValue()
        pthread_setname_np(pthread_self(), start.name)
        start.body()
        return nil
    }, start.toOpaque())
    guard code == 0 else {
        start.release()
        throw SystemError(call: "pthread_create", code: code)
    }
    pthread_detach(thread)
}
