package import Glibc
package import NorrisProtocol
import NorrisSystem

/// A client that only knows lines. It blocks, with timeouts that suffice on a busy machine.
package final class LineClient {
    package struct Failure: Error, CustomStringConvertible {
        package let description: String

        package init(description: String) { self.description = description }
    }

    package private(set) var descriptor: CInt
    private var received: [UInt8] = []

    package init(path: String) throws {
        descriptor = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        var timeout = timeval(tv_sec: 60, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        guard withUnixAddress(path, { connect(descriptor, $0, $1) }) == 0 else { throw LineClient.failure("connect") }
    }

    deinit { close() }

    package func close() {
        if descriptor >= 0 { Glibc.close(descriptor) }
        descriptor = -1
    }

    package func send(line: String) throws {
        let bytes = Array(line.utf8) + [UInt8(ascii: "\n")]
        guard Glibc.send(descriptor, bytes, bytes.count, CInt(MSG_NOSIGNAL)) == bytes.count else {
            throw LineClient.failure("send")
        }
    }

    /// The next line without LF; nil if the server has closed.
    package func receiveLine() throws -> String? {
        var searched = 0
        while true {
            let end = received.withUnsafeBytes { bytes in
                bytes.baseAddress.flatMap { base in
                    memchr(base + searched, 0x0A, bytes.count - searched).map { UnsafeRawPointer($0) - base }
                }
            }
            if let end {
                defer { received.removeSubrange(...end) }
                return String(decoding: received[..<end], as: UTF8.self)
            }
            searched = received.count
            if try !receiveMore() {
                if !received.isEmpty { throw Failure(description: "The last line has no end.") }
                return nil
            }
        }
    }

    /// All bytes until the server closes.
    package func receiveToEnd() throws -> [UInt8] {
        while try receiveMore() {}
        defer { received = [] }
        return received
    }

    private func receiveMore() throws -> Bool {
        let (count, code) = withUnsafeTemporaryAllocation(byteCount: 65_536, alignment: 1) { buffer in
            let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
            if count > 0 { received.append(contentsOf: buffer[..<count]) }
            return (count, errno)
        }
        if count < 0, code == EINTR { return true }
        guard count >= 0 else { throw Failure(description: "recv: \(SystemError.reason(code))") }
        return count > 0
    }

    /// Ends the sending side.
    package func endInput() { shutdown(descriptor, CInt(SHUT_WR)) }

    /// Calls a method and reads its result, skipping events.
    ///
    /// - Parameter params: JSON.
    /// - Throws: `ResponseError` for an error of the daemon.
    package func call<M: Method>(_ method: M.Type, _ params: String = "{}") throws -> M.Result {
        try send(line: #"{"jsonrpc":"2.0","id":1,"method":"\#(method.name)","params":\#(params)}"#)
        while let line = try receiveLine() {
            if try event(in: line) != nil { continue }
            return try Response(parsing: Array(line.utf8)).outcome.get().decoded()
        }
        throw Failure(description: "The server has closed before it answered \(M.name).")
    }

    /// The next event; replies before it are skipped.
    package func receiveEvent() throws -> Event {
        while let line = try receiveLine() {
            if let event = try event(in: line) { return event }
        }
        throw Failure(description: "The server has closed before the next event.")
    }

    private func event(in line: String) throws -> Event? {
        try Array(line.utf8)[...].withRawBytes { bytes in
            try Event.params(of: try JSONValue(parsing: bytes)).map { try Event(json: $0) }
        }
    }

    /// Waits for the next event of a phase; other events are skipped.
    @discardableResult package func wait(for phase: Event.Phase) throws -> Event {
        while true {
            let event = try receiveEvent()
            if event.phase == phase { return event }
        }
    }

    private static func failure(_ call: String) -> Failure {
        Failure(description: "\(call): \(SystemError.reason())")
    }
}

/// Calls a system function with the address of a Unix socket.
///
/// - Parameter path: at most 107 bytes; `@` and a name for an abstract socket (unix(7)).
package func withUnixAddress<Result>(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let name = path.hasPrefix("@") ? "\0" + path.dropFirst() : path
    precondition(name.utf8.count < MemoryLayout.size(ofValue: address.sun_path), "The path is too long")
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name.utf8) }
    let length = socklen_t(MemoryLayout<sa_family_t>.size + name.utf8.count)
    return withUnsafePointer(to: address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
    }
}
