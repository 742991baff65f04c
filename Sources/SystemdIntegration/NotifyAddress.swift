import CSystemd
import Glibc

/// A Unix socket on which a service manager listens for notifications.
///
/// sd_notify(3) waits for ever where the manager does not read, and ten datagrams are all that many kernels keep for it
/// (`net.unix.max_dgram_qlen`). A daemon that serves must not hang because nobody listens to how it is.
struct NotifyAddress {
    /// How long a datagram waits for its place in the manager's queue, in microseconds.
    static let patience = 100_000

    private let address: sockaddr_un
    private let length: socklen_t

    /// - Parameter name: a path, or `@` and the rest of an abstract name (unix(7)); nil for anything else, and for what
    ///   is too long.
    init?(_ name: String) {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var bytes = Array(name.utf8)
        switch bytes.first {
        case UInt8(ascii: "@"): bytes[0] = 0
        case UInt8(ascii: "/"): bytes.append(0)
        default: return nil
        }
        guard bytes.count <= MemoryLayout.size(ofValue: address.sun_path) else { return nil }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        self.address = address
        // The path begins behind the family.
        length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
    }

    /// - Returns: whether the manager has it in its queue.
    func send(_ message: String) -> Bool {
        let descriptor = socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var patience = timeval(tv_sec: 0, tv_usec: NotifyAddress.patience)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        let bytes = Array(message.utf8)
        let sent = withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                sendto(descriptor, bytes, bytes.count, CInt(MSG_NOSIGNAL), $0, length)
            }
        }
        return sent == bytes.count
    }
}
