import CSystemd
import Glibc
import NorrisSystem

/// The listening socket that the service manager passes: sd_listen_fds(3).
package enum ListenDescriptors {
    /// The one Unix stream socket that was passed to this process, already listening and marked close-on-exec.
    ///
    /// Removes `LISTEN_PID`, `LISTEN_FDS` and `LISTEN_FDNAMES` from the environment, so a second call finds nothing;
    /// call it before any other thread runs. The caller owns the descriptor.
    /// - Returns: nil if the service manager passed no descriptor, or the descriptors are for another process.
    package static func inherited() throws(ListenError) -> CInt? {
        let count = sd_listen_fds(1)
        guard count >= 0 else { throw .unreadableEnvironment(errno: -count) }
        // SD_LISTEN_FDS_START
        let first: CInt = 3
        return try listening(among: first..<(first + count))
    }

    /// The listening Unix stream socket among passed descriptors; nil if there are none.
    package static func listening(among descriptors: Range<CInt>) throws(ListenError) -> CInt? {
        guard let descriptor = descriptors.first else { return nil }
        guard descriptors.count == 1 else { throw .moreThanOne(count: descriptors.count) }
        guard isUnixStream(descriptor, listening: -1) else { throw .notUnixStream(descriptor: descriptor) }
        guard isUnixStream(descriptor, listening: 1) else { throw .notListening(descriptor: descriptor) }
        return descriptor
    }

    /// sd_is_socket_unix(3) for stream sockets of any path; `listening` is 1 for yes, -1 for either.
    private static func isUnixStream(_ descriptor: CInt, listening: CInt) -> Bool {
        sd_is_socket_unix(descriptor, CInt(SOCK_STREAM.rawValue), listening, nil, 0) > 0
    }
}

/// The reason why the passed descriptors cannot be served.
package enum ListenError: Error, Equatable, CustomStringConvertible {
    /// The `LISTEN_…` variables are malformed or name descriptors that are not open.
    case unreadableEnvironment(errno: CInt)
    case moreThanOne(count: Int)
    /// The descriptor is not an AF_UNIX socket of type SOCK_STREAM.
    case notUnixStream(descriptor: CInt)
    /// A Unix stream socket without listen(2), such as one accepted connection.
    case notListening(descriptor: CInt)

    package var description: String {
        switch self {
        case .unreadableEnvironment(let errno):
            "The variables LISTEN_PID and LISTEN_FDS cannot be used (\(SystemError.reason(errno))): "
                + "start norrisd through norrisd.socket, or unset both."
        case .moreThanOne(let count):
            "\(count) sockets were passed to norrisd, which serves exactly one: "
                + "keep a single ListenStream= in norrisd.socket."
        case .notUnixStream(let descriptor):
            "Descriptor \(descriptor) passed to norrisd is not a Unix stream socket: "
                + "use ListenStream= with a path in norrisd.socket."
        case .notListening(let descriptor):
            "Descriptor \(descriptor) passed to norrisd is not a listening socket: set Accept=no in norrisd.socket."
        }
    }
}
