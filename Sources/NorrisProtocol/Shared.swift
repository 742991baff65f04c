import Glibc

/// The version of norrisd and norrisctl, which are released together.
package enum NorrisVersion {
    /// A version of Semantic Versioning 2.0.0, independent of ``ServerInfo/protocolVersion``.
    package static let current = "0.1.0"

    /// The beginning of the year of this release. A clock with an earlier time is wrong.
    // Not nil: the text is a valid RFC 3339 time.
    package static let beginningOfYear = Timestamp("2026-01-01T00:00:00Z")!
}

/// The environment variables of a process, each looked up on demand.
///
/// Reading all variables into a dictionary would take a tenth of the run time of a call from a shell prompt.
package struct Environment: Sendable {
    private let lookUp: @Sendable (String) -> String?

    /// - Parameter lookUp: returns the value of a variable; nil if it is not set.
    package init(_ lookUp: @escaping @Sendable (String) -> String?) { self.lookUp = lookUp }

    package init(_ variables: [String: String]) { self.init { variables[$0] } }

    package subscript(_ name: String) -> String? { lookUp(name) }

    /// The value of a variable; nil if the variable is unset or empty.
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

/// The path of the socket: the same rule for the daemon and its clients. An empty variable counts as unset.
package enum SocketPath {
    /// The socket of the system's daemon.
    package static let system = "/run/norrisd.sock"

    /// The longest path, in bytes: `sun_path` has room for 108 bytes, including the final NUL (unix(7)).
    package static let maximumBytes = 107

    /// The path on which the daemon listens if it inherits no socket: the first of the flag, `$NORRISD_SOCKET`,
    /// `$XDG_RUNTIME_DIR/norrisd.sock` and `/run/norrisd.sock`.
    package static func listenPath(flag: String?, environment: Environment) -> String {
        named(flag: flag, environment) ?? user(environment) ?? system
    }

    /// The paths that a client tries in order: only the flag or `$NORRISD_SOCKET` if given, else the user's, then the
    /// system's.
    package static func connectCandidates(flag: String?, environment: Environment) -> [String] {
        if let path = named(flag: flag, environment) { return [path] }
        guard let user = user(environment), user != system else { return [system] }
        return [user, system]
    }

    /// Throws an error if the path cannot be the address of a socket.
    package static func validate(_ path: String) throws(SocketPathError) {
        // On Linux, an empty name or a leading NUL means the abstract namespace; any other NUL ends the path early.
        guard !path.isEmpty, !path.utf8.contains(0) else { throw .notAPath }
        guard path.utf8.count <= maximumBytes else { throw .tooLong(path: path) }
    }

    private static func named(flag: String?, _ environment: Environment) -> String? {
        flag ?? environment.value(of: "NORRISD_SOCKET")
    }

    /// Ignores a relative `XDG_RUNTIME_DIR`, as the XDG Base Directory Specification requires.
    private static func user(_ environment: Environment) -> String? {
        guard var directory = environment.value(of: "XDG_RUNTIME_DIR"), directory.utf8.first == UInt8(ascii: "/") else {
            return nil
        }
        return directory + "/norrisd.sock"
    }
}

/// The reason why a path cannot be the address of a socket.
package enum SocketPathError: Error, Equatable, CustomStringConvertible {
    case notAPath
    case tooLong(path: String)

    package var description: String {
        switch self {
        case .notAPath: "The path of the socket is empty or holds a NUL byte; name a file."
        case .tooLong(let path):
            "The socket path \(path) has \(path.utf8.count) bytes; the system takes at most \(SocketPath.maximumBytes)."
        }
    }
}

/// A hash that is the same in every process: 64-bit FNV-1a (<http://www.isthe.com/chongo/tech/comp/fnv/>), with a final
/// mixing step because the last bytes hardly change the high bits of FNV.
package func stableHash(_ text: String) -> UInt64 {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
    hash = (hash ^ (hash >> 33)) &* 0xFF51_AFD7_ED55_8CCD
    return hash ^ (hash >> 33)
}
