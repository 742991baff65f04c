import CSystemd
import Glibc

/// The listening socket handed over by the service manager: sd_listen_fds(3).
package enum ListenDescriptors {
    /// The one Unix stream socket that was passed to this process, already listening and marked close-on-exec.
    ///
    /// Removes `LISTEN_PID`, `LISTEN_FDS` and `LISTEN_FDNAMES` from the environment, so a second call finds nothing;
    /// call it before any other thread runs. The caller owns the descriptor.
    /// - Returns: nil when nothing was passed, or what was passed is meant for another process.
    package static func inherited() throws(ListenError) -> CInt? {
        let count = sd_listen_fds(1)
        guard count >= 0 else { throw .unreadableEnvironment(errno: -count) }
        // SD_LISTEN_FDS_START
        let first: CInt = 3
        return try listening(among: first..<(first + count))
    }

    /// The one listening Unix stream socket among descriptors that were passed; nil when there are none.
    package static func listening(among descriptors: Range<CInt>) throws(ListenError) -> CInt? {
        guard let descriptor = descriptors.first else { return nil }
        guard descriptors.count == 1 else { throw .moreThanOne(count: descriptors.count) }
        guard try check(descriptor, listening: -1) else { throw .notUnixStream(descriptor: descriptor) }
        guard try check(descriptor, listening: 1) else { throw .notListening(descriptor: descriptor) }
        return descriptor
    }

    /// sd_is_socket_unix(3) for stream sockets of any path; `listening` is 1 for yes, -1 for either.
    private static func check(_ descriptor: CInt, listening: CInt) throws(ListenError) -> Bool {
        let result = sd_is_socket_unix(descriptor, CInt(SOCK_STREAM.rawValue), listening, nil, 0)
        guard result >= 0 else { throw .unusable(descriptor: descriptor, errno: -result) }
        return result > 0
    }
}
