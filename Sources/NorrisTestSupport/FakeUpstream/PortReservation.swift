import Glibc

/// A TCP port of this machine that nobody else gets, whether or not anything listens on it.
///
/// A socket that is bound but does not listen refuses connections, and lets another with SO_REUSEADDR listen on its
/// port (socket(7)): one of `socket()`, or one of a child process such as nginx.
final class PortReservation: Sendable {
    let host: String
    let port: Int
    private let descriptor: CInt

    /// - Parameter host: an IPv4 address of this machine.
    init(host: String) {
        let (descriptor, port) = PortReservation.bound(host, port: 0)
        self.host = host
        self.descriptor = descriptor
        self.port = port
    }

    deinit {
        close(descriptor)
    }

    /// Another socket on the port, for a caller that listens on it and closes it.
    func socket() -> CInt {
        PortReservation.bound(host, port: port).descriptor
    }

    /// A connection to a port, for a caller that closes it; nil if there is none.
    static func connected(_ host: String, port: Int) -> CInt? {
        let descriptor = newSocket()
        if withAddress(host, port, { connect(descriptor, $0, $1) }) == 0 { return descriptor }
        close(descriptor)
        return nil
    }

    private static func bound(_ host: String, port: Int) -> (descriptor: CInt, port: Int) {
        let descriptor = newSocket()
        var isReused: CInt = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &isReused, socklen_t(MemoryLayout<CInt>.size))
        // A program that another test has just started may hold what was closed, until it is another program.
        var patience = 3000
        while withAddress(host, port, { bind(descriptor, $0, $1) }) != 0 {
            precondition(errno == EADDRINUSE && patience > 0, "No port \(port) on \(host)")
            patience -= 1
            poll(nil, 0, 10)
        }
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        precondition(status == 0, "A bound socket has no address")
        return (descriptor, Int(in_port_t(bigEndian: address.sin_port)))
    }

    private static func newSocket() -> CInt {
        let descriptor = Glibc.socket(AF_INET, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        precondition(descriptor >= 0, "No socket")
        return descriptor
    }

    private static func withAddress(
        _ host: String, _ port: Int, _ body: (UnsafePointer<sockaddr>, socklen_t) -> CInt
    ) -> CInt {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        inet_pton(AF_INET, host, &address.sin_addr)
        let length = socklen_t(MemoryLayout<sockaddr_in>.size)
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
        }
    }
}
