import Glibc
import NorrisProtocol

extension ClientError: CustomStringConvertible {
    /// One sentence that names the socket and what to do.
    package var description: String {
        switch self {
        case .noSocket(let paths):
            "There is no socket at \(paths.joined(separator: " or ")); start norrisd."
        case .refused(let path):
            "Nobody listens on \(path); start norrisd again."
        case .notPermitted(let path):
            "You may not connect to \(path); ask its owner for permission or run a norrisd of your own."
        case .notASocket(let path):
            "\(path) is not a socket that norrisd listens on; name another path."
        case .pathTooLong(let path) where path.utf8.count <= SocketPath.maximumBytes:
            "The path of the socket is empty or holds a NUL byte; name a file."
        case .pathTooLong(let path):
            "The socket path \(path) has \(path.utf8.count) bytes; name one of at most \(SocketPath.maximumBytes)."
        case .timedOut(let path?):
            "norrisd at \(path) did not answer in time; try again or allow more time."
        case .timedOut(nil):
            "norrisd did not answer in time; try again or allow more time."
        case .closed(let path):
            "norrisd at \(path) closed the connection without a reply; try again or look into its log."
        case .malformedReply(let path, let detail):
            "norrisd at \(path) sent a reply that cannot be read (\(detail)); look into its log."
        case .system(let path, let errno):
            "The connection to \(path) failed: \(String(cString: strerror(errno)))."
        }
    }
}
