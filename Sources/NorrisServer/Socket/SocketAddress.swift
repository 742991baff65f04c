import Glibc
import NorrisProtocol

/// A path in the form the socket calls want (unix(7)).
struct SocketAddress {
    let path: String
    private var address: sockaddr_un

    init(path: String) throws(ListenError) {
        guard path.utf8.count <= SocketPath.maximumBytes, !path.isEmpty, !path.utf8.contains(0) else {
            throw ListenError(path: path, .unusablePath)
        }
        self.path = path
        address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    }

    func withPointer<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}
