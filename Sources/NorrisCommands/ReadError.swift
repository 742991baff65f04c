import Glibc

/// Why a file cannot be read.
package struct ReadError: Error, Equatable {
    package let errno: Int32

    package init(errno: Int32) {
        self.errno = errno
    }

    /// In the words of the system, such as `Is a directory`.
    package var reason: String { String(cString: strerror(errno)) }
}

/// A file up to its end, or some bytes past the limit.
package func readFile(_ path: String, limit: Int) throws(ReadError) -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw ReadError(errno: errno) }
    defer { close(descriptor) }
    return try readAll(descriptor, limit: limit)
}

/// What a descriptor gives up to its end, or some bytes past the limit.
func readAll(_ descriptor: Int32, limit: Int) throws(ReadError) -> [UInt8] {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 16_384)
    while bytes.count <= limit {
        let count = read(descriptor, &buffer, buffer.count)
        if count == 0 {
            break
        } else if count > 0 {
            bytes += buffer[..<count]
        } else if errno != EINTR {
            throw ReadError(errno: errno)
        }
    }
    return bytes
}
