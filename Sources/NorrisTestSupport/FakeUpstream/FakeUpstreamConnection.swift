import Foundation
import Glibc
import Synchronization

/// One connection to a fake upstream, served by one thread: raw bytes in and out, so that every fault is possible.
struct FakeUpstreamConnection {
    private let server: FakeUpstreamServer
    private let descriptor: CInt
    private let tunnel: (@Sendable () -> CInt?)?

    /// - Parameters:
    ///   - descriptor: of the caller, who closes it.
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
            if case .firstBytes(let bytes)? = server.state.withLock({ $0.fault }) {
                _ = send(bytes)
                return
            }
            received += chunk
            while let end = received.indices.first(where: { received[$0...].starts(with: "\r\n\r\n".utf8) }) {
                let request = FakeUpstream.Request(head: String(decoding: received[..<end], as: UTF8.self))
                received.removeSubrange(..<(end + 4))
                guard take(request) else { return }
            }
        }
    }

    // In what follows the result tells whether the connection goes on.

    private func take(_ request: FakeUpstream.Request) -> Bool {
        let (number, held) = server.state.withLock { state in
            state.requests.append(request)
            let count = state.requests.count
            for watcher in state.watchers where watcher.count <= count { watcher.continuation.resume() }
            state.watchers.removeAll { $0.count <= count }
            guard state.held != nil else { return (count, DispatchSemaphore?.none) }
            let held = DispatchSemaphore(value: 0)
            state.held?.append(held)
            return (count, held)
        }
        held?.wait()
        return answer(request, number)
    }

    private func answer(_ request: FakeUpstream.Request, _ number: Int) -> Bool {
        let (own, fault, content, authorization) = server.state.withLock { state in
            (state.faults[request.path], state.fault, state.content, state.authorization)
        }
        let isConnect = request.method == "CONNECT"
        let isForProxy = isConnect || request.target.hasPrefix("http://")
        if let authorization, isForProxy, request.header("Proxy-Authorization") != authorization {
            return send(Array("HTTP/1.1 407 Whatever\r\nContent-Length: 0\r\n\r\n".utf8))
        }
        if isConnect, own == nil { return relay() }
        var isChanging = false
        if case .changing? = own ?? fault { isChanging = true }
        return answer(content.answer(to: request, changing: isChanging ? number : nil), with: own ?? fault)
    }

    private func answer(_ answer: FakeUpstream.Answer, with fault: FakeUpstream.Fault?) -> Bool {
        let length = ("Content-Length", "\(answer.body.count)")
        switch fault {
        case nil, .changing:
            return send(answer.bytes)
        case .reset:
            // Without lingering, a close is a reset (socket(7)).
            var option = linger(l_onoff: 1, l_linger: 0)
            setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
            return false
        case .hang, .greeting, .firstBytes:
            return true
        case .drip(let interval):
            return send(answer.head(with: [length])) && drip(answer.body, every: interval)
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
        case .hangingAfter(let bytes):
            return send(Array(bytes.utf8))
        case .answer(let status, let headers, let body):
            return send(FakeUpstream.Answer(status: status, headers: headers, body: body).bytes)
        }
    }

    private func drip(_ bytes: [UInt8], every interval: Duration) -> Bool {
        bytes.allSatisfy { byte in
            guard send([byte]) else { return false }
            // Ends early where the connection is shut down or reset.
            var end = pollfd(fd: descriptor, events: 0, revents: 0)
            return poll(&end, 1, CInt(interval / .milliseconds(1))) == 0
        }
    }

    /// Passes on bytes in both directions until either side ends.
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

    private func send(_ bytes: [UInt8]) -> Bool {
        send(bytes, to: descriptor)
    }

    private func send(_ bytes: [UInt8], to descriptor: CInt) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// What has arrived; nil at the end.
    private func receive(from descriptor: CInt) -> [UInt8]? {
        let bytes = [UInt8](unsafeUninitializedCapacity: 65_536) { buffer, count in
            // A failure initializes nothing.
            count = max(recv(descriptor, buffer.baseAddress, buffer.count, 0), 0)
        }
        return bytes.isEmpty ? nil : bytes
    }
}
