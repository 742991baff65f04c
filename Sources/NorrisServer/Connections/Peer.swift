package import Glibc

/// The process at the other end of a connection, as reported by the kernel (unix(7), SO_PEERCRED and SO_PEERGROUPS).
package struct Peer: Equatable, Sendable {
    package var uid: uid_t
    /// The effective group.
    package var gid: gid_t
    /// The supplementary groups, which SO_PEERCRED does not contain.
    package var groups: [gid_t]

    package init(uid: uid_t, gid: gid_t, groups: [gid_t]) { (self.uid, self.gid, self.groups) = (uid, gid, groups) }

    /// Reads the credentials of the peer of a connected Unix stream socket.
    ///
    /// - Returns: nil if the kernel has no credentials, which does not happen for a connected Unix socket.
    package init?(socket: CInt) {
        var credentials = Credentials()
        var length = socklen_t(MemoryLayout<Credentials>.size)
        guard getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &length) == 0 else { return nil }
        self.init(uid: credentials.uid, gid: credentials.gid, groups: Peer.groups(of: socket))
    }

    /// `struct ucred` of unix(7), which the C library declares for GNU sources only.
    private struct Credentials {
        var pid: pid_t = 0
        var uid: uid_t = 0
        var gid: gid_t = 0
    }

    private static func groups(of socket: CInt) -> [gid_t] {
        // With an empty buffer, the kernel returns the required length.
        var length: socklen_t = 0
        getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, nil, &length)
        var groups = [gid_t](repeating: 0, count: Int(length) / MemoryLayout<gid_t>.stride)
        guard getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, &groups, &length) == 0 else { return [] }
        return groups
    }
}
