import CLinux
import Glibc
import NorrisSystem

/// A Unix stream socket that listens, and whether it is ours to remove.
package struct ListeningSocket: Sendable {
    /// Owned by whoever holds this value; the server closes it.
    package let descriptor: CInt
    /// Where this process bound it; nil for a socket inherited from systemd, which outlives us.
    package let boundPath: String?
    /// The inode bound at that path, so that a successor's socket is never removed.
    private let inode: ino_t

    /// The longest queue of connections the kernel holds for us; it lowers the number to its own limit.
    private static let backlog: CInt = 4096

    /// Takes over a socket that systemd opened (sd_listen_fds(3)).
    package init(inherited descriptor: CInt) {
        self.descriptor = descriptor
        boundPath = nil
        inode = 0
    }

    /// Binds a path. A stale socket is removed after a dial has shown that nobody listens; a live one never is.
    ///
    /// - Parameter mode: the permissions of the socket's file, such as 0o600.
    package init(binding path: String, mode: UInt32) throws(ListenError) {
        guard let address = SocketAddress(path: path) else { throw ListenError(path: path, .unusablePath) }
        // The lock on the folder keeps two daemons from removing and binding the same path at the same time.
        let lock = try ListeningSocket.lockFolder(of: path)
        defer { close(lock) }
        try ListeningSocket.removeStale(path, address)

        let descriptor = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw ListenError(path: path, .system("socket", errno)) }
        // The file gets what its socket has, so nobody else can connect between bind and chmod; a mask would be the
        // whole process's.
        fchmod(descriptor, 0o600)
        guard address.withPointer({ bind(descriptor, $0, $1) }) == 0 else {
            let error = errno
            close(descriptor)
            throw ListenError(path: path, error == EACCES ? .notPermitted : .system("bind", error))
        }
        var status = stat()
        guard chmod(path, mode) == 0, stat(path, &status) == 0, Glibc.listen(descriptor, ListeningSocket.backlog) == 0
        else {
            let error = errno
            close(descriptor)
            unlink(path)
            throw ListenError(path: path, .system("listen", error))
        }
        self.descriptor = descriptor
        boundPath = path
        inode = status.st_ino
    }

    /// Listens with our own backlog; an inherited socket may have a shorter one, and connects past it are refused.
    func listen() throws(ListenError) {
        guard Glibc.listen(descriptor, ListeningSocket.backlog) == 0 else {
            throw ListenError(path: boundPath ?? "the inherited socket", .system("listen", errno))
        }
        // The event loop accepts until nobody waits.
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
    }

    /// Removes the file of a socket this process bound, unless somebody else's is there by now.
    ///
    /// While the socket is open its inode cannot be given to another file, so this comes before closing it.
    package func removeFile() {
        var status = stat()
        if let boundPath, lstat(boundPath, &status) == 0, status.st_ino == inode { unlink(boundPath) }
    }

    private static func removeStale(_ path: String, _ address: SocketAddress) throws(ListenError) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFSOCK else { throw ListenError(path: path, .notASocket) }
        let kind = CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue) | CInt(SOCK_NONBLOCK.rawValue)
        let probe = socket(AF_UNIX, kind, 0)
        guard probe >= 0 else { throw ListenError(path: path, .system("socket", errno)) }
        defer { close(probe) }
        // A full backlog gives EAGAIN, which is a sign of life too; only a refusal means that nobody listens.
        let outcome = address.withPointer({ connect(probe, $0, $1) }) == 0 ? 0 : errno
        switch outcome {
        case ECONNREFUSED: break
        case EACCES, EPERM: throw ListenError(path: path, .notPermitted)
        default: throw ListenError(path: path, .inUse)
        }
        guard unlink(path) == 0 || errno == ENOENT else { throw ListenError(path: path, .notPermitted) }
    }

    /// Takes an exclusive flock(2) on the folder of a path, which leaves no file behind.
    ///
    /// - Returns: the descriptor that holds it.
    private static func lockFolder(of path: String) throws(ListenError) -> CInt {
        let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
        let folder = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else {
            switch errno {
            case ENOENT, ENOTDIR: throw ListenError(path: path, .noFolder(folder))
            case EACCES: throw ListenError(path: path, .notPermitted)
            default: throw ListenError(path: path, .system("open", errno))
            }
        }
        // Whoever can read the folder can hold its lock, so after a second we start without it. Then, as on a file
        // system that has no locks, only the protection from the race is lost.
        var attempts = 100
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK || errno == EINTR, attempts > 0 {
            attempts -= 1
            poll(nil, 0, 10)
        }
        return descriptor
    }
}

/// Why a socket cannot be listened on, with what to do about it.
package struct ListenError: Error, Equatable, CustomStringConvertible {
    package enum Reason: Equatable, Sendable {
        /// Another process listens there.
        case inUse
        /// The path holds a file of another kind.
        case notASocket
        case notPermitted
        case noFolder(String)
        /// Empty, longer than sun_path holds, or with a NUL.
        case unusablePath
        case system(String, CInt)
    }

    package let path: String
    package let reason: Reason

    package init(path: String, _ reason: Reason) { (self.path, self.reason) = (path, reason) }

    package var description: String {
        let fault =
            switch reason {
            case .inUse: "another daemon answers on this socket; stop it, or choose another path with --socket"
            case .notASocket: "there is a file that is not a socket; remove it, or choose another path with --socket"
            case .notPermitted:
                "this user cannot create a socket there; let systemd create it (norrisd.socket), "
                    + "or choose another path with --socket"
            case .noFolder(let folder): "there is no folder \(folder); make it, or choose another path with --socket"
            case .unusablePath:
                "a socket's path has 1 to \(SocketPath.maximumBytes) bytes; choose a shorter one with --socket"
            case .system(let call, let code): SystemError(call, code: code).description
            }
        return "\(path): \(fault)"
    }
}
