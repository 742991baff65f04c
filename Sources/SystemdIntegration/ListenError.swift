import Glibc

/// Why the descriptors passed by the service manager cannot be served on.
package enum ListenError: Error, Equatable, CustomStringConvertible {
    /// The `LISTEN_…` variables are malformed or name descriptors that are not open.
    case unreadableEnvironment(errno: CInt)
    /// Several descriptors were passed.
    case moreThanOne(count: Int)
    /// The descriptor is something else than an AF_UNIX socket of type SOCK_STREAM.
    case notUnixStream(descriptor: CInt)
    /// A Unix stream socket on which nobody called listen(2), such as one accepted connection.
    case notListening(descriptor: CInt)
    /// The descriptor could not be looked at.
    case unusable(descriptor: CInt, errno: CInt)

    package var description: String {
        switch self {
        case .unreadableEnvironment(let errno):
            "The variables LISTEN_PID and LISTEN_FDS cannot be used (\(errnoText(errno))): "
                + "start norrisd through norrisd.socket, or unset both."
        case .moreThanOne(let count):
            "\(count) sockets were passed to norrisd, which serves exactly one: "
                + "keep a single ListenStream= in norrisd.socket."
        case .notUnixStream(let descriptor):
            "Descriptor \(descriptor) passed to norrisd is not a Unix stream socket: "
                + "use ListenStream= with a path in norrisd.socket."
        case .notListening(let descriptor):
            "Descriptor \(descriptor) passed to norrisd is not a listening socket: "
                + "set Accept=no in norrisd.socket."
        case .unusable(let descriptor, let errno):
            "Descriptor \(descriptor) passed to norrisd cannot be used (\(errnoText(errno))): "
                + "restart norrisd.socket."
        }
    }
}
