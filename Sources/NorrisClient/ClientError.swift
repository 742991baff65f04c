import Glibc

/// The reason why a call has no reply. Each case has another correction.
package enum ClientError: Error, Equatable {
    /// No socket exists at any path: the daemon was not started, or listens elsewhere.
    case noSocket(paths: [String])
    /// No process listens on the socket, because the daemon has ended.
    case refused(path: String)
    /// The permissions of the socket or of a parent folder do not permit a connection.
    case notPermitted(path: String)
    /// The path is not a stream socket.
    case notASocket(path: String)
    /// The path is too long for the address of a socket, or invalid (``SocketAddress``).
    case pathTooLong(path: String)
    /// The deadline passed during connecting, sending or waiting.
    case timedOut(path: String?)
    /// The connection ended before the first byte of a reply.
    case closed(path: String)
    /// The connection ended inside a line, or the line was longer than a reply or an error may be.
    case malformedReply(path: String, detail: String)
    /// A system call failed in another way.
    case system(path: String, errno: Int32)

    /// The meaning of an error number of connect(2) on a Unix socket.
    ///
    /// - Parameter isSocket: whether the path is a socket, because Linux uses the same number for a plain file and for
    ///   a socket without a listener.
    package static func connecting(to path: String, errno: Int32, isSocket: Bool) -> ClientError {
        switch errno {
        case ENOENT, ENOTDIR: .noSocket(paths: [path])
        case ECONNREFUSED: isSocket ? .refused(path: path) : .notASocket(path: path)
        case EACCES, EPERM: .notPermitted(path: path)
        case EPROTOTYPE: .notASocket(path: path)
        default: .system(path: path, errno: errno)
        }
    }

    /// The most informative error of all candidates: the error of the path that is most probably the daemon's socket,
    /// or the first of equal errors. Without any socket, all paths are named.
    package static func mostTelling(of failures: [ClientError]) -> ClientError {
        var paths: [String] = []
        var best: ClientError?
        for failure in failures {
            if case .noSocket(let missing) = failure {
                paths += missing
            } else if best.map({ failure.weight > $0.weight }) ?? true {
                best = failure
            }
        }
        return best ?? .noSocket(paths: paths)
    }

    private var weight: Int {
        switch self {
        case .timedOut, .closed, .malformedReply: 5
        case .notPermitted: 4
        case .refused: 3
        case .notASocket: 2
        case .pathTooLong, .system: 1
        case .noSocket: 0
        }
    }
}
