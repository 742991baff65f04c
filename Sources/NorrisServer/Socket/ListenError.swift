import Glibc
import NorrisProtocol

/// Why a socket cannot be listened on, with what to do about it.
package struct ListenError: Error, Equatable, CustomStringConvertible {
    package enum Reason: Equatable, Sendable {
        /// Somebody answers there.
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

    package init(path: String, _ reason: Reason) {
        self.path = path
        self.reason = reason
    }

    package var description: String {
        switch reason {
        case .inUse:
            "\(path): another daemon answers on this socket; stop it, or choose another path with --socket"
        case .notASocket:
            "\(path): there is a file that is no socket; remove it, or choose another path with --socket"
        case .notPermitted:
            "\(path): this user may not make a socket there; let systemd make it (norrisd.socket), "
                + "or choose another path with --socket"
        case .noFolder(let folder):
            "\(path): there is no folder \(folder); make it, or choose another path with --socket"
        case .unusablePath:
            "\(path): a socket's path has 1 to \(SocketPath.maximumBytes) bytes; choose a shorter one with --socket"
        case .system(let call, let code):
            "\(path): \(call) failed: \(String(cString: strerror(code)))"
        }
    }
}
