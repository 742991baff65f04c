import Foundation
import Synchronization

/// The service manager's end of `NOTIFY_SOCKET` (sd_notify(3)): reads what a daemon says of itself.
package final class NotifySocket: Sendable {
    package let path: String
    private let descriptor: Int32
    private let received = Mutex<[String]>([])

    /// - Parameter path: where to listen, short enough for a socket.
    package init(path: String) {
        self.path = path
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        precondition(path.utf8.count < MemoryLayout.size(ofValue: address.sun_path), "The path is too long")
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let bound = withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        precondition(bound == 0, "The notification socket cannot be bound")
        // Short, so that whoever waits can look whether the daemon still lives.
        var patience = timeval(tv_sec: 0, tv_usec: 100_000)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit {
        close(descriptor)
    }

    /// Waits for a message that holds a line, while the daemon lives and ten minutes at most.
    ///
    /// - Returns: the whole message; nil where none came.
    package func wait(for line: String, while isAlive: () -> Bool = { true }) -> String? {
        var bytes = [UInt8](repeating: 0, count: 8192)
        var silences = 0
        while silences < 6000 {
            let count = recv(descriptor, &bytes, bytes.count, 0)
            guard count >= 0 else {
                if !isAlive() { return nil }
                silences += 1
                continue
            }
            let message = String(decoding: bytes[..<count], as: UTF8.self)
            received.withLock { $0.append(message) }
            if message.split(separator: "\n").contains(Substring(line)) { return message }
        }
        return nil
    }

    /// The lines of all messages that were waited for, or came before them.
    package var lines: [Substring] { received.withLock { $0 }.flatMap { $0.split(separator: "\n") } }
}
