import Glibc

/// Why a call brought no reply. The cases are what a user can act on, told apart.
package enum ClientError: Error, Equatable {
    /// There is nothing at any of these paths: the daemon has not been started, or listens elsewhere.
    case noSocket(paths: [String])
    /// There is a socket, and nobody listens on it: the daemon has died.
    case refused(path: String)
    /// The permissions of the socket or of a folder above it forbid to connect.
    case notPermitted(path: String)
    /// There is something at the path that is not a stream socket.
    case notASocket(path: String)
    /// The path does not fit into the address of a socket, or is none (`SocketPath.validate`).
    case pathTooLong(path: String)
    /// The deadline has passed while connecting, sending or waiting for the reply.
    case timedOut(path: String?)
    /// The connection ended before the first byte of a reply.
    case closed(path: String)
    /// The connection ended inside a line, or the line was longer than a reply or an error may be.
    case malformedReply(path: String, detail: String)
    /// A system call failed in another way.
    case system(path: String, errno: Int32)

    /// What an error number of connect(2) on a Unix socket means.
    ///
    /// - Parameter isSocket: whether the path is one: Linux refuses a connection to a plain file with the same number
    ///   as one to a socket that nobody listens on.
    package static func connecting(to path: String, errno: Int32, isSocket: Bool) -> ClientError {
        switch errno {
        case ENOENT, ENOTDIR: .noSocket(paths: [path])
        case ECONNREFUSED: isSocket ? .refused(path: path) : .notASocket(path: path)
        case EACCES, EPERM: .notPermitted(path: path)
        case EPROTOTYPE: .notASocket(path: path)
        default: .system(path: path, errno: errno)
        }
    }

    /// The error to report when no candidate accepted: the one that is nearest to being the daemon's socket, the first
    /// of equal ones. If there is no socket anywhere, all the paths are named.
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
