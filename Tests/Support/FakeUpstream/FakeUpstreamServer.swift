import Foundation
import Glibc
import Synchronization

/// The sockets and threads of a fake upstream: one thread accepts, and each connection has a thread.
///
/// The thread that reads a descriptor closes it, when no other thread can use it. Other threads only shut it down under
/// the lock, which wakes the reader.
final class FakeUpstreamServer: Sendable {
    struct State {
        var content: FakeUpstream.Content
        var requests: [FakeUpstream.Request] = []
        var faults: [String: FakeUpstream.Fault] = [:]
        var fault: FakeUpstream.Fault?
        /// A fault that a request past the caches does not meet.
        var cachedFault: FakeUpstream.Fault?
        /// The required `Proxy-Authorization`; nil for any.
        var authorization: String?
        var listener: CInt?
        var connections: Set<CInt> = []
        /// The semaphores of the threads with delayed requests; nil if requests are not delayed.
        var held: [DispatchSemaphore]?
    }

    let state: Mutex<State>
    private let threads = DispatchGroup()

    init(_ content: FakeUpstream.Content) { state = Mutex(State(content: content)) }

    /// - Parameters:
    ///   - listener: a bound socket, closed by the server.
    ///   - tunnel: connects to the destination of a CONNECT; nil to refuse CONNECT.
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
                // The connection has already ended, or no descriptor is free.
                poll(nil, 0, 10)
                continue
            }
            // A child that starts in between closes all inherited descriptors.
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

    /// Registers a descriptor for `close()`.
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

    /// Refuses connections from now on, and ends open connections.
    func close() {
        state.withLock { state in
            for descriptor in state.connections.union(state.listener.map { [$0] } ?? []) {
                shutdown(descriptor, CInt(SHUT_RDWR))
            }
            state.listener = nil
        }
    }

    /// Answers the delayed requests.
    func release() {
        let held = state.withLock { state in
            defer { state.held = nil }
            return state.held ?? []
        }
        held.forEach { $0.signal() }
    }

    /// Waits until all threads have ended, after `close()` and `release()`.
    func waitForThreads() async {
        await withCheckedContinuation { continuation in threads.notify(queue: .global()) { continuation.resume() } }
    }

    private func startThread(_ body: @escaping @Sendable () -> Void) {
        threads.enter()
        Thread.detachNewThread { [threads] in
            body()
            threads.leave()
        }
    }
}

/// A connection to a fake upstream, served by one thread with raw bytes, so that every fault is possible.
struct FakeUpstreamConnection {
    private let server: FakeUpstreamServer
    private let descriptor: CInt
    private let tunnel: (@Sendable () -> CInt?)?

    /// - Parameters:
    ///   - descriptor: closed by the caller.
    ///   - tunnel: as in `FakeUpstreamServer.listen`.
    init(_ server: FakeUpstreamServer, _ descriptor: CInt, _ tunnel: (@Sendable () -> CInt?)?) {
        self.server = server
        self.descriptor = descriptor
        self.tunnel = tunnel
    }

    /// Answers until either side ends the connection.
    func serve() {
        if case .greeting(let bytes)? = server.state.withLock({ $0.fault }), !send(Array(bytes.utf8)) { return }
        var received: [UInt8] = []
        while let chunk = receive(from: descriptor) {
            received += chunk
            while let end = received.indices.first(where: { received[$0...].starts(with: "\r\n\r\n".utf8) }) {
                let request = FakeUpstream.Request(head: String(decoding: received[..<end], as: UTF8.self))
                received.removeSubrange(..<(end + 4))
                guard take(request) else { return }
            }
        }
    }

    // The functions below return whether the connection continues.

    private func take(_ request: FakeUpstream.Request) -> Bool {
        let held = server.state.withLock { state -> DispatchSemaphore? in
            state.requests.append(request)
            guard state.held != nil else { return nil }
            let held = DispatchSemaphore(value: 0)
            state.held?.append(held)
            return held
        }
        held?.wait()
        return answer(request)
    }

