/// Where the socket is: one rule for the daemon that listens and for the clients that connect.
///
/// Variables that are set but empty count as unset.
package enum SocketPath {
    /// The socket of the system's daemon.
    package static let system = "/run/norrisd.sock"

    /// The longest path in bytes: `sun_path` holds 108 with the NUL at its end (unix(7)).
    package static let maximumBytes = 107

    /// The path the daemon listens on unless it has inherited a socket: the flag, `$NORRISD_SOCKET`,
    /// `$XDG_RUNTIME_DIR/norrisd.sock`, `/run/norrisd.sock`; the first there is.
    package static func listenPath(flag: String?, environment: Environment) -> String {
        named(flag: flag, environment) ?? user(environment) ?? system
    }

    /// The paths a client tries, in order: the flag or `$NORRISD_SOCKET` alone if given, else the user's and the
    /// system's.
    package static func connectCandidates(flag: String?, environment: Environment) -> [String] {
        if let path = named(flag: flag, environment) {
            return [path]
        }
        guard let user = user(environment), user != system else { return [system] }
        return [user, system]
    }

    /// Refuses what cannot be the address of a socket.
    package static func validate(_ path: String) throws(SocketPathError) {
        // An empty name or a leading NUL would mean Linux's abstract namespace, a NUL inside another path.
        guard !path.isEmpty, !path.utf8.contains(0) else { throw .notAPath }
        guard path.utf8.count <= maximumBytes else { throw .tooLong(path: path) }
    }

    private static func named(flag: String?, _ environment: Environment) -> String? {
        flag ?? environment.value(of: "NORRISD_SOCKET")
    }

    /// A relative `XDG_RUNTIME_DIR` is ignored, as the XDG base directory specification asks.
    private static func user(_ environment: Environment) -> String? {
        guard var directory = environment.value(of: "XDG_RUNTIME_DIR"), directory.utf8.first == UInt8(ascii: "/")
        else { return nil }
        while directory.utf8.last == UInt8(ascii: "/") {
            directory.unicodeScalars.removeLast()
        }
        return directory + "/norrisd.sock"
    }
}

/// Why a path cannot be that of a socket.
package enum SocketPathError: Error, Equatable, CustomStringConvertible {
    case notAPath
    case tooLong(path: String)

    package var description: String {
        switch self {
        case .notAPath:
            "The path of the socket is empty or holds a NUL byte; name a file."
        case .tooLong(let path):
            "The socket path \(path) has \(path.utf8.count) bytes; the system takes at most \(SocketPath.maximumBytes)."
        }
    }
}
