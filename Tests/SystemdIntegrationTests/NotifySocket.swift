import Foundation
import Glibc

/// Stands where the service manager would: a bound datagram socket that `NOTIFY_SOCKET` names.
///
/// Changes the environment of the whole process, so it is used in exit tests only, which run in a process of their own.
struct NotifySocket {
    private let descriptor: CInt
    private let folder: URL

    /// Binds a socket in a temporary folder, or in the abstract namespace, and points `NOTIFY_SOCKET` at it.
    init(abstract: Bool = false) throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "notify-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let path = folder.appending(path: "notify.sock").path
        // An abstract name begins with a null byte on the wire and with "@" in the environment.
        let name = abstract ? "\0" + path : path

        descriptor = socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name.utf8) }
        let length = MemoryLayout<sa_family_t>.size + name.utf8.count
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, socklen_t(length)) }
        }
        guard descriptor >= 0, result == 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
        setenv("NOTIFY_SOCKET", abstract ? "@" + path : path, 1)
    }

    /// The next message that has arrived; nil when there is none. A sent datagram is there at once.
    func receive() -> String? {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &buffer, buffer.count, CInt(MSG_DONTWAIT))
        return count < 0 ? nil : String(decoding: buffer[..<count], as: UTF8.self)
    }

    /// Removes what the socket left in the file system.
    func remove() {
        close(descriptor)
        try? FileManager.default.removeItem(at: folder)
    }
}