    private func answer(_ request: FakeUpstream.Request) -> Bool {
        let (own, fault, content, authorization) = server.state.withLock { state in
            let isPastCaches = request.header("Cache-Control") == "no-cache"
            let fault = isPastCaches ? state.fault : state.cachedFault ?? state.fault
            return (state.faults[request.path], fault, state.content, state.authorization)
        }
        let isConnect = request.method == "CONNECT"
        let isForProxy = isConnect || request.target.hasPrefix("http://")
        if let authorization, isForProxy, request.header("Proxy-Authorization") != authorization {
            return send(Array("HTTP/1.1 407 Whatever\r\nContent-Length: 0\r\n\r\n".utf8))
        }
        if isConnect, own == nil { return relay() }
        return answer(content.answer(to: request), with: own ?? fault)
    }

    private func answer(_ answer: FakeUpstream.Answer, with fault: FakeUpstream.Fault?) -> Bool {
        let length = ("Content-Length", "\(answer.body.count)")
        switch fault {
        case nil: return send(answer.bytes)
        case .reset:
            // A close without lingering resets the connection (socket(7)).
            var option = linger(l_onoff: 1, l_linger: 0)
            setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
            return false
        case .hang, .greeting: return true
        case .drip(let interval): return send(answer.head(with: [length])) && drip(answer.body, every: interval)
        case .truncated(let isChunked):
            let half = answer.body.prefix(answer.body.count / 2)
            if isChunked {
                let size = Array("\(String(answer.body.count, radix: 16))\r\n".utf8)
                _ = send(answer.head(with: [("Transfer-Encoding", "chunked")]) + size + half)
            } else {
                _ = send(answer.head(with: [length]) + half)
            }
            return false
        case .endless:
            let spaces = [UInt8](repeating: UInt8(ascii: " "), count: 0x4000)
            let chunk = Array("4000\r\n".utf8) + spaces + Array("\r\n".utf8)
            guard send(answer.head(with: [("Transfer-Encoding", "chunked")])) else { return false }
            while send(chunk) {}
            return false
        case .raw(let bytes):
            _ = send(Array(bytes.utf8))
            return false
        case .answer(let status, let headers, let body):
            return send(FakeUpstream.Answer(status: status, headers: headers, body: body).bytes)
        }
    }

    private func drip(_ bytes: [UInt8], every interval: Duration) -> Bool {
        bytes.allSatisfy { byte in
            guard send([byte]) else { return false }
            // Ends early if the connection is shut down or reset.
            var end = pollfd(fd: descriptor, events: 0, revents: 0)
            return poll(&end, 1, CInt(interval / .milliseconds(1))) == 0
        }
    }

    /// Copies bytes in both directions until either side ends.
    private func relay() -> Bool {
        guard let tunnel, let other = tunnel() else {
            return send(Array("HTTP/1.1 405 Whatever\r\nContent-Length: 0\r\n\r\n".utf8))
        }
        guard server.add(other) else {
            close(other)
            return false
        }
        defer { server.close(other) }
        guard send(Array("HTTP/1.1 200 Connection established\r\n\r\n".utf8)) else { return false }
        var ends = [descriptor, other].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        while poll(&ends, 2, -1) > 0 {
            for (from, to) in [(0, 1), (1, 0)] where ends[from].revents != 0 {
                guard let bytes = receive(from: ends[from].fd), send(bytes, to: ends[to].fd) else { return false }
            }
        }
        return false
    }

    private func send(_ bytes: [UInt8]) -> Bool { send(bytes, to: descriptor) }

    private func send(_ bytes: [UInt8], to descriptor: CInt) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL)) }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// The received bytes; nil at the end.
    private func receive(from descriptor: CInt) -> [UInt8]? {
        let bytes = [UInt8](unsafeUninitializedCapacity: 65_536) { buffer, count in
            // A failure initializes nothing.
            count = max(recv(descriptor, buffer.baseAddress, buffer.count, 0), 0)
        }
        return bytes.isEmpty ? nil : bytes
    }
}
