import Glibc

extension ClientError {
    /// What an error number of connect(2) on a Unix socket means. `isSocket` tells whether the path is one: Linux
    /// refuses a connection to a plain file with the same number as one to a socket that nobody listens on.
    package static func connecting(to path: String, errno: Int32, isSocket: Bool) -> ClientError {
        switch errno {
        case ENOENT, ENOTDIR: .noSocket(paths: [path])
        case ECONNREFUSED: isSocket ? .refused(path: path) : .notASocket(path: path)
        case EACCES, EPERM: .notPermitted(path: path)
        case EPROTOTYPE: .notASocket(path: path)
        default: .system(path: path, errno: errno)
        }
    }

    /// The error to report when no candidate accepted: the one that tells most about what is wrong. If there is no
    /// socket anywhere, all the paths are named.
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

    /// How near the candidate was to being the daemon's socket; the first of equal ones is reported.
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
