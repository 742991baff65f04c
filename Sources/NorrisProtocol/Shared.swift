import Glibc

/// The version of norrisd and norrisctl, which are released together.
package enum NorrisVersion {
    /// Semantic Versioning 2.0.0; the protocol's own version is ``ServerInfo/protocolVersion``.
    package static let current = "0.1.0"

    /// When the year of this release began; a clock that says less is wrong.
    // The text is a time of RFC 3339.
    package static let beginningOfYear = Timestamp("2026-01-01T00:00:00Z")!
}

/// The variables of a process, each looked up when somebody asks for it.
///
/// Reading all of them into a dictionary first takes a tenth of the time of a call from a shell's prompt.
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

/// A hash that is the same in every process: FNV-1a of 64 bits with a last round of mixing, for FNV's high bits hardly
/// move with the last bytes (<http://www.isthe.com/chongo/tech/comp/fnv/>).
package func stableHash(_ text: String) -> UInt64 {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in text.utf8 {
        hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3
    }
    hash = (hash ^ (hash >> 33)) &* 0xFF51_AFD7_ED55_8CCD
    return hash ^ (hash >> 33)
}
