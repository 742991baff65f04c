import Foundation
import Glibc
import Synchronization

/// The sockets and threads of a fake upstream: one thread accepts, and each connection has a thread.
///
/// The thread that reads a descriptor closes it, once no other thread can know it. Other threads only shut it down,
/// under the lock, which wakes that thread.
final class FakeUpstreamServer: Sendable {
    struct State {
        var content: FakeUpstream.Content
        var requests: [FakeUpstream.Request] = []
        var faults: [String: FakeUpstream.Fault] = [:]
        var fault: FakeUpstream.Fault?
        /// What `Proxy-Authorization` must be; nil if it does not matter.
        var authorization: String?
        var listener: CInt?
        var connections: Set<CInt> = []
        /// What the threads wait on whose requests came while answers were held; nil where they are not.
        var held: [DispatchSemaphore]?
        var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    let state: Mutex<State>
    private let threads = DispatchGroup()

    init(_ content: FakeUpstream.Content) {
        state = Mutex(State(content: content))
    }

    /// - Parameters:
    ///   - listener: a bound socket, which this closes.
    ///   - tunnel: connects to what a client reaches after a CONNECT; nil where CONNECT is no method.
    func listen(on listener: CInt, tunnel: (@Sendable () -> CInt?)?) {
        precondition(Glibc.listen(listener, 128) == 0, "A bound socket cannot listen")
        state.withLock { $0.listener = listener }
        startThread { [self] in
            accept(from: listener, tunnel)
            Glibc.close(listener)
        }
    }

    private func accept(from listener: CInt, _ tunnel: (@Sendable () -> CInt?)?) {
        while true {
            let descriptor = Glibc.accept(listener, nil, nil)
            guard descriptor >= 0 else {
                // The listener was shut down.
                if errno == EINVAL { return }
                // A connection that has ended again, or no descriptor is free.
                poll(nil, 0, 10)
                continue
            }
            // A child started in between closes all it inherits.
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
            guard add(descriptor, acceptedFrom: listener) else {
                Glibc.close(descriptor)
                return
            }
            startThread { [self] in
                FakeUpstreamConnection(self, descriptor, tunnel).serve()
                close(descriptor)
            }
        }
    }

    /// Makes a descriptor known to `close()`.
    ///
    /// - Returns: whether the listener still listens; nil for any.
    func add(_ descriptor: CInt, acceptedFrom listener: CInt? = nil) -> Bool {
        state.withLock { state in
            guard let current = state.listener, listener == nil || listener == current else { return false }
            state.connections.insert(descriptor)
            return true
        }
    }

    /// Closes a descriptor of the calling thread's connection.
    func close(_ descriptor: CInt) {
        _ = state.withLock { $0.connections.remove(descriptor) }
        Glibc.close(descriptor)
    }

    /// Refuses connections from now on, and ends those that are open.
    func close() {
        state.withLock { state in
            for descriptor in state.connections.union(state.listener.map { [$0] } ?? []) {
                shutdown(descriptor, CInt(SHUT_RDWR))
            }
            state.listener = nil
        }
    }

    /// Lets the requests be answered that are held.
    func release() {
        let held = state.withLock { state in
            defer { state.held = nil }
            return state.held ?? []
        }
        held.forEach { $0.signal() }
    }

    /// Waits until every thread has ended, after `close()` and `release()`.
    func waitForThreads() async {
        await withCheckedContinuation { continuation in
            threads.notify(queue: .global()) { continuation.resume() }
        }
    }

    private func startThread(_ body: @escaping @Sendable () -> Void) {
        threads.enter()
        Thread.detachNewThread { [threads] in
            body()
            threads.leave()
        }
    }
}
