import Glibc
import NIOCore

/// An address of IPv4 or IPv6 as its bytes.
struct IPAddress: Equatable, Sendable {
    /// 4 or 16, in network order.
    let bytes: [UInt8]

    var isVersion6: Bool { bytes.count == 16 }

    init(bytes: [UInt8]) {
        precondition(bytes.count == 4 || bytes.count == 16, "An address has 4 or 16 bytes")
        self.bytes = bytes
    }

    /// The textual forms of inet_pton(3), without zone; nil for anything else.
    init?(_ text: String) {
        var v4 = in_addr()
        var v6 = in6_addr()
        if inet_pton(AF_INET, text, &v4) == 1 {
            bytes = withUnsafeBytes(of: v4) { Array($0) }
        } else if inet_pton(AF_INET6, text, &v6) == 1 {
            bytes = withUnsafeBytes(of: v6) { Array($0) }
        } else {
            return nil
        }
    }

    /// The address of a connected peer; nil for a Unix socket.
    init?(_ address: SocketAddress) {
        guard let text = address.ipAddress else { return nil }
        self.init(text)
    }
}
