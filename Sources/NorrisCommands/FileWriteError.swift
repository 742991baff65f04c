import Glibc

/// Why a file cannot be written.
package enum FileWriteError: Error, Equatable {
    case system(errno: Int32)
    /// The file could be written, but no other can be put in its place.
    case notReplaced(errno: Int32)
    /// It is a terminal, which would take the bytes for what they are not.
    case terminal

    /// In the words of the system, such as `Permission denied`.
    package var reason: String {
        switch self {
        case .system(let errno), .notReplaced(let errno): String(cString: strerror(errno))
        case .terminal: "It is a terminal"
        }
    }
}
