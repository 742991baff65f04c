import CLinux
import Glibc
package import NorrisSystem

/// A listening Unix stream socket, and whether this process must remove its file.
package struct ListeningSocket: Sendable {
    /// Owned by the holder of this value; the server closes it.
    package let descriptor: CInt
    /// The path that this process bound; nil for a socket inherited from systemd, which outlives the process.
    package let boundPath: String?
    /// The inode of the bound file, so that a successor's socket is never removed.
    private let inode: ino_t

    /// Uses a socket that systemd opened (sd_listen_fds(3)).
    package init(inherited descriptor: CInt) {
        self.descriptor = descriptor
        boundPath = nil
        inode = 0
    }

    /// Binds a path. Removes a stale socket after a connection attempt was refused, and never a live socket.
    ///
    /// - Parameter mode: the permissions of the socket's file, such as 0o600.
    package init(binding path: String, mode: UInt32) throws(ExplainedError) {
        guard let address = SocketAddress(path: path) else {
            throw Self.error(
                path, "a socket's path has 1 to \(SocketPath.maximumBytes) bytes; choose a shorter one with --socket")
        }
        // The lock on the folder prevents two daemons from removing and binding the same path at the same time.
        let lock = try ListeningSocket.lockFolder(of: path)
        defer { close(lock) }
        try ListeningSocket.removeStale(path, address)

        let descriptor = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw Self.error(path, "\(SystemError("socket"))") }
        // The file inherits the mode of the socket, so no other user can connect between bind and chmod. A umask would
        // change the whole process.
        fchmod(descriptor, 0o600)
        guard address.withPointer({ bind(descriptor, $0, $1) }) == 0 else {
            let failure = SystemError("bind")
            close(descriptor)
            throw failure.code == EACCES ? Self.notPermitted(path) : Self.error(path, "\(failure)")
        }
        var status = stat()
        guard chmod(path, mode) == 0, stat(path, &status) == 0, Glibc.listen(descriptor, Limit.backlog) == 0
        else {
            let failure = SystemError("listen")
            close(descriptor)
            unlink(path)
            throw Self.error(path, "\(failure)")
        }
        self.descriptor = descriptor
        boundPath = path
        inode = status.st_ino
    }

    /// Listens with this backlog, because an inherited socket may have a shorter backlog that refuses connections.
    func listen() throws(ExplainedError) {
        guard Glibc.listen(descriptor, Limit.backlog) == 0 else {
            throw Self.error(boundPath ?? "the inherited socket", "\(SystemError("listen"))")
        }
        // The event loop accepts until the queue is empty.
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
    }

    /// Removes the file of a bound socket, unless the file belongs to another socket now.
    ///
    /// Called before the socket is closed, because until then no other file can have the inode.
    package func removeFile() {
        var status = stat()
        if let boundPath, lstat(boundPath, &status) == 0, status.st_ino == inode { unlink(boundPath) }
    }

    private static func removeStale(_ path: String, _ address: SocketAddress) throws(ExplainedError) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFSOCK else {
            throw error(path, "there is a file that is not a socket; remove it, or \(otherPath)")
        }
        let kind = CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue) | CInt(SOCK_NONBLOCK.rawValue)
        let probe = socket(AF_UNIX, kind, 0)
        guard probe >= 0 else { throw error(path, "\(SystemError("socket"))") }
        defer { close(probe) }
        // A full backlog returns EAGAIN, which also shows a live socket. Only ECONNREFUSED shows a stale socket.
        let outcome = address.withPointer({ connect(probe, $0, $1) }) == 0 ? 0 : errno
        switch outcome {
        case ECONNREFUSED: break
        case EACCES, EPERM: throw notPermitted(path)
        default:
            throw error(
                path, "another daemon answers on this socket; stop it, or \(otherPath)", exitStatus: EX_TEMPFAIL)
        }
        guard unlink(path) == 0 || errno == ENOENT else { throw notPermitted(path) }
    }

    /// Takes an exclusive flock(2) on the folder of a path, which leaves no file.
    ///
    /// - Returns: the descriptor that holds the lock.
    private static func lockFolder(of path: String) throws(ExplainedError) -> CInt {
        let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
        let folder = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else {
            switch errno {
            case ENOENT, ENOTDIR: throw error(path, "there is no folder \(folder); make it, or \(otherPath)")
            case EACCES: throw notPermitted(path)
            default: throw error(path, "\(SystemError("open"))")
            }
        }
        // Any process that can read the folder can hold its lock, so after a second the start continues without the
        // lock. Then, as on a file system without locks, only the protection against the race is missing.
        var attempts = 100
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK || errno == EINTR, attempts > 0 {
            attempts -= 1
            poll(nil, 0, 10)
        }
        return descriptor
    }

    private static func error(_ path: String, _ reason: String, exitStatus: CInt = EX_CANTCREAT) -> ExplainedError {
        ExplainedError("\(path): \(reason)", exitStatus: exitStatus)
    }

    private static func notPermitted(_ path: String) -> ExplainedError {
        let advice = "let systemd create it (norrisd.socket), name a folder in XDG_RUNTIME_DIR, or \(otherPath)"
        return error(path, "this user cannot create a socket there; \(advice)")
    }

    private static let otherPath = "choose another path with --socket"
}
