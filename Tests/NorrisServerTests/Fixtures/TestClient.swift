import Glibc

/// A peer of the server on a real socket. Blocks; a call that nothing comes of for half a minute throws.
final class TestClient {
    struct Failure: Error {
        let call: String
        let code: CInt
    }

    private var descriptor: CInt
    private var received: [UInt8] = []

    init(path: String) throws {
        descriptor = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let result = withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard result == 0 else { throw Failure(call: "connect", code: errno) }
        var patience = timeval(tv_sec: 300, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit {
        close()
    }

    func close() {
        if descriptor >= 0 { Glibc.close(descriptor) }
        descriptor = -1
    }

    func send(_ text: String) throws {
        try send(Array(text.utf8))
    }

    func send(_ bytes: [UInt8]) throws {
        var sent = 0
        while sent < bytes.count {
            sent += try sendSome(bytes[sent...], flags: 0)
        }
    }

    /// Sends what the kernel takes at once; 0 where it takes nothing.
    func sendAvailable(_ bytes: ArraySlice<UInt8>) throws -> Int {
        try sendSome(bytes, flags: CInt(MSG_DONTWAIT))
    }

    private func sendSome(_ bytes: ArraySlice<UInt8>, flags: CInt) throws -> Int {
        let flags = flags | CInt(MSG_NOSIGNAL)
        let count = bytes.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, flags) }
        if count < 0, flags & CInt(MSG_DONTWAIT) != 0, errno == EAGAIN { return 0 }
        guard count >= 0 else { throw Failure(call: "send", code: errno) }
        return count
    }

    /// No more will be sent.
    func endInput() {
        shutdown(descriptor, CInt(SHUT_WR))
    }

    /// The next line without its LF; nil at the end.
    func receiveLine() throws -> String? {
        var searched = 0
        while true {
            if let end = indexOfLineFeed(from: searched) {
                let line = String(decoding: received[..<end], as: UTF8.self)
                received.removeFirst(end + 1)
                return line
            }
            searched = received.count
            guard try receiveMore() else {
                guard received.isEmpty else { throw Failure(call: "receiveLine, inside a line", code: 0) }
                return nil
            }
        }
    }

    private func indexOfLineFeed(from start: Int) -> Int? {
        received.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return nil }
            return memchr(base + start, 0x0A, bytes.count - start).map { UnsafeRawPointer($0) - base }
        }
    }

    /// What the next line says, as ``outline(_:)`` has it; nil at the end.
    func receiveOutline() throws -> String? {
        try receiveLine().map(outline)
    }

    /// All that comes until the server closes.
    func receiveToEnd() throws -> [UInt8] {
        while try receiveMore() {}
        defer { received = [] }
        return received
    }

    /// Waits until the server has closed, without reading anything.
    func waitForClose() throws {
        // POLLHUP comes unasked, once both directions are shut.
        try wait(for: 0)
    }

    /// Waits until there is something to be read, without reading it.
    func waitForBytes() throws {
        try wait(for: Int16(POLLIN))
    }

    private func wait(for events: Int16) throws {
        var entry = pollfd(fd: descriptor, events: events, revents: 0)
        guard poll(&entry, 1, 300_000) == 1 else { throw Failure(call: "poll", code: errno) }
    }

    private func receiveMore() throws -> Bool {
        let (count, code) = withUnsafeTemporaryAllocation(byteCount: 65_536, alignment: 1) { buffer in
            let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
            let code = errno
            if count > 0 { received.append(contentsOf: buffer[..<count]) }
            return (count, code)
        }
        guard count >= 0 else { throw Failure(call: "recv", code: code) }
        return count > 0
    }
}
