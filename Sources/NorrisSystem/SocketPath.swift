package import Glibc

/// The variables of a process, each looked up when its value is needed.
///
/// A dictionary of all variables would take a tenth of the time of a call from a shell's prompt.
package struct Environment: Sendable {
    private let lookUp: @Sendable (String) -> String?

    /// - Parameter lookUp: the value of a variable; nil if it is not set.
    package init(_ lookUp: @escaping @Sendable (String) -> String?) { self.lookUp = lookUp }

    package init(_ variables: [String: String]) { self.init { variables[$0] } }

    package subscript(_ name: String) -> String? { lookUp(name) }

    /// The value of a variable that is set and not empty.
    package func value(of name: String) -> String? {
        guard let value = self[name], !value.isEmpty else { return nil }
        return value
    }
}

extension Environment: ExpressibleByDictionaryLiteral {
    package init(dictionaryLiteral elements: (String, String)...) {
        self.init(Dictionary(uniqueKeysWithValues: elements))
    }
}

/// The path of the socket: one rule for the daemon and for its clients.
///
/// Variables that are set but empty count as unset.
package enum SocketPath {
    /// The socket of the system's daemon.
    package static let system = "/run/norrisd.sock"

    /// The longest path in bytes: `sun_path` contains 108 bytes with the final NUL (unix(7)).
    package static let maximumBytes = 107

    /// The path the daemon listens on unless it has inherited a socket: the flag, `$NORRISD_SOCKET`,
    /// `$XDG_RUNTIME_DIR/norrisd.sock`, `/run/norrisd.sock`; the first that is set.
    package static func listenPath(flag: String?, environment: Environment) -> String {
        named(flag: flag, environment) ?? user(environment.value(of: "XDG_RUNTIME_DIR")) ?? system
    }

    /// The paths that a client tries, in order: the flag or `$NORRISD_SOCKET` if set, else the paths of the user's and
    /// the system's daemon. Without `XDG_RUNTIME_DIR`, as in cron(8), the user's folder in `userFolders` replaces it if
    /// the folder exists.
    package static func connectCandidates(
        flag: String?, environment: Environment, userFolders: String = "/run/user"
    ) -> [String] {
        if let path = named(flag: flag, environment) {
            return [path]
        }
        let folder = environment.value(of: "XDG_RUNTIME_DIR")
        guard let user = user(folder ?? "\(userFolders)/\(geteuid())", mustExist: folder == nil), user != system
        else { return [system] }
        return [user, system]
    }

    private static func named(flag: String?, _ environment: Environment) -> String? {
        flag ?? environment.value(of: "NORRISD_SOCKET")
    }

    /// A relative folder is ignored, and so is one of another user, which root may inherit: the XDG base directory
    /// specification asks for both.
    private static func user(_ folder: String?, mustExist: Bool = false) -> String? {
        guard var directory = folder, directory.utf8.first == UInt8(ascii: "/") else { return nil }
        while directory.utf8.last == UInt8(ascii: "/") {
            directory.unicodeScalars.removeLast()
        }
        var status = stat()
        guard stat(directory, &status) == 0 ? status.st_uid == geteuid() : !mustExist else { return nil }
        return directory + "/norrisd.sock"
    }
}

/// The address of a Unix socket in the form of the socket calls (unix(7)).
package struct SocketAddress {
    private var address = sockaddr_un()

    /// - Returns: nil for a path that is empty, contains a NUL or is longer than ``SocketPath/maximumBytes``.
    package init?(path: String) {
        // An empty name or a leading NUL would mean Linux's abstract namespace; another NUL would shorten the path.
        guard (1...SocketPath.maximumBytes).contains(path.utf8.count), !path.utf8.contains(0) else { return nil }
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    }

    /// Calls `body` with the arguments of bind(2) and connect(2), and returns its result.
    package func withPointer(_ body: (UnsafePointer<sockaddr>, socklen_t) -> CInt) -> CInt {
        withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}
