import Glibc

/// A port of this machine that nobody else is given, whether or not anything listens on it.
///
/// A socket that is bound but does not listen refuses connections, and lets another with SO_REUSEADDR listen on its
/// port (socket(7)). NIO's own sockets are inherited by child processes, which other tests start at the same time: such
/// a child would keep a port open that is closed here.
final class PortReservation: Sendable {
    let port: Int
    private let host: String
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

    /// Another socket on the port, for one who listens and closes it.
    func socket() -> CInt {
        PortReservation.bound(host, port: port).descriptor
    }

    private static func bound(_ host: String, port: Int) -> (descriptor: CInt, port: Int) {
        let descriptor = Glibc.socket(AF_INET, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        var isReused: CInt = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &isReused, socklen_t(MemoryLayout<CInt>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        inet_pton(AF_INET, host, &address.sin_addr)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                // A program that another test has just started may hold what was closed, until it is another program.
                var patience = 3000
                while bind(descriptor, address, length) != 0 {
                    guard errno == EADDRINUSE, patience > 0 else { return false }
                    patience -= 1
                    poll(nil, 0, 10)
                }
                return getsockname(descriptor, address, &length) == 0
            }
        }
        precondition(isBound, "No port \(port) on \(host)")
        return (descriptor, Int(in_port_t(bigEndian: address.sin_port)))
    }
}
