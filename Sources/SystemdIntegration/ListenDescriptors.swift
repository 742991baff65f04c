import CSystemd
import Glibc
package import NorrisSystem

/// The listening socket that the service manager passes: sd_listen_fds(3).
package enum ListenDescriptors {
    /// The one Unix stream socket that was passed to this process, already listening and marked close-on-exec.
    ///
    /// Removes `LISTEN_PID`, `LISTEN_FDS` and `LISTEN_FDNAMES` from the environment, so a second call finds nothing;
    /// call it before any other thread runs. The caller owns the descriptor.
    /// - Returns: nil if the service manager passed no descriptor, or the descriptors are for another process.
    package static func inherited() throws(ExplainedError) -> CInt? {
        let count = sd_listen_fds(1)
        guard count >= 0 else {
            throw ExplainedError(
                "The variables LISTEN_PID and LISTEN_FDS cannot be used (\(SystemError.reason(-count))): "
                    + "start norrisd through norrisd.socket, or unset both.")
        }
        // SD_LISTEN_FDS_START
        let first: CInt = 3
        return try listening(among: first..<(first + count))
    }

    /// The listening Unix stream socket among passed descriptors; nil if there are none.
    package static func listening(among descriptors: Range<CInt>) throws(ExplainedError) -> CInt? {
        guard let descriptor = descriptors.first else { return nil }
        guard descriptors.count == 1 else {
            throw ExplainedError(
                "\(descriptors.count) sockets were passed to norrisd, which serves exactly one: "
                    + "keep a single ListenStream= in norrisd.socket.")
        }
        guard isUnixStream(descriptor, listening: -1) else {
            throw ExplainedError(
                "Descriptor \(descriptor) passed to norrisd is not a Unix stream socket: "
                    + "use ListenStream= with a path in norrisd.socket.")
        }
        // Such as one accepted connection.
        guard isUnixStream(descriptor, listening: 1) else {
            throw ExplainedError(
                "Descriptor \(descriptor) passed to norrisd is not a listening socket: "
                    + "set Accept=no in norrisd.socket.")
        }
        return descriptor
    }

    /// sd_is_socket_unix(3) for stream sockets of any path; `listening` is 1 for yes, -1 for either.
    private static func isUnixStream(_ descriptor: CInt, listening: CInt) -> Bool {
        sd_is_socket_unix(descriptor, CInt(SOCK_STREAM.rawValue), listening, nil, 0) > 0
    }
}
