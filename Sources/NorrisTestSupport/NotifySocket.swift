import Foundation
import Synchronization

/// The service manager's end of `NOTIFY_SOCKET` (sd_notify(3)): reads what a daemon reports.
package final class NotifySocket: Sendable {
    /// As `NOTIFY_SOCKET` has it.
    package let path: String
    private let descriptor: Int32
    private let received = Mutex<[String]>([])

    /// - Parameter path: where to listen, short enough for a socket; `@` and a name for one without a file (unix(7)).
    package init(path: String) {
        self.path = path
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let name = path.hasPrefix("@") ? "\0" + path.dropFirst() : path
        precondition(name.utf8.count < MemoryLayout.size(ofValue: address.sun_path), "The path is too long")
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name.utf8) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + name.utf8.count)
        let bound = withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
        }
        precondition(bound == 0, "The notification socket cannot be bound")
    }

    deinit {
        close(descriptor)
    }

    /// The next message that has arrived; nil when there is none. A sent datagram is there at once.
    package func receive() -> String? { receive(within: 0) }

    /// Waits for a message that holds a line, while the daemon lives and ten minutes at most.
    ///
    /// - Returns: the whole message; nil where none came.
    package func wait(for line: String, while isAlive: () -> Bool = { true }) -> String? {
        for _ in 0..<6000 {
            if let message = receive(within: 100) {
                if message.split(separator: "\n").contains(Substring(line)) { return message }
            } else if !isAlive() {
                return nil
            }
        }
        return nil
    }

    /// The lines of all messages so far that were received or waited for.
    package var lines: [Substring] { received.withLock { $0 }.flatMap { $0.split(separator: "\n") } }

    private func receive(within milliseconds: Int32) -> String? {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&entry, 1, milliseconds) > 0 else { return nil }
        var bytes = [UInt8](repeating: 0, count: 8192)
        let count = recv(descriptor, &bytes, bytes.count, Int32(MSG_DONTWAIT))
        guard count >= 0 else { return nil }
        let message = String(decoding: bytes[..<count], as: UTF8.self)
        received.withLock { $0.append(message) }
        return message
    }
}
