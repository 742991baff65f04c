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

    /// A system call failed in a way that none of the other cases tells.
    case system(path: String, errno: Int32)
}
