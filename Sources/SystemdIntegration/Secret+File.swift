import Glibc

extension Secret {
    /// The largest file that is read as a secret, in bytes.
    package static let maximumFileSize = 64 * 1024

    /// Reads a secret from a file, without the line end that editors leave behind it.
    ///
    /// - Returns: nil when there is no such file.
    package static func read(path: String) throws(CredentialError) -> Secret? {
        // Without O_NONBLOCK, opening a pipe by mistake would wait for its writer for ever.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            let code = errno
            guard code == ENOENT || code == ENOTDIR else { throw .unreadable(path: path, errno: code) }
            return nil
        }
        defer { close(descriptor) }
        var bytes = try contents(of: descriptor, path: path)[...]
        while bytes.last == UInt8(ascii: "\n") || bytes.last == UInt8(ascii: "\r") {
            bytes.removeLast()
        }
        guard !bytes.isEmpty else { throw .empty(path: path) }
        guard let text = String(validating: bytes, as: UTF8.self) else { throw .notText(path: path) }
        return Secret(text)
    }

    private static func contents(of descriptor: CInt, path: String) throws(CredentialError) -> [UInt8] {
        // One byte of room more than allowed shows a file that is too large, whatever its size is said to be.
        var buffer = [UInt8](repeating: 0, count: maximumFileSize + 1)
        var filled = 0
        while filled < buffer.count {
            let count = buffer.withUnsafeMutableBytes { whole in
                let room = UnsafeMutableRawBufferPointer(rebasing: whole[filled...])
                return Glibc.read(descriptor, room.baseAddress, room.count)
            }
            if count == 0 { break }
            if count < 0 {
                let code = errno
                if code == EINTR { continue }
                throw .unreadable(path: path, errno: code)
            }
            filled += count
        }
        guard filled <= maximumFileSize else { throw .tooLarge(path: path) }
        buffer.removeSubrange(filled...)
        return buffer
    }
}
