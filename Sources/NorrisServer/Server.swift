import CLinux
import Glibc
package import Logging
import NorrisProtocol
import NorrisSystem
import NorrisThreads
import ServiceLifecycle
import Synchronization

/// Serves the protocol on a Unix socket: one thread runs an ``EventLoop``, tasks run deferred requests.
///
/// A graceful shutdown accepts no further connections, processes all received lines, and closes the connections.
/// Connections that are not done within ``Tuning/drainTime`` are cut, and connections that wait for a network within
/// ``Tuning/networkDrainTime``.
package final class Server: Service, Sendable {
    /// A periodic call that passes through the serving loop and the tasks' threads. The calls stop if either hangs.
    package typealias Heartbeat = (interval: Duration, beat: @Sendable () -> Void)

    /// A task for the event loop.
    typealias Work = @Sendable () async -> Void

    let registry: MethodRegistry
    let limits: @Sendable () -> Limits
    let heartbeat: Heartbeat?
    let events: EventHub
    let tuning: Tuning
    let logger: Logger
    private let socket: ListeningSocket
    private let onReady: @Sendable () -> Void
    /// Set from the time the socket accepts until a stop begins.
    private let running = Mutex<Inbox?>(nil)

    /// - Parameters:
    ///   - limits: read for each new connection.
    ///   - events: the hub of all subscriptions; a stop is published there.
    ///   - onReady: called once, when the socket accepts.
    package init(
        socket: ListeningSocket, registry: MethodRegistry, limits: @escaping @Sendable () -> Limits = { Limits() },
        heartbeat: Heartbeat? = nil, events: EventHub = EventHub(), tuning: Tuning = .standard,
        logger: Logger, onReady: @escaping @Sendable () -> Void = {}
    ) {
        (self.socket, self.registry, self.limits, self.heartbeat) = (socket, registry, limits, heartbeat)
        (self.events, self.tuning, self.logger, self.onReady) = (events, tuning, logger, onReady)
    }

    package func run() async throws {
        let (work, feed) = AsyncStream.makeStream(of: Work.self)
        let inbox: Inbox
        do {
            try socket.listen()
            inbox = try Inbox()
            var loop: EventLoop? = try EventLoop(self, listener: socket.descriptor, inbox: inbox, tasks: feed)
            let code = startThread {
                pthread_setname_np(pthread_self(), "norrisd-loop")
                if var loop = loop.take() { loop.run() }
                feed.finish()
            }
            guard code == 0 else { throw SystemError("pthread_create", code: code) }
        } catch {
            socket.removeFile()
            throw error
        }
        running.withLock { $0 = inbox }
        onReady()
        await withTaskCancellationHandler {
            await withGracefulShutdownHandler {
                await withDiscardingTaskGroup { tasks in
                    // The stream ends with the event loop.
                    for await work in work { tasks.addTask { await work() } }
                }
            } onGracefulShutdown: {
                self.stop()
            }
        } onCancel: {
            inbox.send(.abort)
        }
        // A cancelled run was not stopped yet.
        if running.withLock({ $0.take() }) != nil { socket.removeFile() }
    }

    /// Begins a graceful stop, which ends ``run()``.
    func stop() {
        guard let inbox = running.withLock({ $0.take() }) else { return }
        logger.debug("server.draining")
        socket.removeFile()
        // Connections receive the event on the event loop before they are drained.
        events.publish(.server(.stopping))
        inbox.send(.drain)
    }
}
