import Glibc
import NorrisProtocol

extension Connection {
    /// Connects to the first candidate that accepts.
    ///
    /// A daemon that is there but busy is waited for until the deadline. When no candidate accepts, the most telling
    /// error is thrown.
    package static func open(
        candidates: [String], deadline: Deadline, ticker: Ticker? = nil
    ) throws(ClientError) -> Connection {
        var failures: [ClientError] = []
        for path in candidates {
            do {
                return try open(path: path, deadline: deadline, ticker: ticker)
            } catch .timedOut {
                throw .timedOut(path: path)
            } catch {
                failures.append(error)
            }
        }
        throw .mostTelling(of: failures)
    }

    private static func open(
        path: String, deadline: Deadline, ticker: Ticker?
    ) throws(ClientError) -> Connection {
        do {
            try SocketPath.validate(path)
        } catch {
            throw .pathTooLong(path: path)
        }
        let flags = SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | flags), 0)
        guard descriptor >= 0 else { throw .system(path: path, errno: errno) }
        let connection = Connection(descriptor: descriptor, path: path, deadline: deadline, ticker: ticker)
        while true {
            switch connect(descriptor, to: path) {
            case 0, EISCONN:
                return connection
            case EINTR:
                continue
            case EAGAIN:
                // The backlog is full. There is no event to wait for (connect(2): Unix sockets give EAGAIN, not
                // EINPROGRESS), so it is tried again every two milliseconds.
                guard !deadline.hasPassed else { throw .timedOut(path: path) }
                _ = ticker?()
                poll(nil, 0, min(2, deadline.pollTimeout))
            case let error:
                throw .connecting(to: path, errno: error, isSocket: isSocket(path))
            }
        }
    }

    /// Zero or the error number of connect(2). The path is short enough, and not empty.
    private static func connect(_ descriptor: Int32, to path: String) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        return withUnsafeBytes(of: &address) { bytes in
            // `sockaddr_un` is made to be passed as the `sockaddr` it begins like (unix(7)); the base of a value's
            // bytes is never nil.
            let pointer = bytes.baseAddress!.assumingMemoryBound(to: sockaddr.self)
            return Glibc.connect(descriptor, pointer, socklen_t(bytes.count)) == 0 ? 0 : errno
        }
    }

    private static func isSocket(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK
    }
}
